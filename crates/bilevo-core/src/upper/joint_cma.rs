//! CMA-ES on the joint vector (x, y).
//!
//! It samples candidates (a decision x and a guess of the answer y), passes the lower part of its distribution on to
//! the lower searches, and moves towards the best solved candidates.
//!
//! *Recall*: once in `upper.recall` generations, the elite joins the parents, if it is better than all of them. With
//! an allocator that skips candidates, this applies only to generations in which some were skipped: a small
//! generation may drift away from an elite it once found, whereas a full one has enough parents. Recall costs no
//! evaluations.
//!
//! Randomness: `Purpose::Start` once, `Purpose::Sample` for every sampling round.
//! Source: He et al., 2018 (BL-CMA-ES), upper level.

use super::descents::Descents;
use super::{Findings, LowerPrior, UpperFacts, UpperKind, UpperSetup, UpperStrategy};
use crate::allocate::AllocatorKind;
use crate::candidate::{Candidate, Solved};
use crate::cma::{Cma, CmaParams, Scratch};
use crate::config::Config;
use crate::engine::SchemeKind;
use crate::lower::LowerKind;
use crate::order::{self, ConstraintRule};
use crate::problem::{Outcome, ProblemSpec};
use crate::record::StopReason;
use crate::rng::Stream;
use crate::settings::{number, settings, whole, words};
use crate::space::{Space, Variable};
use serde::{Deserialize, Serialize};

settings! {
    /// CMA-ES on the joint vector.
    pub struct JointCmaConfig in joint_cma as "upper", if "upper.kind = joint_cma" |c| is_used(c);

    /// Initial step size, as a share of the median width of the box.
    initial_step: f64 = 0.3, |_| number(1e-9, 1e3);
    /// How infeasible candidates are ranked: `feasible_first`, or `population_mixed` (objective and
    /// violation are mixed while no candidate is feasible).
    constraint_rule: ConstraintRule = ConstraintRule::FeasibleFirst, |_| words(ConstraintRule::ALL),
        if "scheme.kind = nested" |c| c.scheme.kind == SchemeKind::Nested;
    /// The elite joins the parents once in this many generations, at no cost; 0 = never. With an
    /// allocator that skips candidates, only in generations in which it skipped some.
    recall: usize = 0, |_| whole(0, 1_000_000);
    /// Share of the candidates that come from descents over the decisions (one variable moved, or two
    /// whole numbers exchanged) if the leader has real variables and the follower whole numbers; otherwise all
    /// candidates do. With `oracle`, only if the leader has whole numbers.
    exchange: f64 = 0.5, |_| number(0.0, 1.0),
        if "lower.kind = exchange or oracle" |c| {
            matches!(c.lower.kind, LowerKind::Exchange | LowerKind::Oracle)
        };
    /// How many descents over the decisions must end at the best value before the run ends; if null, 3 if the leader
    /// has real variables to step along, else 4. Without a better value, the run also ends after ten descents, or
    /// after twice this number if that is more.
    agreeing: Option<usize> = None, |_| whole(1, 1_000_000),
        if "lower.kind = exchange or oracle" |c| {
            matches!(c.lower.kind, LowerKind::Exchange | LowerKind::Oracle)
        };
}

fn is_used(config: &Config) -> bool {
    config.scheme.kind != SchemeKind::Nested || config.upper.kind == UpperKind::JointCma
}

/// Whether decisions are also moved and exchanged.
fn exchanges(spec: &ProblemSpec, config: &Config) -> bool {
    match config.lower.kind {
        LowerKind::Exchange => true,
        LowerKind::Oracle => spec.upper.space.has_whole(),
        _ => false,
    }
}

/// What it learns from a generation, in words.
fn update(config: &Config) -> String {
    let recall = match config.joint_cma.recall {
        0 => String::new(),
        1 => " The elite joins them.".into(),
        every => format!(" The elite joins them every {every} generations."),
    };
    format!("Update the upper distribution from the candidates that were solved.{recall}")
}

