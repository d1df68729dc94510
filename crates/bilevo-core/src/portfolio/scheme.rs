//! The course of a run: hands out what the current search asks for, writes its end into the history, and starts the
//! next.

mod begin;
mod citizen;
mod present;

use super::archive::{Archive, distance};
use super::claim::{Claim, Scales};
use super::history::{Entry, History, Kind};
use super::known::Before;
use super::next::{Next, is_agreed, next};
use super::search::changed::with_true_rows;
use super::search::population::Population;
use super::search::{End, Ground, Search, Shape, Wanted};
use super::verify::{DIFFERENT, Depth};
use crate::config::Config;
use crate::engine::{RunView, SchemeFacts, SchemeKind, SchemeSetup};
use crate::position::PositionKind;
use crate::problem::{Follower, Level, ProblemSpec};
use begin::DESCENT_DIM;
use citizen::steps;
use present::Present;
use serde::{Deserialize, Serialize};

/// The evaluations of a full verdict: this many, plus this many for each lower variable. The last part of a small
/// budget is reserved for one, but at most this share of the budget.
const VERDICT: (u64, u64) = (40, 50);
const KEPT: u64 = 4;
/// Upper evaluations that are reserved when lower ones are spent, to evaluate the answers.
const AFTER: u64 = 2;
/// The size of the first steps from the best of a few known pairs, and from a pair that the user gave.
const KNOWN: f64 = 0.1;
const GIVEN: f64 = 0.1;

/// On a plateau, values of F differ by less than this share of its scale.
const FLAT: f64 = 1e-9;

/// The state of the method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Portfolio {
    config: Config,
    spec: ProblemSpec,
    shape: Shape,
    size: usize,
    archive: Archive,
    /// What earlier runs left behind.
    before: Before,
    history: History,
    present: Present,
    /// The latest population, which may continue.
    population: Option<Box<Population>>,
    wanted: Wanted,
    /// The evaluations of the current search, and the upper ones before it.
    spent: u64,
    since: usize,
}

impl Portfolio {
    pub(crate) const FACTS: SchemeFacts = SchemeFacts {
        steps,
        fits: |spec| spec.follower != Follower::Oracle,
        for_problems: "a follower without its own solver",
        with_solver: Some(SchemeKind::Leader),
        budget: 4,
        position: 1e-5,
        own_time: Some((30e-6, 1.6)),
    };

    /// The method at its start.
    pub fn new(setup: SchemeSetup<'_>) -> Self {
        let SchemeSetup { spec, config, sizes, .. } = setup;
        let mut config = config.clone();
        if config.position.kind == PositionKind::Pessimistic {
            // Nobody hopes for the better of two answers.
            config.portfolio.ties = 0;
        }
        let shape = Shape::of(spec);
        if shape.dim() > DESCENT_DIM.1 {
            config.portfolio.descent = 0;
        }
        let archive = shape.archive();
        Portfolio {
            config,
            spec: spec.clone(),
            shape,
            size: sizes.population,
            history: History {
                entries: Vec::new(),
                scales: Scales::new(spec, &archive),
                is_known_widely: false,
                dents: Vec::new(),
            },
            before: Before::default(),
            archive,
            present: Present::Choice,
            population: None,
            wanted: Wanted::new(shape.dim()),
            spent: 0,
            since: 0,
        }
    }

    /// Continues until points are needed or the run is over.
    fn prepare(&mut self, run: &RunView<'_>) {
        if matches!(self.present, Present::Spent) {
            // The run continues with a larger budget.
            self.present = Present::Choice;
        }
        loop {
            self.wanted.clear(Level::Lower);
            let (closing, (total, lower)) = (self.is_to_be_verified(run.left.0), run.left);
            let ground =
                Ground { spec: run.spec, archive: &self.archive, scales: &self.history.scales, streams: run.streams };
            if let Some(search) = self.present.search() {
                if closing {
                    search.cut();
                }
                search.ask(&ground, &mut self.wanted);
                let fits = lower > 0 && (self.wanted.iter().len() as u64 + AFTER <= total || run.issued == 0);
                if self.wanted.level == Level::Lower && !fits && !self.wanted.is_empty() {
                    search.cut();
                    search.ask(&ground, &mut self.wanted);
                    if self.wanted.level == Level::Lower {
                        if lower > 0 {
                            self.present = Present::Spent;
                        }
                        return self.wanted.clear(Level::Lower);
                    }
                }
                if !self.wanted.is_empty() {
                    return;
                }
            }
            if !matches!(self.present, Present::Choice | Present::Ended | Present::Spent) {
                self.conclude(run.spec);
            }
            if matches!(self.present, Present::Ended | Present::Spent) {
                return;
            }
            // A given start comes first, with its verdict.
            let begun = self.history.last().is_none_or(|e| e.verdict.is_some());
            let sure = is_agreed(&self.history, &self.config.portfolio);
            if let Some(claim) = self.before.best.take_if(|_| begun && !sure) {
                self.present = match self.before.is_wide {
                    true => Present::Recalled(claim),
                    false => self.descent(claim.point(), KNOWN, Kind::Known),
                };
                continue;
            }
            let next = match self.unverified(run.left.0) {
                Some(at) => Next::Verify(at, Depth::Full),
                None => next(&self.history, &self.config.portfolio),
            };
            self.begin(next, run);
        }
    }

    /// Whether the rest of the total budget is reserved for a verdict.
    fn is_kept(&self, left: u64) -> bool {
        let whole = VERDICT.0 + VERDICT.1 * self.shape.lower[0] as u64;
        self.config.stop.max_evals.is_some_and(|evals| left <= whole.min(evals / KEPT))
    }

