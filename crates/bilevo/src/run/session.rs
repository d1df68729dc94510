//! The loop of one session: ask, evaluate, tell, until the run ends or something stops it.

use super::pace::Pace;
use super::{Run, RunError, RunOptions, guarded};
use crate::checkpoint::Slot;
use crate::evaluate::{Evaluator, EvaluatorError, TimeLimits};
use crate::observe::{Event, Observer, PROGRESS_EVALS, PROGRESS_TIME};
use crate::policy::{AfterFailure, FailurePolicy, Mistakes, evaluate_whole, retry};
use crate::result::{Names, RunResult, Status};
use bilevo_core::batch::{Batch, Replies};
use bilevo_core::engine::Ask;
use bilevo_core::problem::Level;
use bilevo_core::record::GenerationRecord;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// One call of [`Run::go`].
pub(super) struct Session<'a, 'o> {
    run: &'a mut Run,
    options: &'a RunOptions,
    slot: Option<&'a mut Slot>,
    observers: &'a mut [&'o mut dyn Observer],
    replies: Replies,
    mistakes: Mistakes,
    /// Whether the open batch looks for points that work.
    scouting: bool,
    pace: Pace,
    started: Instant,
    seconds_before: f64,
    limits: TimeLimits,
    /// When observers were last informed of progress, and the evaluations since then.
    told: (Instant, usize),
    saved: Instant,
    batches_since_save: u64,
    save_error: Option<String>,
    broken_off: bool,
}

