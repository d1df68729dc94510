//! A running program: its pipes, none of which ever blocks, and how it ends.

use super::guard::{Guard, MARK, kill_group, sweep_program};
use bilevo_core::printable::{printable, shorten};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What to start, with all placeholders filled in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [String],
    pub(super) environment: &'a BTreeMap<String, String>,
    pub(super) folder: &'a Path,
    pub(super) memory: Option<u64>,
    /// Whether it reads requests.
    pub(super) reads: bool,
}

/// A program, its pipes, and the data in them.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    mark: String,
    stdin: Option<ChildStdin>,
    unsent: VecDeque<u8>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    tail: VecDeque<u8>,
    /// Becomes readable when the program ends, if the system supports that.
    exit: Option<OwnedFd>,
    /// Output that has not been processed yet.
    pub(super) output: Vec<u8>,
    /// Whether it has stopped reading requests.
    pub(super) deaf: bool,
}

/// How a program ended.
#[derive(Debug)]
pub(super) struct End {
    /// Its exit status, unless it could not even be killed in time.
    pub(super) status: Option<ExitStatus>,
    /// Its last output on stderr.
    pub(super) words: String,
}

/// How many bytes of stderr are kept.
const TAIL: usize = 2000;
/// How long a killed program may take to disappear.
const DEATH: Duration = Duration::from_secs(5);
/// How often to check whether a program has ended, if the system cannot report it.
const TICK: Duration = Duration::from_millis(5);

impl Process {
    /// # Errors
    /// The program cannot be started.
    pub(super) fn start(launch: Launch<'_>, guard: &mut Guard) -> io::Result<Self> {
        let mark = guard.next_mark();
        let mut child = Command::new(launch.program)
            .args(launch.arguments)
            .envs(launch.environment)
            .env(MARK, &mark)
            .current_dir(launch.folder)
            .process_group(0)
            .stdin(if launch.reads { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        guard.note(child.id());
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let exit = limit(&child, launch.memory);
        let process = Process {
            child,
            mark,
            stdin,
            unsent: VecDeque::new(),
            stdout,
            stderr,
            tail: VecDeque::new(),
            exit,
            output: Vec::new(),
            deaf: false,
        };
        match process.unblock() {
            Ok(()) => Ok(process),
            Err(error) => {
                process.end(Duration::ZERO, guard);
                Err(error)
            }
        }
    }

    fn unblock(&self) -> io::Result<()> {
        let fds = [
            self.stdin.as_ref().map(AsFd::as_fd),
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        for fd in fds.into_iter().flatten() {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        Ok(())
    }

    /// Queues bytes for the program's input and sends what the pipe takes.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.unsent.extend(bytes);
        self.write();
    }

    /// Transfers as much as possible without waiting; at most `limit` bytes of output are kept.
    pub(super) fn pump(&mut self, limit: usize) {
        self.write();
        let mut chunk = [0; 16 * 1024];
        while self.output.len() <= limit {
            match read(&mut self.stdout, &mut chunk) {
                0 => break,
                count => self.output.extend_from_slice(&chunk[..count]),
            }
        }
        // A program that writes endlessly must not keep us here.
        for _ in 0..8 {
            let count = read(&mut self.stderr, &mut chunk);
            self.tail.extend(&chunk[count.saturating_sub(TAIL)..count]);
            let surplus = self.tail.len().saturating_sub(TAIL);
            self.tail.drain(..surplus);
            if count == 0 {
                break;
            }
        }
    }

    fn write(&mut self) {
        while let (Some(pipe), (bytes @ [_, ..], _)) = (&mut self.stdin, self.unsent.as_slices()) {
            match pipe.write(bytes) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.deaf = true;
                    self.stdin = None;
                }
            }
        }
    }

    /// Whether it has closed its output.
    pub(super) fn is_mute(&self) -> bool {
        self.stdout.is_none()
    }

    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        // If the system can report the end, the process is not reaped yet: its id, which is also that of the group,
        // stays reserved until the group is dead.
        match &self.exit {
            Some(exit) => ready(&mut [PollFd::new(exit, PollFlags::IN)], Duration::ZERO),
            None => self.child.try_wait().is_ok_and(|status| status.is_some()),
        }
    }

    /// Adds the events to wait for.
    pub(super) fn interests<'a>(&'a self, interests: &mut Vec<PollFd<'a>>) {
        let writing = self.stdin.as_ref().filter(|_| !self.unsent.is_empty());
        interests.extend(writing.map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        interests.extend(self.stdout.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        interests.extend(self.stderr.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        interests.extend(self.exit.as_ref().map(|exit| PollFd::new(exit, PollFlags::IN)));
    }

    /// The longest wait before checking whether it has ended.
    pub(super) fn patience(&self) -> Duration {
        if self.exit.is_some() { Duration::MAX } else { TICK }
    }

    /// Closes its input.
    pub(super) fn hang_up(&mut self) {
        self.stdin = None;
        self.unsent.clear();
    }

    /// Closes its input and gives it some time to exit; then kills it and everything it started.
    pub(super) fn end(mut self, grace: Duration, guard: &mut Guard) -> End {
        self.hang_up();
        self.wait(grace);
        let group = self.child.id();
        kill_group(group);
        self.wait(DEATH);
        self.output.clear();
        self.pump(0);
        let status = self.child.try_wait().ok().flatten();
        guard.forget(group);
        if !status.is_some_and(|status| status.success()) {
            sweep_program(&self.mark);
        }
        self.tail.make_contiguous();
        let words = String::from_utf8_lossy(self.tail.as_slices().0).trim().to_string();
        End { status, words: printable(&shorten(&words, TAIL)) }
    }

    /// Waits for its end, and keeps reading so that a full pipe does not block it.
    fn wait(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while !self.has_ended() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.output.clear();
            self.pump(64 * 1024);
            let mut interests = Vec::new();
            self.interests(&mut interests);
            ready(&mut interests, left.min(self.patience()));
        }
    }
}

/// Waits for one of the events, at most this long; returns whether one occurred.
pub(super) fn ready(interests: &mut [PollFd<'_>], time: Duration) -> bool {
    // Longer than any wait here, and within the range of every system.
    let time = time.min(Duration::from_secs(3600));
    let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    poll(interests, Some(&time)).is_ok_and(|count| count > 0)
}

/// Reads available data into `chunk`; closes the pipe at its end or if it is broken.
fn read<R: Read>(pipe: &mut Option<R>, chunk: &mut [u8]) -> usize {
    let Some(reader) = pipe else { return 0 };
    loop {
        return match reader.read(chunk) {
            Ok(count) if count > 0 => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Ok(_) | Err(_) => {
                *pipe = None;
                0
            }
        };
    }
}

/// Limits a program's memory, makes it the first victim if the system runs out of memory, and returns how to wait for
/// its end. If any of this fails, the program still runs.
#[cfg(target_os = "linux")]
fn limit(child: &Child, memory: Option<u64>) -> Option<OwnedFd> {
    use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, pidfd_open, prlimit};
    let pid = Pid::from_child(child);
    let _ = std::fs::write(format!("/proc/{}/oom_score_adj", child.id()), "1000");
    if memory.is_some() {
        let _ = prlimit(Some(pid), Resource::As, Rlimit { current: memory, maximum: memory });
    }
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn limit(_: &Child, _: Option<u64>) -> Option<OwnedFd> {
    None
}