/// State of the strategy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JointCma {
    cma: Cma,
    params: CmaParams,
    /// The variables of both levels.
    space: Space,
    upper_dim: usize,
    constraint_rule: ConstraintRule,
    recall: u64,
    /// Whether full generations recall the elite too.
    recall_always: bool,
    /// Descents from the best decisions, in an exchange search.
    descents: Option<Descents>,
    #[serde(skip)]
    scratch: Scratch,
}

impl JointCma {
    pub(super) const FACTS: UpperFacts =
        UpperFacts { sampling: "Sample candidates (x, y) from the upper CMA-ES over both levels' variables.", update };

    /// Starts at a given or a uniform point of the box, with a step of `initial_step` median box widths.
    pub fn new(setup: UpperSetup<'_>) -> Self {
        let UpperSetup { spec, config, population, mean, start } = setup;
        let space = spec.upper.space.chain(&spec.lower.space);
        if space.has_whole() {
            return Self::relaxed(space, config, population, (mean, start), spec);
        }
        let mean = mean.map_or_else(|| space.draw(start), <[f64]>::to_vec);
        let mut widths: Vec<f64> = space.iter().map(|v| v.width()).collect();
        widths.sort_by(f64::total_cmp);
        let middle = widths.len() / 2;
        let median =
            if widths.len() % 2 == 1 { widths[middle] } else { 0.5 * widths[middle - 1] + 0.5 * widths[middle] };
        let cma = Cma::round(mean, config.joint_cma.initial_step * median);
        Self::start(cma, space, config, population, spec)
    }

    /// With whole numbers, the first step is a share of each variable's own width or number of values: the median
    /// width of some binaries says nothing about a price. A whole number starts in the middle, where all its values
    /// are likely.
    fn relaxed(
        space: Space,
        config: &Config,
        population: usize,
        (given, start): (Option<&[f64]>, &mut Stream),
        spec: &ProblemSpec,
    ) -> Self {
        let middle = |v: Variable| 0.5 * v.low + 0.5 * v.high;
        let mut mean = given.map_or_else(|| space.draw(start), <[f64]>::to_vec);
        if given.is_none() {
            space.iter().zip(&mut mean).filter(|(v, _)| v.is_whole()).for_each(|(v, mean)| *mean = middle(v));
        }
        let width = |v: Variable| if v.is_whole() { v.width() + 1.0 } else { v.width() };
        let deviations: Vec<f64> = space.iter().map(|v| 2.0 * config.joint_cma.initial_step * width(v)).collect();
        Self::start(Cma::along_axes(mean, &deviations), space, config, population, spec)
    }

    fn start(cma: Cma, space: Space, config: &Config, population: usize, spec: &ProblemSpec) -> Self {
        JointCma {
            cma,
            params: CmaParams::new(space.dim(), population),
            upper_dim: spec.upper.dim(),
            descents: exchanges(spec, config).then(|| Descents::new(spec, &config.joint_cma)),
            space,
            constraint_rule: config.joint_cma.constraint_rule,
            recall: config.joint_cma.recall as u64,
            recall_always: config.allocator.kind == AllocatorKind::All,
            scratch: Scratch::default(),
        }
    }

    /// The candidates to move towards, best first.
    fn parents<'a>(&self, findings: &Findings<'a>) -> Vec<&'a Solved> {
        let mut parents: Vec<&Solved> = findings.solved.iter().filter(|s| !s.upper.is_failed()).collect();
        if self.recalls(findings) {
            let unbeaten = |elite: &&Solved| parents.iter().all(|p| order::better(&elite.upper, &p.upper));
            parents.extend(findings.elite.iter().copied().find(unbeaten));
        }
        let outcomes: Vec<Outcome> = parents.iter().map(|s| s.upper).collect();
        let mut ranking = Vec::new();
        order::rank(&outcomes, self.constraint_rule, &mut ranking);
        ranking.iter().map(|&index| parents[index]).collect()
    }

    /// Whether the elite may join the parents of this generation.
    fn recalls(&self, findings: &Findings<'_>) -> bool {
        let skipped = findings.solved.len() < findings.population;
        (skipped || self.recall_always) && self.recall > 0 && findings.generation.is_multiple_of(self.recall)
    }
}

impl UpperStrategy for JointCma {
    fn population(&self) -> usize {
        self.params.population
    }

