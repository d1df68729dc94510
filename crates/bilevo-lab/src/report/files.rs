//! Writes everything that belongs to a study into a folder: tables in every format, figures as SVG
//! and PNG, and the report.

use super::{Input, ReportError, html};
use crate::figures::PngError;
use crate::study;
use crate::tables::{Format, groups};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// The page could not be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A figure could not be painted.
    #[error(transparent)]
    Png(#[from] PngError),
    /// The disk said no.
    #[error("cannot write `{}`: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Writes `report.html`, `tables/` and `figures/` into a folder, made if missing; returns the number
/// of files.
///
/// # Errors
/// No rows, or a folder that cannot be written.
pub fn write_files(input: &Input<'_>, folder: &Path) -> Result<usize, FilesError> {
    let groups = groups::group(input.rows);
    let mut count = 1;
    let (tables, figures) = (folder.join("tables"), folder.join("figures"));
    for made in [&tables, &figures] {
        fs::create_dir_all(made).map_err(|source| FilesError::Io { path: made.clone(), source })?;
    }
    write(&folder.join("report.html"), html(input)?.as_bytes())?;
    let mut named = vec![("summary".to_string(), study::summary(input.comparisons, &groups))];
    named.extend(input.comparisons.iter().flat_map(|c| c.tables(&groups)));
    for (name, table) in named {
        for format in Format::ALL {
            let file = format!("{name}.{}", format.extension());
            write(&tables.join(file), table.write(format).as_bytes())?;
            count += 1;
        }
    }
    for (name, scene) in input.comparisons.iter().flat_map(|c| c.figures(&groups)) {
        write(&figures.join(format!("{name}.svg")), scene.svg("figure").as_bytes())?;
        write(&figures.join(format!("{name}.png")), &scene.png()?)?;
        count += 2;
    }
    Ok(count)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), FilesError> {
    fs::write(path, bytes).map_err(|source| FilesError::Io { path: path.to_path_buf(), source })
}
