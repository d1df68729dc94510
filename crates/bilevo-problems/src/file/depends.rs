//! The files of a program: an edited program is another program.
//!
//! These are the words of its commands that are files next to the problem file (or below), also after a `=`, after
//! `{home}/` and inside a shell script, and the files in `depends`.

use super::diagnostic::{Diagnostic, FileError};
use super::meaning::Hash;
use crate::program::ProgramSpec;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Component, Path};

/// Adds the content of a program's files to a hash.
pub(super) fn add(hash: &mut Hash, spec: &ProgramSpec, problem_file: &Path) -> Result<(), FileError> {
    let own = problem_file.canonicalize().ok();
    let mut names: BTreeSet<String> = spec.depends.iter().cloned().collect();
    for word in spec.all_commands().into_iter().flat_map(|command| &command.command) {
        let beside = |name: &&str| {
            let path = Path::new(name);
            let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            inside && spec.folder.join(path).is_file() && spec.folder.join(path).canonicalize().ok() != own
        };
        names.extend(words(word).into_iter().filter(beside).map(String::from));
    }
    for name in &names {
        let path = spec.folder.join(name);
        // A pipe might never end.
        let plain = path.metadata().and_then(|found| {
            if found.is_file() { Ok(()) } else { Err(std::io::Error::other("it is not an ordinary file")) }
        });
        let added = plain.and_then(|()| File::open(&path)).and_then(|file| hash.file(name, file));
        added.map_err(|error| unreadable(problem_file, name, &error))?;
    }
    Ok(())
}

fn unreadable(problem_file: &Path, name: &str, error: &std::io::Error) -> FileError {
    let message = format!("`{name}`, which the problem depends on, cannot be read: {error}");
    let hint = "`depends` names files, relative to the folder of the problem file";
    FileError { diagnostics: vec![Diagnostic::unreadable(problem_file.display().to_string(), message, hint.into())] }
}

/// The possible file names in a word of a command: the word itself, and its parts if it is an assignment or a script.
/// Files to which a script writes (`> log.txt`) do not count.
fn words(word: &str) -> Vec<&str> {
    let ends = |c: char| c.is_whitespace() || "'\"();|&<=`".contains(c);
    let mut found = vec![word];
    let mut written = false;
    for part in word.split(ends).filter(|part| !part.is_empty()) {
        match part.rsplit_once('>') {
            Some((_, behind)) => written = behind.is_empty(),
            None if std::mem::take(&mut written) => {}
            None => found.push(part),
        }
    }
    found.iter_mut().for_each(|name| *name = name.strip_prefix("{home}/").unwrap_or(name));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_may_be_files() {
        assert_eq!(words("plant.py"), ["plant.py", "plant.py"]);
        assert_eq!(words("--model=a.dat")[1..], ["--model", "a.dat"]);
        let script = "cd '{home}/src' && ./run.sh <in.txt >out.txt 2> log.txt; cat {home}/b";
        assert_eq!(words(script)[1..], ["cd", "src", "./run.sh", "in.txt", "cat", "b"]);
    }
}
