//! Changes to the state in a checkpoint, behind a checksum that fits, and any bytes as a checkpoint:
//! `cargo +nightly fuzz run checkpoint`. What can be read must go on, end or be refused.
#![no_main]

use bilevo::{Checkpoint, Event, Observer, Run, Solver, source};
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;
use std::sync::LazyLock;

/// Ends a run after so many batches.
struct StopAfter(u32);

impl Observer for StopAfter {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::BatchDone { .. } = event {
            self.0 = self.0.saturating_sub(1);
        }
        if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Checkpoints of runs by three kinds of methods, early and late.
static SAVED: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let smd2 = source::open("smd2", None).expect("it is built in");
    let mut saved = Vec::new();
    for method in ["portfolio", "cr-tlea-cma-es", "tlea-de"] {
        for batches in [3, 40] {
            let mut ready = Solver::new(&*smd2).method(method).seed(12).ready().expect("it is sound");
            ready.go(&mut [&mut StopAfter(batches)]).expect("it runs");
            saved.push(ready.run.checkpoint().to_bytes().expect("there is memory"));
        }
    }
    saved
});

fuzz_target!(|input: &[u8]| {
    let _ = Checkpoint::from_bytes(input);
    let Some((number, patches)) = input.split_first() else { return };
    let mut bytes = SAVED[usize::from(*number) % SAVED.len()].clone();
    let header = u32::from_le_bytes([bytes[22], bytes[23], bytes[24], bytes[25]]) as usize;
    let (start, end) = (26 + header + 8, bytes.len() - 4);
    for patch in patches.chunks_exact(3).take(8) {
        let at = usize::from(u16::from_le_bytes([patch[0], patch[1]]));
        bytes[start + at % (end - start)] = patch[2];
    }
    let checksum = crc32fast::hash(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&checksum);
    if let Ok(checkpoint) = Checkpoint::from_bytes(&bytes) {
        let smd2 = source::open("smd2", None).expect("it is built in");
        let resumed: Result<Run, _> = Solver::new(&*smd2).resume(checkpoint).ready().map(|mut ready| {
            let _ = ready.go(&mut [&mut StopAfter(20)]);
            ready.run
        });
        drop(resumed);
    }
});
