//! Makes sure that no program outlives the run, however the run ends.
//!
//! Every program leads its own process group, which is killed with it. Two cases remain: processes that leave the
//! group on purpose (daemons), and a run that is itself killed. For the first, every program has a mark in its
//! environment, which its children inherit; on Linux, all processes with that mark are found and killed. For the
//! second, a shell waits at the end of a pipe whose other end only the run holds: when the run is gone for whatever
//! reason, the shell does the same.

use super::folder::Folder;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment variable that marks programs and their children.
pub(super) const MARK: &str = "BILEVO_PROGRAM";

/// `$1` is the mark, `$2` a folder to remove. The last line that is read names the living groups.
const WATCH: &str = r#"
trap '' HUP INT QUIT TERM
groups=
while read -r line; do groups=$line; done
for group in $groups; do kill -s KILL -- "-$group"; done
for round in 1 2 3 4 5; do
    found=$(grep -lsF -e "$1" /proc/[0-9]*/environ)
    [ -n "$found" ] || break
    for file in $found; do pid=${file#/proc/}; kill -s KILL "${pid%/environ}"; done
done
[ -n "$2" ] || exit 0
rm -rf -- "$2" || { chmod -R u+rwx -- "$2"; rm -rf -- "$2"; }
"#;

/// The mark of one evaluator, its watcher, and the folder of its evaluations.
#[derive(Debug)]
pub(super) struct Guard {
    mark: String,
    started: u64,
    groups: BTreeSet<u32>,
    folder: Option<Folder>,
    watcher: Child,
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Starts the watcher; with a folder for evaluations if they need one.
    ///
    /// # Errors
    /// There is no shell or no place for the folder.
    pub(super) fn start(with_folder: bool) -> io::Result<Self> {
        static EVALUATORS: AtomicU64 = AtomicU64::new(0);
        let number = EVALUATORS.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let mark = format!("{}-{number}-{time:x}.", std::process::id());
        let folder = with_folder.then(Folder::new).transpose()?;
        let mut watcher = Command::new("/bin/sh")
            .args(["-c", WATCH, "bilevo-watcher"])
            .arg(format!("{MARK}={mark}"))
            .arg(folder.as_ref().map_or(Path::new(""), Folder::path))
            .process_group(0)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let pipe = watcher.stdin.take();
        if let Some(pipe) = &pipe {
            // A watcher that was stopped must not stop the run.
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Guard { mark, started: 0, groups: BTreeSet::new(), folder, watcher, pipe })
    }

    /// The folder that contains the folders of evaluations.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(Folder::path)
    }

    /// A mark for the next program.
    pub(super) fn next_mark(&mut self) -> String {
        self.started += 1;
        format!("{}{}", self.mark, self.started)
    }

    /// Records that a program has started.
    pub(super) fn note(&mut self, group: u32) {
        self.groups.insert(group);
        self.tell();
    }

    /// Records that a program has ended, together with its group.
    pub(super) fn forget(&mut self, group: u32) {
        self.groups.remove(&group);
        self.tell();
    }

    /// Informs the watcher. If that fails, the watcher still has the marks.
    fn tell(&mut self) {
        let mut line: String = self.groups.iter().map(|group| format!("{group} ")).collect();
        line.push('\n');
        if let Some(pipe) = &mut self.pipe {
            let _ = pipe.write_all(line.as_bytes());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        for group in &self.groups {
            kill_group(*group);
        }
        sweep(&format!("{MARK}={}", self.mark));
        let _ = self.watcher.kill();
        let _ = self.watcher.wait();
    }
}

/// Kills a program and everything still in its group.
pub(super) fn kill_group(group: u32) {
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // Fails only if the group has no processes left.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Kills every process with the mark of one program.
pub(super) fn sweep_program(mark: &str) {
    sweep(&format!("{MARK}={mark}\0"));
}

/// Kills every process with these words in its environment. A process that forks in the meantime is found in the next
/// round.
fn sweep(words: &str) {
    for _ in 0..10 {
        let mut found = false;
        for pid in marked(words) {
            found |= kill_process(pid, Signal::KILL).is_ok();
        }
        if !found {
            break;
        }
    }
}

/// Processes with these words in their environment; empty without `/proc`.
fn marked(words: &str) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pid = |entry: io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse::<i32>().ok();
    let carries = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(words.len()).any(|part| part == words.as_bytes())
    };
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    entries.filter_map(pid).filter(|pid| *pid != own && carries(pid)).filter_map(Pid::from_raw).collect()
}
