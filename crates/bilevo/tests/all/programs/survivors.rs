//! No process outlives the evaluator or the run, whatever it has started and however the run ends.

use super::{VALUE, answering, ask, command, hurried, script, values};
use bilevo::problems::program::{Commands, Mode, Once, ProgramSpec};
use bilevo::program::Program;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A time that no killed process needs to end.
const AGES: Duration = Duration::from_secs(600);

/// A running process.
struct Alive(OwnedFd);

impl Alive {
    fn new(pid: f64) -> Self {
        Alive(pidfd_open(Pid::from_raw(pid as i32).unwrap(), PidfdFlags::empty()).unwrap())
    }

    /// Whether it ends.
    fn ends(&self) -> bool {
        let time = Timespec { tv_sec: AGES.as_secs() as i64, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&time)).unwrap() > 0
    }
}

/// What something that waits comes back with: a test that has to fail must not wait for ever.
fn within_ages<T: Send + 'static>(wait: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(wait()));
    receiver.recv_timeout(AGES).unwrap()
}

/// How a run ended that was told to.
fn ended(mut run: Child) -> ExitStatus {
    within_ages(move || run.wait().unwrap())
}

/// The one value of a program's answer: the number of a process it has started.
fn started(program: &mut Program) -> Alive {
    Alive::new(values(&ask(program, &[1.0]).unwrap())[0].unwrap())
}

/// Ways to leave a process in the background: in the group, and in a session of its own.
const BACKGROUND: [&str; 2] = ["sleep 1000 >&2 &", "setsid sleep 1000 >&2 &"];

/// Answers with the number of a process in the background.
fn leaving(background: &str) -> String {
    format!(r#"{background} echo "{{\"id\":$id,\"value\":$!}}""#)
}

#[test]
fn programs_end_with_their_evaluator() {
    for (way, after) in
        [("$$", ""), ("$$", "; exec sleep 1000"), ("$$", "; trap '' TERM HUP INT; while :; do sleep 1000; done")]
    {
        let spec = answering(&format!(r#"echo "{{\"id\":$id,\"value\":{way}}}"{after}"#));
        let mut program = Program::new(spec, 1).unwrap();
        let process = started(&mut program);
        drop(program);
        assert!(process.ends(), "{after}");
    }
}

#[test]
fn what_a_program_has_started_ends_with_the_evaluator() {
    for background in BACKGROUND {
        let mut program = Program::new(answering(&leaving(background)), 1).unwrap();
        let process = started(&mut program);
        drop(program);
        assert!(process.ends(), "{background}");
    }
}

#[test]
fn what_a_program_has_started_ends_when_its_time_is_up() {
    for background in BACKGROUND {
        let spec = answering(&format!("if [ $n = 2 ]; then exec sleep 1000; fi; {}", leaving(background)));
        let mut program = Program::new(hurried(spec), 1).unwrap();
        let process = started(&mut program);
        assert_eq!(values(&ask(&mut program, &[1.0]).unwrap()), [None]);
        assert!(process.ends(), "{background}");
    }
}

#[test]
fn what_a_program_has_started_ends_when_it_ends_itself() {
    let mut program = Program::new(answering(&format!("{}; exit 0", leaving(BACKGROUND[0]))), 1).unwrap();
    let process = started(&mut program);
    assert!(values(&ask(&mut program, &[1.0]).unwrap())[0].is_some());
    assert!(process.ends());
}

/// Set for the process that stands in for a run.
const WAITS: &str = "BILEVO_TEST_RUN_THAT_WAITS";

/// A program that is started for each evaluation, writes its process number and that of one it has
/// left in the background into a file or pipe, and never answers.
fn hanging_once(file: &Path) -> ProgramSpec {
    let text = format!("{} echo \"[$!,$$]\" > {}; exec sleep 1000", BACKGROUND[1], file.display());
    let mut spec = script("");
    spec.commands = Commands::Both(command(&["sh", "-c", &text], Mode::Once(Once::default())));
    spec
}

/// A pipe in a folder.
fn pipe_in(folder: &Path) -> PathBuf {
    let pipe = folder.join("started");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

/// The processes whose numbers come through a pipe.
fn told(pipe: &Path) -> Vec<Alive> {
    let pipe = pipe.to_owned();
    let numbers: Vec<f64> = serde_json::from_str(&within_ages(|| std::fs::read_to_string(pipe).unwrap())).unwrap();
    assert_eq!(numbers.len(), 2);
    numbers.into_iter().map(Alive::new).collect()
}

#[test]
fn what_was_started_for_one_evaluation_ends_when_its_time_is_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("started");
    // However long the machine needs to start them: with more and more time, until they said so.
    let processes = (0..).find_map(|doubled| {
        let mut spec = hanging_once(&file);
        (spec.start_timeout, spec.timeout) = (Duration::ZERO, Duration::from_millis(100) * 2_u32.pow(doubled));
        assert_eq!(values(&ask(&mut Program::new(spec, 1).unwrap(), &[1.0]).unwrap()), [None]);
        serde_json::from_str::<[i32; 2]>(&std::fs::read_to_string(&file).ok()?).ok()
    });
    for pid in processes.unwrap() {
        let process = pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty());
        assert!(process.is_err() || Alive(process.unwrap()).ends());
    }
}

#[test]
fn what_was_started_for_one_evaluation_ends_with_a_run_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = pipe_in(folder.path());
    for signal in DEADLY {
        let run = stand_in(pipe.to_str().unwrap()).stdout(Stdio::null()).spawn().unwrap();
        let processes = told(&pipe);
        kill_process(Pid::from_child(&run), signal).unwrap();
        assert_eq!(ended(run).signal(), Some(signal.as_raw()), "{signal:?}");
        assert!(processes.iter().all(Alive::ends), "{signal:?}");
    }
}

/// Signals that end a run.
const DEADLY: [Signal; 3] = [Signal::KILL, Signal::TERM, Signal::INT];

/// Lets children hear interruptions. Started in the background of a script, this program ignores them, as `SigIgn`
/// of its status says, and its children would too: but what is handled here is not handled in a child.
fn children_hear_interruptions() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let interrupt = Signal::INT.as_raw();
    if u64::from_str_radix(ignored.trim(), 16).unwrap() >> (interrupt - 1) & 1 == 1 {
        signal_hook::flag::register(interrupt, Arc::default()).unwrap();
    }
}