    fn sample(&mut self, stream: &mut Stream) -> Vec<Candidate> {
        let mut point = vec![0.0; self.space.dim()];
        let draw = |_| {
            self.cma.sample(stream, &self.space, &mut point);
            let (x, guess) = point.split_at(self.upper_dim);
            Candidate { x: x.to_vec(), guess: guess.to_vec() }
        };
        let mut candidates: Vec<Candidate> = (0..self.params.population).map(draw).collect();
        if let Some(descents) = &mut self.descents {
            descents.join(&mut candidates, stream);
        }
        candidates
    }

    /// The same start for every x, as published.
    fn lower_prior(&mut self, _candidates: &[Candidate]) -> LowerPrior {
        let (m, d) = (self.upper_dim, self.space.dim());
        let metric = self.cma.marginal(0..m, &mut self.scratch);
        LowerPrior::shared(self.cma.marginal(m..d, &mut self.scratch), metric)
    }

    fn update(&mut self, findings: &Findings<'_>) {
        let parents = self.parents(findings);
        // A y that only the follower's own solver knows is not part of the distribution.
        let lower = self.space.dim() - self.upper_dim;
        let points: Vec<Vec<f64>> = parents.iter().map(|s| [&s.x[..], &s.y[..lower]].concat()).collect();
        let parents = points.iter().map(Vec::as_slice);
        self.cma.update_within(&self.space, &self.params, parents, &mut self.scratch);
        if let Some(descents) = &mut self.descents {
            descents.learn(findings.solved, findings.elite);
        }
    }

    fn step_size(&self) -> f64 {
        self.cma.step_size
    }

    fn axis_ratio(&self) -> f64 {
        self.cma.axis_ratio()
    }

    /// Whether the distribution is too small to tell its points apart.
    fn is_collapsed(&self) -> bool {
        let reach = |i: usize| self.cma.step_size * self.cma.cov[i * (self.space.dim() + 1)].sqrt();
        (0..self.space.dim()).all(|i| self.cma.mean[i] + 0.1 * reach(i) == self.cma.mean[i])
    }

    fn restarts(&self) -> bool {
        self.descents.is_some()
    }

    fn over(&self) -> Option<StopReason> {
        match &self.descents {
            Some(descents) => descents.over(),
            None => self.is_collapsed().then_some(StopReason::Collapsed),
        }
    }

