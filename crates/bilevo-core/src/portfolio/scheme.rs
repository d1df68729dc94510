//! The method as a citizen of the engine: hands out what the present search wants, and begins the next.

mod begin;

use super::archive::{Archive, distance};
use super::claim::{Claim, Scales};
use super::history::{Entry, History, Kind};
use super::known::Before;
use super::next::{Next, is_agreed, next};
use super::search::changed::{Changed, with_true_rows};
use super::search::descent::Descent;
use super::search::edge::Edge;
use super::search::population::Population;
use super::search::sample::Sample;
use super::search::smooth::Smooth;
use super::search::{End, Ground, Rows, Search, Shape, Wanted};
use super::verify::{DIFFERENT, Depth, Verify};
use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::config::Config;
use crate::engine::{Known, Outlook, Readings, RunView, Scheme, SchemeFacts, SchemeKind, SchemeSetup};
use crate::position::PositionKind;
use crate::problem::{Follower, Level, ProblemSpec};
use crate::record::{FollowerSeen, LowerSearches, ModelSummary, Step, StopReason, Verification};
use begin::DESCENT_DIM;
use serde::{Deserialize, Serialize};

/// Next-best decisions of a search that the history keeps.
const SECONDS: usize = 3;
/// Evaluations of a whole verdict: so many, and so many for each lower variable. The last part of a small
/// budget is kept for one, but not more than a share of it.
const VERDICT: (u64, u64) = (40, 50);
const KEPT: u64 = 4;
/// Upper evaluations that lower ones leave for their answers.
const AFTER: u64 = 2;
/// Size of the first steps from the best pair of a few known ones, and from a pair that somebody gave.
const KNOWN: f64 = 0.1;
const GIVEN: f64 = 0.1;
/// Searches whose claims are the run's answer before they have a verdict.
const PLAIN: [Kind; 5] = [Kind::Descent, Kind::Known, Kind::NearEnds, Kind::Finish, Kind::Population];

/// Values of F on a plateau differ by less than this share of its scale.
const FLAT: f64 = 1e-9;

/// What goes on at present.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Present {
    /// Nothing: the next search is still to be chosen.
    Choice,
    Descent(Box<Descent>, Kind),
    Population(Box<Population>),
    Sample(Box<Sample>),
    Edge(Box<Edge>),
    Smooth(Box<Smooth>, Kind),
    /// With the rivals of its answer.
    Changed(Box<Changed>, Kind, Vec<Vec<f64>>),
    /// A decision that another search came across.
    Second(Claim),
    /// What an earlier run found.
    Recalled(Claim),
    /// The verdict on the claim of an entry.
    Verify(Box<Verify>, usize),
    Ended,
    /// What is left of the budget is too little for anything.
    Spent,
}

impl Present {
    /// The search under way, to look at.
    fn searching(&self) -> Option<&dyn Search> {
        match self {
            Present::Choice | Present::Second(_) | Present::Recalled(_) | Present::Ended | Present::Spent => None,
            Present::Descent(search, _) => Some(&**search),
            Present::Population(search) => Some(&**search),
            Present::Sample(search) => Some(&**search),
            Present::Edge(search) => Some(&**search),
            Present::Smooth(search, _) => Some(&**search),
            Present::Changed(search, ..) => Some(&**search),
            Present::Verify(search, _) => Some(&**search),
        }
    }

    /// The search under way.
    fn search(&mut self) -> Option<&mut dyn Search> {
        match self {
            Present::Choice | Present::Second(_) | Present::Recalled(_) | Present::Ended | Present::Spent => None,
            Present::Descent(search, _) => Some(&mut **search),
            Present::Population(search) => Some(&mut **search),
            Present::Sample(search) => Some(&mut **search),
            Present::Edge(search) => Some(&mut **search),
            Present::Smooth(search, _) => Some(&mut **search),
            Present::Changed(search, ..) => Some(&mut **search),
            Present::Verify(search, _) => Some(&mut **search),
        }
    }
}