/// This test program, doing what `run_that_waits` says.
fn stand_in(how: &str) -> Command {
    children_hear_interruptions();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "programs::survivors::run_that_waits", "--ignored", "--nocapture"]).env(WAITS, how);
    command
}

/// Stands in for a run: starts a program, prints its process number and that of one it has left in
/// the background, and waits for an answer that never comes. If a pipe is named, the program is one
/// for each evaluation and tells its numbers there.
#[test]
#[ignore = "started by the tests below"]
#[allow(clippy::print_stdout)] // read by them
fn run_that_waits() {
    let Some(how) = std::env::var_os(WAITS) else { return };
    if how != "lines" {
        let _ = ask(&mut Program::new(hanging_once(Path::new(&how)), 1).unwrap(), &[1.0]);
        return;
    }
    let text = format!(
        "if [ $n = 3 ]; then exec sleep 1000; fi; if [ $n = 1 ]; then {}; else {}; fi",
        leaving(BACKGROUND[1]),
        VALUE.replace("$y", "$$")
    );
    let mut program = Program::new(answering(&text), 1).unwrap();
    let numbers = ask(&mut program, &[1.0, 1.0]).unwrap();
    println!("started {:?}", values(&numbers).into_iter().flatten().collect::<Vec<_>>());
    ask(&mut program, &[1.0]).unwrap();
}

#[test]
fn nothing_survives_when_the_run_is_killed() {
    for signal in DEADLY {
        let mut run = stand_in("lines").stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(run.stdout.take().unwrap()).lines();
        let line = within_ages(|| lines.map(Result::unwrap).find(|line| line.contains("started ")).unwrap());
        let numbers: Vec<f64> = serde_json::from_str(line.split("started ").nth(1).unwrap()).unwrap();
        let processes: Vec<Alive> = numbers.into_iter().map(Alive::new).collect();
        assert_eq!(processes.len(), 2);
        kill_process(Pid::from_child(&run), signal).unwrap();
        assert_eq!(ended(run).signal(), Some(signal.as_raw()), "{signal:?}");
        assert!(processes.iter().all(Alive::ends), "{signal:?}");
    }
}

#[test]
fn a_program_is_asked_to_leave_before_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = script(&format!("{}\necho bye > farewell", super::LOOP.replace("ANSWER", VALUE)));
    spec.folder = folder.path().into();
    let mut program = Program::new(spec, 1).unwrap();
    ask(&mut program, &[1.0]).unwrap();
    drop(program);
    assert_eq!(std::fs::read_to_string(folder.path().join("farewell")).unwrap(), "bye\n");
}
