//! Checkpoint files that are cut, changed, foreign or from elsewhere give one clear error each.

use crate::common::{StopAfter, run_of, smd, timeless};
use bilevo::{
    Checkpoint, CheckpointError, Event, FileError, Observer, Run, RunError, RunOptions, RunResult, Saved, Saving,
    Serial, Status, checkpoint,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

/// The bytes of a real checkpoint, in the middle of a run.
static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    half_run().save(&path).unwrap();
    std::fs::read(&path).unwrap()
});

fn half_run() -> Run {
    let problem = smd(2);
    let mut run = run_of(&problem, "cr-tlea-cma-es", 12);
    run.go(&mut Serial::new(&*problem), &RunOptions::default(), &mut [&mut StopAfter(40)]).unwrap();
    run
}

/// Loads bytes as a file, which must not change, and as they are, which must come to the same.
fn load(bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    std::fs::write(&path, bytes).unwrap();
    let loaded = checkpoint::load(&path);
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "loading must not change the file");
    let direct = Checkpoint::from_bytes(bytes);
    assert_eq!(loaded.is_ok(), direct.is_ok());
    if let (Ok(loaded), Ok(direct)) = (&loaded, &direct) {
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
        assert_eq!(direct.to_bytes().unwrap(), bytes);
    }
    loaded
}

/// The checksum made to fit again, so that what lies behind it is reached.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 4;
    let checksum = crc32fast::hash(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&checksum);
    bytes
}

/// Where a text stands in the checkpoint.
fn position(text: &[u8]) -> usize {
    BYTES.windows(text.len()).position(|window| window == text).unwrap()
}

#[test]
fn the_file_says_what_it_holds() {
    let saved = load(&BYTES).unwrap();
    assert_eq!((saved.header.id.problem.as_str(), saved.header.id.method.as_str()), ("smd2", "cr-tlea-cma-es"));
    assert_eq!((saved.header.id.upper_dim, saved.header.id.lower_dim, saved.header.id.seed), (2, 3, 12));
    assert!(!saved.header.finished && saved.times.seconds > 0.0);
    assert!(BYTES.starts_with(b"bilevo checkpoint\n"));
}

#[test]
fn foreign_files_are_named_as_such() {
    for foreign in [&b"#!/bin/sh\n"[..], b"bilevo checkpoinT\n and more", b"\x00", b"SQLite format 3\x00"] {
        let error = load(foreign).unwrap_err();
        assert!(matches!(error, CheckpointError::File(FileError::Foreign { .. })), "{error}");
        assert!(error.to_string().contains("is not a bilevo checkpoint"));
    }
    let error = checkpoint::load(Path::new("/")).unwrap_err();
    assert!(error.to_string().contains("checkpoint"), "{error}");
    let missing = checkpoint::load(Path::new("no/such/file"));
    assert!(matches!(missing, Err(CheckpointError::File(FileError::Io { .. }))));
}

#[test]
fn a_later_format_is_named_as_such() {
    let mut bytes = BYTES.clone();
    bytes[18] = 200;
    let message = load(&sealed(bytes)).unwrap_err().to_string();
    assert!(message.contains("checkpoint format 200") && message.contains("hint"), "{message}");
}

#[test]
fn another_version_of_bilevo_is_named_as_such() {
    let mut bytes = BYTES.clone();
    let end = position(b"\"version\":\"") + 11;
    bytes[end] = b'9';
    let message = load(&sealed(bytes)).unwrap_err().to_string();
    assert!(message.contains("written by bilevo 9"), "{message}");
}

#[test]
fn a_header_that_tells_another_story_is_refused() {
    let mut bytes = BYTES.clone();
    let end = position(b"\"seed\":12") + 7;
    bytes[end] = b'9';
    let error = load(&sealed(bytes)).unwrap_err();
    assert!(error.to_string().contains("its header does not match its state"), "{error}");
}

#[test]
fn bytes_after_the_end_are_noticed() {
    let mut bytes = BYTES.clone();
    bytes.push(0);
    assert!(matches!(load(&bytes), Err(CheckpointError::Damaged { .. })));
}

