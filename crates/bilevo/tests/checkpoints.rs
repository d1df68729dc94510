//! Checkpoint files that are cut, changed, foreign or from elsewhere give one clear error each.
#![allow(clippy::unwrap_used)] // also in what tests share

mod common;

use bilevo::{CheckpointError, Event, Observer, Run, RunOptions, Saving, Serial, Status, checkpoint};
use common::{StopAfter, run_of, smd};
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

fn load(bytes: &[u8]) -> Result<bilevo::Checkpoint, CheckpointError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    std::fs::write(&path, bytes).unwrap();
    let loaded = checkpoint::load(&path);
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "loading must not change the file");
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
    assert!(!saved.header.finished && saved.seconds > 0.0);
    assert!(BYTES.starts_with(b"bilevo checkpoint\n"));
}

#[test]
fn foreign_files_are_named_as_such() {
    for foreign in [&b"#!/bin/sh\n"[..], b"bilevo checkpoinT\n and more", b"\x00", b"SQLite format 3\x00"] {
        let error = load(foreign).unwrap_err();
        assert!(matches!(error, CheckpointError::Foreign { .. }), "{error}");
        assert!(error.to_string().contains("is not a bilevo checkpoint"));
    }
    let error = checkpoint::load(Path::new("/")).unwrap_err();
    assert!(error.to_string().contains("checkpoint"), "{error}");
    assert!(matches!(checkpoint::load(Path::new("no/such/file")), Err(CheckpointError::Io { .. })));
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
    assert!(error.to_string().contains("its header does not fit its state"), "{error}");
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
    assert!(matches!(error, CheckpointError::Foreign { .. }));
    // A run that was told to save there does not even start.
    let problem = smd(1);
    let options = RunOptions { saving: Some(Saving::to(&path)), ..RunOptions::default() };
    let mut run = run_of(&problem, "bl-cma-es", 1);
    assert!(run.go(&mut Serial::new(&*problem), &options, &mut []).is_err());
    assert_eq!(run.engine().summary().evaluations.total(), 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "years of work");
    // An empty file is not a checkpoint either.
    std::fs::write(&path, "").unwrap();
    assert!(matches!(half_run().save(&path), Err(CheckpointError::Foreign { .. })));
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

#[test]
fn two_runs_that_share_a_file_leave_a_whole_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    half_run().save(&path).unwrap();
    std::thread::scope(|scope| {
        for seed in [1, 2] {
            let path = &path;
            scope.spawn(move || {
                let problem = smd(1);
                let saving = Saving { every_batches: Some(3), ..Saving::to(path) };
                let options = RunOptions { saving: Some(saving), ..RunOptions::default() };
                let mut run = run_of(&problem, "bl-cma-es", seed);
                let result = run.go(&mut Serial::new(&*problem), &options, &mut []).unwrap();
                assert_eq!(result.save_error, None);
            });
        }
        for _ in 0..100 {
            checkpoint::load(&path).unwrap();
        }
    });
    let last = checkpoint::load(&path).unwrap();
    assert!(last.header.finished && [1, 2].contains(&last.header.id.seed));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}
