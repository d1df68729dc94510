//! The method as the engine sees it: batches in and out, and what a run reports about itself.

use super::{GIVEN, Portfolio, Present};
use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::config::Config;
use crate::engine::{Known, Outlook, Readings, RunView, Scheme, SchemeSetup};
use crate::portfolio::claim::{Claim, Scales};
use crate::portfolio::history::Entry;
use crate::portfolio::known::Before;
use crate::portfolio::next::is_agreed;
use crate::portfolio::search::{Ground, Rows, Search};
use crate::portfolio::verify::Depth;
use crate::problem::{Level, ProblemSpec};
use crate::record::{FollowerSeen, LowerSearches, ModelSummary, Step, StopReason, Verification};

/// A run in words.
pub(super) fn steps(_config: &Config) -> Vec<String> {
    [
        "Descend from one point, on models of both levels that learn from all evaluations.",
        "Where a search ends, verify the follower's answer without the models.",
        "Restart: by descents as long as they end at the same value, otherwise by populations, whose candidates are chosen by contrastive ranking and which end with a descent.",
        "If the follower has several good answers, search the border between them.",
        "Once restarts agree, survey the leader's box, and descend where a decision is better than its neighbours.",
        "Before the end, look for decisions at which the follower is indifferent, by searches that favour the leader.",
        "End when enough restarts agree.",
    ]
    .map(String::from)
    .to_vec()
}

impl Scheme for Portfolio {
    fn open(&mut self, run: &mut RunView<'_>) {
        if self.wanted.is_empty() {
            self.prepare(run);
        }
        self.hand_out(run);
    }

    fn tell(&mut self, batch: &Batch, answers: Answers<'_>, run: &mut RunView<'_>) {
        let row = |i: usize| match answers.outcomes[i].is_failed() {
            true => Vec::new(),
            false => [&[answers.outcomes[i].value], answers.constraints(i)].concat(),
        };
        let rows: Rows = (0..batch.len()).map(row).collect();
        self.spent += rows.len() as u64;
        self.wanted.iter().zip(&rows).for_each(|(point, row)| self.archive.push(batch.level(), point, row));
        let ground =
            Ground { spec: run.spec, archive: &self.archive, scales: &self.history.scales, streams: run.streams };
        if let Some(search) = self.present.search() {
            search.tell(&ground, &self.wanted, &rows);
        }
        self.prepare(run);
        // A generation is what lies between two upper evaluations.
        if batch.level() == Level::Lower {
            self.hand_out(run);
        }
    }

    fn close(&mut self, run: &mut RunView<'_>) -> Outlook {
        if let Present::Population(population) = &mut self.present {
            let LowerSearches { run: made, skipped, resampled } = std::mem::take(&mut population.searches);
            run.searches.run += made;
            run.searches.skipped += skipped;
            run.searches.resampled += resampled;
        }
        let best = self.best();
        *run.elite = best.as_ref().map(|claim| claim.as_solved(run.spec));
        let stop = match self.present {
            Present::Ended if is_agreed(&self.history, &self.config.portfolio) => Some(StopReason::Agreed),
            Present::Ended => Some(StopReason::Flat),
            Present::Spent => Some(StopReason::Budget),
            _ => None,
        };
        Outlook { best: None, all_failed: best.is_none(), stop }
    }

    /// A descent from there.
    fn restart(&mut self, setup: SchemeSetup<'_>, start: &[f64]) {
        self.descend_from(setup.spec, start, 1.0);
    }

    /// A descent from the first of them, with short steps if somebody knows the answer.
    fn begin_at(&mut self, setup: SchemeSetup<'_>, starts: &[Vec<f64>], answered: bool) -> usize {
        starts
            .first()
            .iter()
            .for_each(|start| self.descend_from(setup.spec, start, if answered { GIVEN } else { 1.0 }));
        1
    }

    fn recall(&mut self, setup: SchemeSetup<'_>, known: &[Known]) -> bool {
        self.before = Before::new(setup.spec, known, &mut self.archive);
        self.history.is_known_widely = self.before.is_wide;
        self.history.scales = Scales::new(setup.spec, &self.archive);
        true
    }

    fn is_refining(&self) -> bool {
        matches!(self.present, Present::Verify(..))
    }

    fn rechecked(&self) -> Option<Solved> {
        let feasible = |claim: &&Claim| self.history.scales.is_feasible(claim);
        self.history.elite().filter(feasible).map(|claim| claim.as_solved(&self.spec))
    }

    fn learn_noise(&mut self, sizes: [f64; 2]) {
        self.archive.noise = sizes;
        self.history.scales = Scales::new_like(&self.history.scales, &self.archive);
        if let Some(search) = self.present.search() {
            search.cut();
        }
        if matches!(self.present, Present::Ended) {
            self.present = Present::Choice;
        }
        self.wanted.clear(Level::Lower);
    }

    fn spreads(&self) -> Option<[f64; 2]> {
        Some([self.history.scales.leader(), self.history.scales.follower()])
    }

    fn restarts(&self) -> bool {
        true
    }

    fn training_due(&self) -> bool {
        matches!(&self.present, Present::Population(population) if population.allocator.training_due())
    }

    fn train(&mut self, generation: u64) {
        if let Present::Population(population) = &mut self.present {
            population.allocator.train(generation);
        }
    }

    fn model_summary(&self) -> ModelSummary {
        match (&self.present, &self.population) {
            (Present::Population(population), _) | (_, Some(population)) => population.allocator.model_summary(),
            _ => ModelSummary::default(),
        }
    }

    fn verification(&self, solution: &Solved) -> Option<Verification> {
        let looks = |count: fn(&Entry) -> u64| self.history.entries.iter().map(count).sum();
        let elite = self.history.elite().map(|claim| claim.as_solved(&self.spec));
        let rechecked = elite.is_some_and(|elite| elite.x == solution.x && elite.y == solution.y);
        Some(Verification {
            settled: solution.converged,
            rechecked,
            agreed: rechecked && is_agreed(&self.history, &self.config.portfolio),
            agreeing: if rechecked { self.history.agreement().0 as u64 } else { 0 },
            restarts: self.history.restart().max(1),
            rechecks: looks(|e| e.looks),
            corrected: looks(|e| e.corrections),
        })
    }

    fn history(&self) -> Vec<Step> {
        self.history.story(&self.spec)
    }

    fn follower_seen(&self, x: &[f64]) -> FollowerSeen {
        let answers = self.history.answers(&self.spec.upper.space.to_unit(x));
        FollowerSeen {
            answers: answers.iter().map(|y| self.spec.lower.space.from_unit(y)).collect(),
            noise: self.archive.noise[1],
            scale: self.history.follower_range().into_iter().chain([self.history.scales.follower()]).reduce(f64::min),
        }
    }

    fn object(&mut self, spec: &ProblemSpec, y: &[f64]) -> bool {
        let elite = self.history.elite_at().filter(|_| matches!(self.present, Present::Ended));
        let Some(at) = elite else { return false };
        self.present = self.verify(at, Depth::Wide, u64::MAX, Some(spec.lower.space.to_unit(y)));
        true
    }

    fn readings(&self) -> Readings {
        let (step_size, axis_ratio) = self.present.searching().map_or((1.0, 1.0), Search::reach);
        let model = match &self.present {
            Present::Population(population) => population.allocator.model_record(),
            _ => None,
        };
        Readings { step_size, axis_ratio, model }
    }
}