#[test]
fn lengths_that_lie_do_not_make_it_allocate() {
    for at in [18 + 4, 18 + 5, 18 + 6, 18 + 7] {
        let mut bytes = BYTES.clone();
        bytes[at] = 0xff;
        assert!(load(&bytes).is_err());
    }
    let header = u32::from_le_bytes(BYTES[22..26].try_into().unwrap()) as usize;
    let mut bytes = BYTES.clone();
    bytes[26 + header..26 + header + 8].fill(0xff);
    assert!(matches!(load(&sealed(bytes)), Err(CheckpointError::Truncated { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(150) })]

    #[test]
    fn a_cut_file_is_truncated(share in 0.0..1.0_f64) {
        let length = (share * BYTES.len() as f64) as usize;
        let error = load(&BYTES[..length]).unwrap_err();
        prop_assert!(matches!(error, CheckpointError::Truncated { .. }), "{} at {}", error, length);
    }

    #[test]
    fn a_flipped_bit_is_noticed(at in 0..BYTES.len(), bit in 0..8_u32) {
        let mut bytes = BYTES.clone();
        bytes[at] ^= 1_u8 << bit;
        prop_assert!(load(&bytes).is_err());
    }

    #[test]
    fn a_changed_state_behind_a_fitting_checksum_does_not_panic(share in 0.0..1.0_f64, bit in 0..8_u32) {
        let header = u32::from_le_bytes(BYTES[22..26].try_into().unwrap()) as usize;
        let start = 26 + header + 8;
        let mut bytes = BYTES.clone();
        bytes[start + (share * (BYTES.len() - 4 - start) as f64) as usize] ^= 1_u8 << bit;
        if let Ok(saved) = load(&sealed(bytes)) {
            let problem = smd(2);
            let _ = Run::resume(saved).go(&mut Serial::new(&*problem), &RunOptions::default(), &mut [&mut StopAfter(30)]);
        }
    }
}

#[test]
fn nothing_but_a_checkpoint_is_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("thesis.tex");
    std::fs::write(&path, "years of work").unwrap();
    let error = half_run().save(&path).unwrap_err();
    assert!(matches!(error, CheckpointError::File(FileError::Foreign { .. })));
    // A run that was told to save there does not even start.
    let problem = smd(1);
    let options = RunOptions { saving: Some(Saving::to(&path)), ..RunOptions::default() };
    let mut run = run_of(&problem, "bl-cma-es", 1);
    assert!(run.go(&mut Serial::new(&*problem), &options, &mut []).is_err());
    assert_eq!(run.engine().summary().evaluations.total(), 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "years of work");
    // An empty file is not a checkpoint either.
    std::fs::write(&path, "").unwrap();
    assert!(matches!(half_run().save(&path), Err(CheckpointError::File(FileError::Foreign { .. }))));
    std::fs::remove_file(&path).unwrap();
    half_run().save(&path).unwrap();
    half_run().save(&path).unwrap();
    assert!(checkpoint::load(&path).is_ok());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file is left");
}

/// Takes the directory of the checkpoint away in the middle of a run.
struct Remover(std::path::PathBuf);

