//! One place in the pool: a program that is busy or waiting.

use super::folder::Folder;
use super::guard::Guard;
use super::plan::{Asking, OUTPUT_LIMIT, OncePlan, Plan};
use super::process::{End, Launch, Process};
use super::protocol::{Answer, bad, read_answers, read_reply, reply_limit, request_id, write_request};
use super::template::Values;
use bilevo_core::batch::Batch;
use bilevo_core::problem::{Failure, FailureKind};
use bilevo_problems::program::ProgramSpec;
use rustix::event::PollFd;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a program that has closed its output may take to exit, so that its exit status can be reported.
const GRACE: Duration = Duration::from_secs(2);

/// Maximum size of an answer of the follower's own solver, in numbers, including what else it returns.
const LONGEST_ANSWER: usize = 100_000;

/// What a worker needs to know about the pool.
pub(super) struct Setting<'a> {
    pub(super) spec: &'a ProgramSpec,
    pub(super) plan: &'a Plan,
    pub(super) batch: &'a Batch,
    pub(super) guard: &'a mut Guard,
}

/// A program and the points it was asked for.
#[derive(Debug, Default)]
pub(super) struct Worker {
    process: Option<Process>,
    /// Whether the current process has answered before.
    proven: bool,
    job: Option<Job>,
}

#[derive(Debug)]
struct Job {
    points: Vec<usize>,
    allowed: Duration,
    deadline: Instant,
    folder: Option<Folder>,
}

/// The result of a job: an answer for each of its points, or one failure of all.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) points: Vec<usize>,
    pub(super) answers: Result<Vec<Result<Answer, Failure>>, Failure>,
}

impl Worker {
    /// Whether it is busy.
    pub(super) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// When to look at it again even if nothing happens.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.job.as_ref().map(|job| job.deadline)
    }

    /// The longest wait without looking at it.
    pub(super) fn patience(&self) -> Duration {
        self.process.as_ref().filter(|_| self.is_busy()).map_or(Duration::MAX, Process::patience)
    }

    /// Adds the events it waits for.
    pub(super) fn interests<'a>(&'a self, interests: &mut Vec<PollFd<'a>>) {
        if let Some(process) = self.process.as_ref().filter(|_| self.is_busy()) {
            process.interests(interests);
        }
    }

    /// Asks for some points of the batch.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(super) fn begin(&mut self, points: Vec<usize>, setting: &mut Setting<'_>) -> io::Result<()> {
        let spec = setting.spec;
        let mut allowed = spec.timeout.saturating_mul(u32::try_from(points.len()).unwrap_or(u32::MAX));
        let mut folder = None;
        match &setting.plan.asking {
            Asking::Lines { arguments, batch } => {
                if self.process.as_mut().is_some_and(Process::has_ended) {
                    self.end(Duration::ZERO, setting.guard);
                }
                let process = match &mut self.process {
                    Some(process) => process,
                    empty => {
                        empty.insert(Process::start(launch(setting, arguments, &spec.folder, true), setting.guard)?)
                    }
                };
                let mut line = Vec::new();
                write_request(&mut line, setting.batch, &points, *batch > 1);
                process.send(&line);
            }
            Asking::Once(once) => {
                folder = setting.guard.folder().map(Folder::inside).transpose()?;
                let arguments = in_folder(once, &folder, setting, &points, |values| {
                    once.prepare(values).map(|arguments| (arguments, once.run_in(values).to_path_buf()))
                });
                let (arguments, run_in) = arguments?;
                self.process = Some(Process::start(launch(setting, &arguments, &run_in, false), setting.guard)?);
            }
        }
        if !self.proven {
            allowed += spec.start_timeout;
        }
        let deadline = Instant::now() + allowed;
        self.job = Some(Job { points, allowed, deadline, folder });
        Ok(())
    }

    /// Processes the program's output; returns the result of the job once it is complete.
    ///
    /// # Errors
    /// The program cannot be started again.
    pub(super) fn advance(&mut self, setting: &mut Setting<'_>) -> io::Result<Option<Done>> {
        let (Some(process), Some(job)) = (&mut self.process, &self.job) else { return Ok(None) };
        // In this order, so that output before its end is still read.
        let ended = process.has_ended();
        let answers = match &setting.plan.asking {
            Asking::Lines { batch, .. } => {
                let asks_follower = setting.batch.asks_follower();
                let constraints = match asks_follower {
                    true => LONGEST_ANSWER,
                    false => setting.spec.problem.level(setting.batch.level()).constraints(),
                };
                process.pump(reply_limit(job.points.len(), constraints));
                match next_line(process, reply_limit(job.points.len(), constraints)) {
                    Some(line) => {
                        let id = request_id(setting.batch, &job.points);
                        let read = if asks_follower { read_answers } else { read_reply };
                        line.and_then(|line| read(&line, id, job.points.len(), *batch > 1))
                    }
                    None if ended || process.is_mute() || process.deaf => {
                        return self.ended_early(setting);
                    }
                    None => return Ok(self.overdue(setting.guard)),
                }
            }
            Asking::Once(once) => {
                process.pump(OUTPUT_LIMIT);
                if process.output.len() > OUTPUT_LIMIT {
                    Err(bad(format!("the program wrote more than {OUTPUT_LIMIT} bytes to stdout")))
                } else if ended {
                    return Ok(self.ended_once(once, setting));
                } else {
                    return Ok(self.overdue(setting.guard));
                }
            }
        };
        if let Err(failure) = answers {
            let words = self.end(Duration::ZERO, setting.guard).words;
            return Ok(self.done(Err(with_words(failure, &words))));
        }
        self.proven = true;
        Ok(self.done(answers))
    }

    /// A program that reads lines has ended instead of answering.
    fn ended_early(&mut self, setting: &mut Setting<'_>) -> io::Result<Option<Done>> {
        let silent = self.process.as_ref().is_some_and(|process| process.output.is_empty());
        let proven = self.proven;
        let end = self.end(GRACE, setting.guard);
        if proven
            && silent
            && let Some(job) = self.job.take()
        {
            // It may have ended before it received the request, and we cannot tell. So only a fresh program can make
            // this evaluation fail, and it does not matter when exactly the old one ended.
            self.begin(job.points, setting)?;
            return Ok(None);
        }
        Ok(self.done(Err(end.crash("instead of answering"))))
    }

    /// A program that was started for one point has ended.
    fn ended_once(&mut self, once: &OncePlan, setting: &mut Setting<'_>) -> Option<Done> {
        let output = self.process.as_mut().map(|process| std::mem::take(&mut process.output)).unwrap_or_default();
        let end = self.end(Duration::ZERO, setting.guard);
        let answer = if end.status.is_some_and(|status| status.success()) {
            let job = self.job.as_ref()?;
            let answer = in_folder(once, &job.folder, setting, &job.points, |values| once.answer(&output, values));
            answer.map(|answer| vec![Ok(answer)]).map_err(|failure| with_words(failure, &end.words))
        } else {
            Err(end.refusal())
        };
        self.proven = true;
        self.done(answer)
    }

    /// Ends a job whose time is up.
    fn overdue(&mut self, guard: &mut Guard) -> Option<Done> {
        let job = self.job.as_ref().filter(|job| Instant::now() >= job.deadline)?;
        let (points, seconds) = (job.points.len(), job.allowed.as_secs_f64());
        let what = if points == 1 { String::new() } else { format!(" to {points} points") };
        let message = format!("no answer{what} within {seconds} s");
        let words = self.end(Duration::ZERO, guard).words;
        self.done(Err(with_words(Failure::new(FailureKind::Timeout, message), &words)))
    }

    fn done(&mut self, answers: Result<Vec<Result<Answer, Failure>>, Failure>) -> Option<Done> {
        self.job.take().map(|job| Done { points: job.points, answers })
    }

    /// Ends the program and drops its request.
    pub(super) fn dismiss(&mut self, guard: &mut Guard) {
        self.end(Duration::ZERO, guard);
        self.job = None;
    }

    /// Tells the program that there are no more requests.
    pub(super) fn hang_up(&mut self) {
        if let Some(process) = &mut self.process {
            process.hang_up();
        }
    }

    /// Ends the program, after giving it some time to exit.
    pub(super) fn end(&mut self, grace: Duration, guard: &mut Guard) -> End {
        self.proven = false;
        let ended = self.process.take().map(|process| process.end(grace, guard));
        ended.unwrap_or(End { status: None, words: String::new() })
    }
}

