//! The grid of an experiment: from a file or from the command line.

use crate::args::Dims;
use crate::output::coded;
use crate::settings;
use bilevo::problems::file::{MAX_FILE, text_of};
use bilevo_lab::grid::Grid;
use std::path::{Path, PathBuf};

/// A grid, from a file or from the command line.
#[derive(clap::Args, Debug)]
pub(super) struct GridArgs {
    /// A grid file: methods, problems and optionally dims, runs, first_seed, settings
    pub(super) grid: Option<PathBuf>,
    /// Methods, separated by commas
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',', conflicts_with = "grid")]
    methods: Vec<String>,
    /// Problems, separated by commas: built-in names or problem files
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',', conflicts_with = "grid")]
    problems: Vec<String>,
    /// Sizes, as in 2+3,5+5, for problems that come in several sizes
    #[arg(long, value_name = "M+N", value_delimiter = ',', conflicts_with = "grid")]
    dims: Vec<Dims>,
    /// Change one setting of every method, as in --set stop.target=off
    #[arg(long, value_name = "KEY=VALUE", value_parser = settings::parse_assignment, conflicts_with = "grid")]
    set: Vec<(String, String)>,
    /// Runs of every combination [default: as in the grid file, or 21]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    runs: Option<u64>,
    /// Seed of the first run [default: as in the grid file, or 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    first_seed: Option<u64>,
}

/// What may be wrong with a grid file that cannot be read.
const PATHS: &str = "\nhint: is the path right? Without a file, give --methods and --problems";

impl GridArgs {
    /// The requested grid; `None` if neither a file nor names are given.
    pub(super) fn grid(&self) -> anyhow::Result<Option<Grid>> {
        let mut grid = match &self.grid {
            Some(path) => {
                let text = text_of(path, MAX_FILE)
                    .map_err(|reason| coded("E401", format!("cannot read `{}`: {reason}{PATHS}", path.display())))?;
                let folder = path.parent().unwrap_or(Path::new(""));
                Grid::parse(&text, folder).map_err(|e| anyhow::anyhow!("in `{}`: {e}", path.display()))?
            }
            None if self.methods.is_empty() && self.problems.is_empty() => return Ok(None),
            None => {
                let mut grid = Grid::new(self.methods.clone(), self.problems.clone());
                grid.dims = self.dims.iter().map(|dims| (dims.upper, dims.lower)).collect();
                grid.settings = vec![self.set.clone()];
                grid
            }
        };
        grid.runs = self.runs.unwrap_or(grid.runs);
        grid.first_seed = self.first_seed.unwrap_or(grid.first_seed);
        Ok(Some(grid))
    }
}