/// The state of the method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Portfolio {
    config: Config,
    spec: ProblemSpec,
    shape: Shape,
    size: usize,
    archive: Archive,
    /// What earlier runs have left.
    before: Before,
    history: History,
    present: Present,
    /// The latest population: it may go on.
    population: Option<Box<Population>>,
    wanted: Wanted,
    /// Evaluations of the present search, and upper ones before it.
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
            history: History { entries: Vec::new(), scales: Scales::new(spec, &archive), is_known_widely: false },
            before: Before::default(),
            archive,
            present: Present::Choice,
            population: None,
            wanted: Wanted::new(shape.dim()),
            spent: 0,
            since: 0,
        }
    }

    /// Goes on until points are wanted or the run is over.
    fn prepare(&mut self, run: &RunView<'_>) {
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

    /// Whether what is left of the total is kept for a verdict.
    fn is_kept(&self, left: u64) -> bool {
        let whole = VERDICT.0 + VERDICT.1 * self.shape.lower[0] as u64;
        self.config.stop.max_evals.is_some_and(|evals| left <= whole.min(evals / KEPT))
    }

    /// Whether the present search ends here, so that its claim can still be verified.
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
        let last = self.history.last().filter(|e| PLAIN.contains(&e.kind) && e.verdict.is_none() && e.looks == 0)?;
        let worth = last.claim.as_ref().is_some_and(|claim| self.is_worth_a_verdict(claim));
        (worth && self.is_kept(left)).then(|| self.history.entries.len() - 1)
    }

    /// Puts the wanted points into the batch.
    fn hand_out(&self, run: &mut RunView<'_>) {
        run.ask(self.wanted.level);
        for point in self.wanted.iter() {
            let (x, y) = point.split_at(self.shape.upper[0]);
            let y = run.spec.lower.space.from_unit(y);
            run.batch.push(&run.spec.upper.space.from_unit(x)).copy_from_slice(&y);
        }
    }

    /// Writes the end of the present search into the history.
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
            Present::Edge(search) => (Kind::Edge, search.end(), search.claim()),
            Present::Smooth(search, kind) => (kind, search.end(), search.claim()),
            Present::Second(claim) => (Kind::Second, Some(End::Converged), Some(claim)),
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
            seconds: claim.as_ref().map_or_else(Vec::new, |claim| self.best_seen(self.since, claim, SECONDS)),
            claim,
            rivals,
            verdict: None,
            looks: 0,
            corrections: 0,
            flat,
            spent,
        });
    }

    /// Whether the upper values of the present search are mostly those of its claim, as far as they lie apart from it.
    fn has_seen_only(&self, claim: &Claim) -> bool {
        let Archive { upper, .. } = &self.archive;
        let apart = |i: &usize| distance(&upper.point(*i)[..self.shape.upper[0]], &claim.x) > DIFFERENT;
        let rows: Vec<&[f64]> = (self.since..upper.len()).filter(apart).filter_map(|i| upper.row(i)).collect();
        let scale = self.history.scales.leader();
        let same = |row: &&&[f64]| row.iter().zip(&claim.upper).all(|(a, b)| (a - b).abs() <= FLAT * scale);
        !rows.is_empty() && 2 * rows.iter().filter(same).count() >= rows.len()
    }

    /// The best decisions of the archive from an upper point on, away from a claim and from each other.
    fn best_seen(&self, since: usize, claim: &Claim, count: usize) -> Vec<Claim> {
        let Archive { upper, lower, .. } = &self.archive;
        let sound = (since..upper.len()).filter_map(|i| Some((i, upper.row(i)?)));
        let violation = |row: &[f64]| self.history.scales.upper_violation(row);
        let mut all: Vec<(usize, &[f64])> = sound.filter(|(_, row)| violation(row) <= 0.0).collect();
        all.sort_by(|a, b| a.1[0].total_cmp(&b.1[0]));
        let mut seconds: Vec<Claim> = Vec::new();
        for (i, above) in all {
            let (x, y) = upper.point(i).split_at(self.shape.upper[0]);
            let new = seconds.iter().chain([claim]).all(|c| distance(&c.x, x) > DIFFERENT);
            if seconds.len() == count || !new {
                continue;
            }
            if let Some(below) = lower.find(upper.point(i)).and_then(|i| lower.row(i)) {
                let (upper, lower) = (above.to_vec(), below.to_vec());
                seconds.push(Claim { x: x.to_vec(), y: y.to_vec(), upper, lower, settled: false });
            }
        }
        seconds
    }

    /// The best verified claim, or what a search has found since if that is better.
    fn best(&self) -> Option<Claim> {
        let present = match &self.present {
            Present::Ended | Present::Spent if self.history.elite().is_some() => return self.history.elite().cloned(),
            Present::Descent(search, _) => search.claim(),
            Present::Population(search) => search.claim(),
            _ => None,
        };
        let searches = |e: &&Entry| PLAIN.contains(&e.kind);
        let waits = |e: &&Entry| e.verdict.is_none() && e.end != End::Arrived;
        let latest = self.history.last().filter(searches).filter(waits).and_then(|e| e.claim.clone());
        let scales = Scales::new_like(&self.history.scales, &self.archive);
        let elite = self.history.elite();
        let unverified = present.into_iter().chain(latest).filter(|c| c.settled || elite.is_none());
        let all: Vec<Claim> = unverified.chain(elite.cloned()).collect();
        all.into_iter().min_by(|a, b| scales.compare(a, b))
    }
}

/// A run in words.
fn steps(_config: &Config) -> Vec<String> {
    [
        "Descend from one point, on models of both levels that learn from all evaluations.",
        "Where a search ends, verify the follower's answer without the models.",
        "Restart: by descents as long as they end at the same value, otherwise by populations, whose candidates are chosen by contrastive ranking and which end with a descent.",
        "If the follower has several good answers, search the border between them.",
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

    /// A descent from the first of them, with short steps where somebody knows the answer.
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

#[cfg(test)]
mod tests;