impl<'a, 'o> Session<'a, 'o> {
    pub(super) fn new(
        run: &'a mut Run,
        options: &'a RunOptions,
        slot: Option<&'a mut Slot>,
        observers: &'a mut [&'o mut dyn Observer],
    ) -> Self {
        let now = Instant::now();
        Session {
            seconds_before: run.times.seconds,
            limits: TimeLimits { end: run.end_of(options.time_limit), each: options.eval_timeout },
            told: (now, 0),
            run,
            options,
            slot,
            observers,
            replies: Replies::default(),
            mistakes: Mistakes::default(),
            scouting: false,
            pace: Pace::default(),
            started: now,
            saved: now,
            batches_since_save: 0,
            save_error: None,
            broken_off: false,
        }
    }

    pub(super) fn until_end(&mut self, evaluator: &mut dyn Evaluator) -> Result<Status, RunError> {
        self.broken_off |= notify(self.observers, &Event::Started { engine: &self.run.engine });
        evaluator.limit(self.limits);
        loop {
            if let Some(status) = self.stopped() {
                return Ok(status);
            }
            if self.run.engine.training_due() {
                let start = Instant::now();
                guarded(|| self.run.engine.train())?;
                self.run.times.training_seconds += start.elapsed().as_secs_f64();
            }
            self.scouting = self.run.engine.is_scouting();
            match guarded(|| self.run.engine.ask())? {
                Ask::Finished(reason) => return Ok(Status::Finished(reason)),
                Ask::Evaluate(batch) => {
                    let first = self.pace.points(evaluator, batch, batch.len());
                    let evaluated = if first == batch.len() {
                        self.told.1 += first;
                        let start = Instant::now();
                        let evaluated = evaluate_whole(evaluator, batch, &mut self.replies);
                        self.pace.note(batch, first, start.elapsed());
                        let mistakes = self.scouting.then_some(&mut self.mistakes);
                        evaluated.and_then(|()| {
                            finish(evaluator, batch, self.options.policy, &mut self.replies, self.observers, mistakes)
                        })
                    } else {
                        // Observers see the engine while a piece is being evaluated.
                        let batch = batch.clone();
                        self.in_pieces(evaluator, &batch)
                    };
                    match evaluated {
                        Ok(stop) => self.broken_off |= stop,
                        Err(RunError::Evaluator(error)) if error.is_out_of_time => {
                            return Ok(self.stopped().unwrap_or(Status::TimeLimit));
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            let record = guarded(|| self.run.engine.tell(&self.replies))??;
            self.tell(record.as_ref(), (self.replies.level(), 0));
            self.save_when_due();
        }
    }

    /// Evaluates a slow batch, and informs observers of progress; returns whether one of them wants to stop.
    fn in_pieces(&mut self, evaluator: &mut dyn Evaluator, batch: &Batch) -> Result<bool, RunError> {
        let (mut whole, mut piece) = (Replies::default(), Replies::default());
        whole.start_on(evaluator.spec(), batch);
        let mut done = 0;
        while done < batch.len() {
            let points = self.pace.points(evaluator, batch, batch.len() - done);
            let indices: Vec<usize> = (done..done + points).collect();
            let start = Instant::now();
            evaluate_whole(evaluator, &batch.subset(&indices), &mut piece)?;
            self.pace.note(batch, points, start.elapsed());
            whole.append(&mut piece);
            done += points;
            self.told.1 += points;
            if done < batch.len() {
                self.tell(None, (batch.level(), done));
            }
            if self.broken_off || self.limits.is_over() {
                return Err(EvaluatorError::out_of_time().into());
            }
        }
        self.replies = whole;
        let mistakes = self.scouting.then_some(&mut self.mistakes);
        finish(evaluator, batch, self.options.policy, &mut self.replies, self.observers, mistakes)
    }

    /// Informs observers that a generation has ended and, now and then, of progress.
    fn tell(&mut self, record: Option<&GenerationRecord>, under_way: (Level, usize)) {
        self.run.times.seconds = self.seconds_before + self.started.elapsed().as_secs_f64();
        let (engine, times) = (&self.run.engine, self.run.times);
        let (at, evals) = self.told;
        let event = match record {
            Some(record) => Event::GenerationDone { record, engine, times },
            None if evals >= PROGRESS_EVALS || at.elapsed() >= PROGRESS_TIME => {
                Event::Progress { engine, under_way, times }
            }
            None => return,
        };
        self.broken_off |= notify(self.observers, &event);
        self.told = (Instant::now(), 0);
    }

    fn stopped(&self) -> Option<Status> {
        if self.options.stop.load(Ordering::Relaxed) {
            Some(Status::Interrupted)
        } else if self.broken_off {
            Some(Status::Observer)
        } else if self.limits.is_over() {
            Some(Status::TimeLimit)
        } else {
            None
        }
    }

    fn save_when_due(&mut self) {
        let Some(saving) = &self.options.saving else { return };
        self.batches_since_save += 1;
        let by_batches = saving.every_batches.is_some_and(|every| self.batches_since_save >= every);
        if by_batches || self.saved.elapsed() >= saving.every {
            self.save();
        }
    }

    /// Saves the run if requested. A failure is reported and remembered; the run continues, and the next save may
    /// succeed.
    fn save(&mut self) {
        let Some(slot) = &mut self.slot else { return };
        let result = slot.save(&self.run.state());
        self.broken_off |= match &result {
            Ok(_) => notify(self.observers, &Event::Saved { path: slot.path() }),
            Err(error) => notify(self.observers, &Event::SaveFailed { error }),
        };
        self.save_error = result.err().map(|error| error.to_string());
        self.saved = Instant::now();
        self.batches_since_save = 0;
    }

    pub(super) fn end(&mut self, ended: Result<Status, RunError>) -> Result<RunResult, RunError> {
        self.run.times.seconds = self.seconds_before + self.started.elapsed().as_secs_f64();
        if !matches!(ended, Err(RunError::Internal { .. })) {
            self.save();
        }
        if matches!(ended, Ok(Status::TimeLimit)) {
            self.run.engine.settle();
        }
        let result = RunResult { save_error: self.save_error.take(), ..self.run.result(ended?) };
        notify(self.observers, &Event::Finished { result: &result });
        Ok(result)
    }
}

/// Applies the failure policy to an evaluated batch; returns whether an observer wants to stop.
fn finish(
    evaluator: &mut dyn Evaluator,
    batch: &Batch,
    policy: FailurePolicy,
    replies: &mut Replies,
    observers: &mut [&mut dyn Observer],
    mistakes: Option<&mut Mistakes>,
) -> Result<bool, RunError> {
    let level = batch.level();
    retry(evaluator, batch, replies, policy.retries)?;
    let mut stop = notify(observers, &Event::BatchDone { level, points: batch.len(), batch, replies });
    for (index, failure) in replies.failures() {
        let (id, x, y) = (batch.id(*index), batch.x(*index), batch.y(*index));
        stop |= notify(observers, &Event::EvaluationFailed { level, id, x, y, failure });
        if policy.then == AfterFailure::Stop {
            let (names, failure) = (Names::of(evaluator.spec()).map(Box::new), failure.clone());
            return Err(RunError::Evaluation { level, id, x: x.into(), y: y.into(), names, failure });
        }
    }
    mistakes.map_or(Ok(()), |mistakes| mistakes.note(evaluator.spec(), batch, replies))?;
    Ok(stop)
}

/// Notifies every observer; returns whether one of them wants to stop.
fn notify(observers: &mut [&mut dyn Observer], event: &Event<'_>) -> bool {
    let mut stop = false;
    for observer in observers {
        stop |= observer.on(event) == ControlFlow::Break(());
    }
    stop
}
