//! The problems of a grid: built-in ones in every requested size, files as they are.

use super::{Grid, GridError, Part, Place};
use bilevo::{Source, problems, source};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Grid {
    /// Every problem in every size.
    pub(super) fn sources(&self, place: &Place<'_>) -> Result<Vec<Arc<dyn Source>>, GridError> {
        let mut sources = Vec::new();
        for (index, problem) in self.problems.iter().enumerate() {
            sources.extend(self.sizes_of(problem, index, place)?);
        }
        let mut hashes = BTreeMap::new();
        for source in &sources {
            let hash = hashes.entry(source.id()).or_insert_with(|| source.hash());
            if *hash != source.hash() {
                return Err(GridError::SameName { name: source.id().into() });
            }
        }
        Ok(sources)
    }

    /// Whether a problem comes in several sizes: only then do the requested sizes apply.
    fn scales(&self) -> bool {
        self.problems.iter().any(|name| problems::info(name).is_ok_and(|info| info.scalable))
    }

    /// A problem in the requested sizes, or in its only one.
    fn sizes_of(&self, name: &str, index: usize, place: &Place<'_>) -> Result<Vec<Arc<dyn Source>>, GridError> {
        let path = self.path_of(name);
        let own = source::open(&path, None).map_err(|e| GridError::entry(place(Part::Problem, index), e))?;
        let scalable = problems::info(name).is_ok_and(|info| info.scalable);
        if self.dims.is_empty() || (self.scales() && !scalable) {
            return Ok(vec![Arc::from(own)]);
        }
        let sized = self.dims.iter().enumerate().map(|(d, &dims)| {
            let opened = check_dims(dims).and_then(|()| source::open(&path, Some(dims)).map_err(|e| e.to_string()));
            opened.map(Arc::from).map_err(|reason| GridError::entry(place(Part::Size, d), reason))
        });
        sized.collect()
    }

    /// The name that [`source::open`] takes for a problem of the grid: files are relative to the grid's folder.
    fn path_of(&self, name: &str) -> String {
        let file = self.folder.join(name);
        let is_file = problems::info(name).is_err() && (name.ends_with(".toml") || file.is_file());
        if is_file { file.to_string_lossy().into_owned() } else { name.into() }
    }
}

/// The upper strategy keeps square matrices over all variables; with more of them, the memory would not suffice.
const MAX_DIM: usize = 1000;

fn check_dims((upper, lower): (usize, usize)) -> Result<(), String> {
    let allowed = 1..=MAX_DIM;
    if allowed.contains(&upper) && allowed.contains(&lower) {
        return Ok(());
    }
    Err(format!("the size {upper}+{lower} is out of range\nhint: each level has between 1 and {MAX_DIM} variables"))
}