    fn agreeing(&self, value: f64) -> (u64, u64) {
        self.descents.as_ref().map_or((0, 0), |descents| descents.agreeing(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{LevelSpec, ProblemSpec};
    use crate::rng::{Purpose, Streams};

    const WIDTHS: [f64; 4] = [1.0, 100.0, 2.0, 4.0];

    fn upper(widths: [f64; 4], recall: usize) -> JointCma {
        recalling(widths, recall, AllocatorKind::Random)
    }

    fn recalling(widths: [f64; 4], recall: usize, allocator: AllocatorKind) -> JointCma {
        let level = |widths: &[f64]| LevelSpec::boxed(widths.iter().map(|&w| (0.0, w)).collect());
        let spec = ProblemSpec::new("boxes", level(&widths[..1]), level(&widths[1..]));
        let mut config = Config::default();
        config.joint_cma.recall = recall;
        config.allocator.kind = allocator;
        JointCma::new(UpperSetup { spec: &spec, config: &config, population: 8, mean: None, start: &mut stream(0) })
    }

    fn stream(index: u64) -> Stream {
        Streams::new(1).open(Purpose::Sample, 1, index)
    }

    fn solved(x: f64, value: f64) -> Solved {
        let upper = Outcome { value, violation: 0.0 };
        let lower = upper;
        Solved { x: vec![x], y: vec![3.0 * x, x, x], upper, upper_constraints: vec![], lower, converged: true }
    }

    #[test]
    fn the_first_step_is_a_share_of_the_median_width() {
        assert_eq!(upper(WIDTHS, 0).step_size(), 0.3 * 3.0);
        let mean = upper(WIDTHS, 0).cma.mean;
        assert!(mean.iter().zip(WIDTHS).all(|(m, w)| (0.0..w).contains(m)));
    }

    #[test]
    fn candidates_are_split_and_inside() {
        let mut upper = upper(WIDTHS, 0);
        let candidates = upper.sample(&mut stream(1));
        assert_eq!(candidates.len(), 8);
        for Candidate { x, guess } in &candidates {
            assert_eq!((x.len(), guess.len()), (1, 3));
            assert!((0.0..=1.0).contains(&x[0]) && (0.0..=100.0).contains(&guess[0]));
        }
        assert_eq!(candidates, upper.sample(&mut stream(1)));
        assert_ne!(candidates, upper.sample(&mut stream(2)));
    }

    #[test]
    fn the_prior_is_the_distribution_in_two_parts_and_the_same_for_all() {
        let mut upper = upper(WIDTHS, 0);
        let all = [solved(0.1, 1.0), solved(0.2, 2.0), solved(0.3, 3.0)];
        upper.update(&Findings { generation: 1, population: 3, solved: &all, elite: None });
        let candidates = upper.sample(&mut stream(1));
        let prior = upper.lower_prior(&candidates);
        let tasks = prior.tasks(&candidates);
        assert!(tasks.iter().all(|task| std::ptr::eq(task.start, tasks[0].start)));
        assert_eq!([&prior.metric.mean[..], &tasks[0].start.mean[..]].concat(), upper.cma.mean);
        assert_eq!((prior.metric.cov[0], tasks[0].start.cov[0]), (upper.cma.cov[0], upper.cma.cov[5]));
        let own: Vec<Cma> = (0..8).map(|i| Cma::round(vec![f64::from(i); 3], 1.0)).collect();
        let each = LowerPrior::each(own, prior.metric.clone());
        assert_eq!(each.tasks(&candidates)[5].start.mean, [5.0; 3]);
    }

    #[test]
    fn the_elite_is_recalled_in_its_generations_when_candidates_were_skipped_and_it_is_unbeaten() {
        let upper = upper(WIDTHS, 4);
        let (all, good) = ([solved(0.1, 2.0), solved(0.2, 1.0)], solved(0.9, 0.0));
        let parents = |upper: &JointCma, generation, population, elite: &Solved| -> Vec<f64> {
            let findings = Findings { generation, population, solved: &all, elite: Some(elite) };
            upper.parents(&findings).iter().map(|s| s.x[0]).collect()
        };
        assert_eq!(parents(&upper, 8, 3, &good), [0.9, 0.2, 0.1]);
        assert_eq!(parents(&upper, 7, 3, &good), [0.2, 0.1], "another generation");
        assert_eq!(parents(&upper, 8, 2, &good), [0.2, 0.1], "nobody was skipped");
        assert_eq!(parents(&upper, 8, 3, &solved(0.9, 1.0)), [0.2, 0.1], "no better than the best parent");
        assert_eq!(parents(&self::upper(WIDTHS, 0), 8, 3, &good), [0.2, 0.1], "never asked for");
        let always = recalling(WIDTHS, 4, AllocatorKind::All);
        assert_eq!(parents(&always, 8, 2, &good), [0.9, 0.2, 0.1], "nobody is ever skipped");
        assert_eq!(parents(&always, 7, 2, &good), [0.2, 0.1], "another generation");
    }

    #[test]
    fn failed_candidates_are_no_parents() {
        let mut all = [solved(0.1, 2.0), solved(0.2, 1.0)];
        all[1].upper = Outcome::FAILED;
        let findings = Findings { generation: 1, population: 2, solved: &all, elite: None };
        let upper = upper(WIDTHS, 0);
        assert_eq!(upper.parents(&findings), [&all[0]]);
    }

    #[test]
    fn a_distribution_collapses_when_its_points_are_one() {
        let mut upper = upper([1.0, 1.0, 1.0, 1.0], 0);
        assert!(!upper.is_collapsed());
        upper.cma.mean = vec![0.5; 4];
        upper.cma.step_size = 1e-17;
        assert!(upper.is_collapsed());
        // One coordinate that still moves is enough to continue.
        upper.cma.mean[2] = 0.0;
        assert!(!upper.is_collapsed());
    }
}