impl End {
    /// The failure of a program that should have continued.
    fn crash(&self, when: &str) -> Failure {
        let status = self.status.map_or("could not be ended".into(), |status| format!("ended ({status})"));
        let message = format!("the program {status} {when}");
        with_words(Failure::new(FailureKind::Crash, message.trim_end()), &self.words)
    }

    /// The failure of a program that runs for one evaluation: by its exit status it says that there is no value here.
    /// Only a killed program has broken down.
    fn refusal(&self) -> Failure {
        let exited = self.status.is_some_and(|status| status.code().is_some());
        let kind = if exited { FailureKind::Error } else { FailureKind::Crash };
        Failure { kind, ..self.crash("") }
    }
}

/// The failure, with the program's last output on stderr.
fn with_words(mut failure: Failure, words: &str) -> Failure {
    if !words.is_empty() {
        failure.message += "; its last output on stderr:";
        words.lines().for_each(|line| failure.message += &format!("\n  | {line}"));
    }
    failure
}

fn launch<'a>(setting: &Setting<'a>, arguments: &'a [String], folder: &'a Path, reads: bool) -> Launch<'a> {
    let Plan { program, environment, .. } = setting.plan;
    Launch { program, arguments, environment, folder, memory: setting.spec.memory, reads }
}

/// Calls a function with the values of the placeholders at the first of some points.
fn in_folder<T>(
    once: &OncePlan,
    folder: &Option<Folder>,
    setting: &Setting<'_>,
    points: &[usize],
    call: impl FnOnce(&Values<'_>) -> T,
) -> T {
    let folder = folder.as_ref().map_or(Path::new(""), Folder::path);
    let file = folder.join(once.first_input());
    let (batch, index) = (setting.batch, points.first().copied().unwrap_or(0));
    call(&Values {
        level: batch.level(),
        id: batch.id(index),
        x: batch.x(index),
        y: batch.y(index),
        home: &setting.spec.folder,
        folder,
        file: &file,
    })
}

/// Takes the next complete line from a program's output.
fn next_line(process: &mut Process, limit: usize) -> Option<Result<Vec<u8>, Failure>> {
    match process.output.iter().position(|byte| *byte == b'\n') {
        Some(end) => {
            let rest = process.output.split_off(end + 1);
            Some(Ok(std::mem::replace(&mut process.output, rest)))
        }
        None if process.output.len() > limit => Some(Err(bad(format!("the reply is longer than {limit} bytes")))),
        None => None,
    }
}