impl Observer for Remover {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::GenerationDone { record, .. } = event
            && record.generation == 2
        {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_save_that_fails_is_told_and_the_run_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("inner");
    let problem = smd(1);
    let saving = Saving { every_batches: Some(50), ..Saving::to(inner.join("run")) };
    let options = RunOptions { saving: Some(saving), ..RunOptions::default() };
    let start = || run_of(&problem, "bl-cma-es", 1);
    // Nowhere to save from the start on: the run does not begin.
    let error = start().go(&mut Serial::new(&*problem), &options, &mut []).unwrap_err();
    assert!(error.to_string().contains("cannot write the checkpoint"), "{error}");
    // Later on it goes on without.
    std::fs::create_dir(&inner).unwrap();
    let mut remover = Remover(inner);
    let result = start().go(&mut Serial::new(&*problem), &options, &mut [&mut remover]).unwrap();
    assert!(matches!(result.stop, Status::Finished(_)) && result.generations > 2);
    assert!(result.save_error.unwrap().contains("cannot write the checkpoint"));
}

fn saving(path: &Path) -> RunOptions {
    RunOptions { saving: Some(Saving { every_batches: Some(20), ..Saving::to(path) }), ..RunOptions::default() }
}

/// A run of SMD1 with this seed that saves every twentieth batch.
fn go(seed: u64, path: &Path, observer: &mut dyn Observer) -> Result<RunResult, RunError> {
    let problem = smd(1);
    run_of(&problem, "bl-cma-es", seed).go(&mut Serial::new(&*problem), &saving(path), &mut [observer])
}

fn error_of<T>(result: Result<T, RunError>) -> CheckpointError {
    let Some(RunError::Checkpoint(error)) = result.err() else { unreachable!("no error about a checkpoint") };
    error
}

/// Does something once, in the middle of a run.
struct Meanwhile<F: FnMut()>(F);

impl<F: FnMut()> Observer for Meanwhile<F> {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::GenerationDone { record, .. } = event
            && record.generation == 2
        {
            (self.0)();
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_run_in_progress_has_its_file_to_itself() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let mut meanwhile = Meanwhile(|| {
        for seed in [1, 2] {
            let error = error_of(go(seed, &path, &mut StopAfter(1)));
            assert!(matches!(error, CheckpointError::InUse { .. }), "{error}");
        }
        // Reading is free for all.
        checkpoint::load(&path).unwrap();
    });
    let result = go(1, &path, &mut meanwhile).unwrap();
    assert_eq!(result.save_error, None);
    let last = checkpoint::load(&path).unwrap();
    assert!(last.header.finished && last.header.id.seed == 1);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn of_two_runs_that_start_together_one_is_refused() {
    for _ in 0..8 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run");
        let barrier = std::sync::Barrier::new(2);
        let start = |seed| {
            barrier.wait();
            // Nobody ends before the other has started.
            let mut wait = Meanwhile(|| {
                barrier.wait();
            });
            let ended = go(seed, &path, &mut wait);
            if ended.is_err() {
                barrier.wait();
            }
            ended
        };
        let ended = std::thread::scope(|scope| {
            let threads = [1, 2].map(|seed| scope.spawn(move || start(seed)));
            threads.map(|thread| thread.join().unwrap())
        });
        let winner = ended.iter().position(Result::is_ok).unwrap();
        assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1);
        assert_eq!(checkpoint::load(&path).unwrap().header.id.seed, winner as u64 + 1);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_file_deleted_under_a_run_and_taken_by_another_is_not_fought_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let mut taken = Meanwhile(|| {
        std::fs::remove_file(&path).unwrap();
        go(2, &path, &mut StopAfter(10)).unwrap();
    });
    let result = go(1, &path, &mut taken).unwrap();
    let message = result.save_error.unwrap();
    assert!(message.contains("holds another, unfinished run: smd1 2+3 with bl-cma-es, seed 2"), "{message}");
    assert_eq!(checkpoint::load(&path).unwrap().header.id.seed, 2);
    // Deleted only, it is written anew.
    let path = directory.path().join("other");
    let mut gone = Meanwhile(|| std::fs::remove_file(&path).unwrap());
    assert_eq!(go(1, &path, &mut gone).unwrap().save_error, None);
    assert!(checkpoint::load(&path).unwrap().header.finished);
}

#[test]
fn a_save_never_replaces_what_is_ahead_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    go(1, &path, &mut StopAfter(40)).unwrap();
    let before = std::fs::read(&path).unwrap();
    // A new start of the same run is asked to resume instead.
    let error = error_of(go(1, &path, &mut StopAfter(5)));
    assert!(matches!(error, CheckpointError::Ahead { .. }), "{error}");
    assert!(error.to_string().contains("resume"), "{error}");
    // An earlier state that is to be saved all the same leaves the later one.
    let problem = smd(1);
    let mut early = run_of(&problem, "bl-cma-es", 1);
    early.go(&mut Serial::new(&*problem), &RunOptions::default(), &mut [&mut StopAfter(5)]).unwrap();
    let ahead = checkpoint::header(&path).unwrap().evaluations;
    assert_eq!(early.save(&path).unwrap(), Saved::Kept(ahead));
    // Another run does not even start.
    let error = error_of(go(2, &path, &mut StopAfter(5)));
    assert!(matches!(error, CheckpointError::OtherRun { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // Going on from it, it is replaced.
    let mut run = Run::resume(checkpoint::load(&path).unwrap());
    run.go(&mut Serial::new(&*problem), &saving(&path), &mut []).unwrap();
    assert!(checkpoint::header(&path).unwrap().finished);
}

#[cfg(unix)]
#[test]
fn a_finished_run_is_read_where_nothing_can_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    go(1, &path, &mut StopAfter(usize::MAX)).unwrap();
    let before = (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap());
    let mode = |at: &Path, mode| std::fs::set_permissions(at, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(&path, 0o444);
    mode(directory.path(), 0o555);
    let problem = smd(1);
    let mut run = Run::resume(checkpoint::load(&path).unwrap());
    let result = run.go(&mut Serial::new(&*problem), &saving(&path), &mut []).unwrap();
    mode(directory.path(), 0o755);
    assert_eq!(result.save_error, None);
    let after = (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap());
    assert_eq!(before, after, "for root, too, who could write");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_checkpoint_is_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let pipe = |error: &dyn std::fmt::Display| assert!(error.to_string().contains("is a pipe or a device"), "{error}");
    pipe(&checkpoint::load(&path).unwrap_err());
    pipe(&checkpoint::header(&path).unwrap_err());
    pipe(&error_of(go(1, &path, &mut StopAfter(1))));
    pipe(&bilevo::TraceWriter::open(&path, 0).err().unwrap());
}

#[test]
fn a_saved_run_travels_as_bytes() {
    let problem = smd(2);
    let run = half_run();
    let bytes = run.checkpoint().to_bytes().unwrap();
    let mut copy = Run::resume(Checkpoint::from_bytes(&bytes).unwrap());
    let rest = |run: &mut Run| run.go(&mut Serial::new(&*problem), &RunOptions::default(), &mut []).unwrap();
    let mut original = run;
    assert_eq!(timeless(&rest(&mut copy)), timeless(&rest(&mut original)));
    assert!(matches!(Checkpoint::from_bytes(b"PK"), Err(CheckpointError::Foreign)));
}