    /// Whether the current search ends here, so that its claim can still be verified.
    fn is_to_be_verified(&self, left: u64) -> bool {
        if !self.is_kept(left) {
            return false;
        }
        let claim = match &self.present {
            Present::Descent(search, _) => search.claim(),
            Present::Population(search) => search.claim(),
            _ => None,
        };
        claim.is_some_and(|claim| self.is_worth_a_verdict(&claim))
    }

    fn is_worth_a_verdict(&self, claim: &Claim) -> bool {
        self.history.elite().is_none() || claim.settled && self.history.promises(claim)
    }

    /// The latest entry, if the last of the total goes into its verdict.
    fn unverified(&self, left: u64) -> Option<usize> {
        let last = self.history.last().filter(|e| e.kind.is_plain() && e.verdict.is_none() && e.looks == 0)?;
        let worth = last.claim.as_ref().is_some_and(|claim| self.is_worth_a_verdict(claim));
        (worth && self.is_kept(left)).then(|| self.history.entries.len() - 1)
    }

    /// Puts the requested points into the batch.
    fn hand_out(&self, run: &mut RunView<'_>) {
        run.ask(self.wanted.level);
        for point in self.wanted.iter() {
            let (x, y) = point.split_at(self.shape.upper[0]);
            let y = run.spec.lower.space.from_unit(y);
            run.batch.push(&run.spec.upper.space.from_unit(x)).copy_from_slice(&y);
        }
    }

    /// Writes the end of the current search into the history.
    fn conclude(&mut self, spec: &ProblemSpec) {
        self.history.scales = Scales::new(spec, &self.archive);
        let spent = std::mem::take(&mut self.spent);
        let restart = self.history.restart();
        let mut rivals = Vec::new();
        let (kind, end, claim) = match std::mem::replace(&mut self.present, Present::Choice) {
            Present::Verify(verify, at) => {
                let entry = &mut self.history.entries[at];
                entry.looks += 1;
                entry.spent += spent;
                if let Some(verdict) = verify.verdict() {
                    entry.corrections += u64::from(verdict.hoped.is_some());
                    entry.verdict = Some(verdict.clone());
                }
                return;
            }
            Present::Descent(search, kind) => (kind, search.end(), search.claim()),
            Present::Population(search) => {
                let ended = (Kind::Population, search.end(), search.claim());
                self.population = Some(search);
                ended
            }
            Present::Sample(search) => (Kind::Sample, search.end(), search.claim()),
            Present::Survey(search) => {
                let end = search.end();
                self.history.dents = search.into_dents();
                (Kind::Survey, end, None)
            }
            Present::Edge(search) => (Kind::Edge, search.end(), search.claim()),
            Present::Smooth(search, kind) => (kind, search.end(), search.claim()),
            Present::Recalled(claim) => (Kind::Known, Some(End::Converged), Some(claim)),
            Present::Changed(search, kind, of) => {
                rivals = of;
                (kind, search.end(), search.claim().and_then(|claim| with_true_rows(claim, &self.archive)))
            }
            Present::Choice | Present::Ended | Present::Spent => return,
        };
        let begins = matches!(
            kind,
            Kind::Descent
                | Kind::Known
                | Kind::NearEnds
                | Kind::Survey
                | Kind::Dent
                | Kind::Sample
                | Kind::LeanHere
                | Kind::LeanAway
                | Kind::Smooth
        ) || kind == Kind::Population && !self.population.as_ref().is_some_and(|p| p.is_resumed());
        let flat = begins && claim.as_ref().is_some_and(|claim| self.has_seen_only(claim));
        self.history.entries.push(Entry {
            kind,
            restart: restart + u64::from(begins),
            end: end.unwrap_or(End::Spent),
            claim,
            rivals,
            verdict: None,
            looks: 0,
            corrections: 0,
            flat,
            spent,
        });
    }

    /// Whether most upper values of the current search that lie apart from its claim equal that of the claim.
    fn has_seen_only(&self, claim: &Claim) -> bool {
        let Archive { upper, .. } = &self.archive;
        let apart = |i: &usize| distance(&upper.point(*i)[..self.shape.upper[0]], &claim.x) > DIFFERENT;
        let rows: Vec<&[f64]> = (self.since..upper.len()).filter(apart).filter_map(|i| upper.row(i)).collect();
        let scale = self.history.scales.leader();
        let same = |row: &&&[f64]| row.iter().zip(&claim.upper).all(|(a, b)| (a - b).abs() <= FLAT * scale);
        !rows.is_empty() && 2 * rows.iter().filter(same).count() >= rows.len()
    }

    /// The best verified claim, or what a search has found since if that is better.
    fn best(&self) -> Option<Claim> {
        let present = match &self.present {
            Present::Ended | Present::Spent if self.history.elite().is_some() => return self.history.elite().cloned(),
            Present::Descent(search, _) => search.claim(),
            Present::Population(search) => search.claim(),
            _ => None,
        };
        let searches = |e: &&Entry| e.kind.is_plain();
        let waits = |e: &&Entry| e.verdict.is_none() && e.end != End::Arrived;
        let latest = self.history.last().filter(searches).filter(waits).and_then(|e| e.claim.clone());
        let scales = Scales::new_like(&self.history.scales, &self.archive);
        let elite = self.history.elite();
        let unverified = present.into_iter().chain(latest).filter(|c| c.settled || elite.is_none());
        let all: Vec<Claim> = unverified.chain(elite.cloned()).collect();
        all.into_iter().min_by(|a, b| scales.compare(a, b))
    }
}

#[cfg(test)]
mod tests;
