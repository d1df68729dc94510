//! Runs steps: stages one after another, the lanes of a stage in parallel, the steps of a lane in order. After a
//! failure, no further step begins.

use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The outcome of a step.
pub(crate) enum Done {
    /// It passed, with a few words about what it checked.
    Passed(String),
    /// An optional part is absent on this machine.
    NotRun(String),
}

/// The result of a step; an error ends everything.
pub(crate) type Outcome = Result<Done, String>;

/// One thing to do, with a line of its own in the output.
pub(crate) struct Step {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What it proves.
    pub(crate) about: &'static str,
    /// Does it.
    pub(crate) run: fn() -> Outcome,
}

/// Lanes that run side by side.
pub(crate) type Stage = &'static [&'static [Step]];

/// The steps of all stages, in the order of the list.
pub(crate) fn steps(stages: &'static [Stage]) -> impl Iterator<Item = &'static Step> {
    stages.iter().flat_map(|lanes| lanes.iter().flat_map(|lane| lane.iter()))
}

/// Runs the named steps, or all of them. False if one failed.
pub(crate) fn run(stages: &'static [Stage], names: &[&str]) -> bool {
    let tally = Mutex::new(Tally::default());
    for lanes in stages {
        std::thread::scope(|scope| {
            for lane in *lanes {
                let chosen = lane.iter().filter(|step| names.is_empty() || names.contains(&step.name));
                scope.spawn(|| chosen.for_each(|step| attempt(step, &tally)));
            }
        });
    }
    let tally = lock(&tally);
    let rest = if tally.not_run > 0 { format!(", {} not run", tally.not_run) } else { String::new() };
    println!("{} passed, {} failed{rest}", tally.passed, tally.failed);
    tally.failed == 0
}

fn attempt(step: &'static Step, tally: &Mutex<Tally>) {
    if !lock(tally).begin(step.name) {
        return;
    }
    let start = Instant::now();
    let result = (step.run)();
    lock(tally).end(step.name, start.elapsed().as_secs_f64(), result);
}

/// A lane that panicked left nothing half-done in the counts.
fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What has ended so far, and what is running.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    not_run: usize,
    running: Vec<&'static str>,
}

impl Tally {
    /// False if a failure has ended it all.
    fn begin(&mut self, name: &'static str) -> bool {
        if self.failed == 0 {
            self.running.push(name);
            self.show();
        }
        self.failed == 0
    }

    fn end(&mut self, name: &'static str, seconds: f64, result: Outcome) {
        self.running.retain(|other| *other != name);
        match result {
            Ok(Done::Passed(words)) => {
                self.passed += 1;
                println!("{name:<10} passed   {seconds:>6.1} s  {words}");
            }
            Ok(Done::NotRun(reason)) => {
                self.not_run += 1;
                println!("{name:<10} not run  {seconds:>6.1} s  {reason}");
            }
            Err(reason) => {
                self.failed += 1;
                println!("{name:<10} FAILED   {seconds:>6.1} s\n\n{reason}\n");
                println!("This step alone: cargo xtask test {name}");
            }
        }
        self.show();
    }

    /// What runs, on a line that the next one overwrites.
    fn show(&self) {
        if std::io::stdout().is_terminal() && !self.running.is_empty() {
            eprint!("\x1b[K{} ...\r", self.running.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    static RAN: AtomicUsize = AtomicUsize::new(0);

    fn counted() -> Outcome {
        RAN.fetch_add(1, SeqCst);
        Ok(Done::Passed(String::new()))
    }

    fn wrong() -> Outcome {
        Err("wrong".into())
    }

    const fn step(name: &'static str, run: fn() -> Outcome) -> Step {
        Step { name, about: "", run }
    }

    const STAGES: [Stage; 3] = [
        &[&[step("a", counted)]],
        &[&[step("b", counted)], &[step("c", wrong), step("d", counted)]],
        &[&[step("e", counted)]],
    ];

    #[test]
    fn nothing_begins_after_a_failure_and_names_choose() {
        assert!(run(&STAGES, &["a", "d", "e"]));
        assert_eq!(RAN.swap(0, SeqCst), 3);
        assert!(!run(&STAGES, &["a", "c", "d", "e"]));
        assert_eq!(RAN.swap(0, SeqCst), 1);
        assert_eq!(steps(&STAGES).map(|s| s.name).collect::<String>(), "abcde");
    }
}
