//! Follower searches side by side, and what they learn together.

use super::archive::Archive;
use super::coordinates::Coordinates;
use super::follower::{Answer, Follower, Ground};
use super::model::{FitScratch, JointModel};
use super::population::EFFORT;
use super::rivals::Rivals;
use super::solution::first_penalty;
use crate::batch::Answers;
use crate::cma::{CmaParams, Scratch};
use crate::problem::{Outcome, ProblemSpec};
use serde::{Deserialize, Serialize};

/// Lower evaluations seen before a first penalty is set.
const FIRST_PENALTY: usize = 8;

/// What is known of the follower, over all restarts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Knowledge {
    pub(crate) archive: Archive,
    pub(crate) rivals: Rivals,
    /// Price of lower violation; 0 until there is something to set it by.
    pub(crate) penalty: f64,
    /// Evaluations a task may spend at most.
    pub(crate) effort: f64,
    pub(crate) params: CmaParams,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    fit: FitScratch,
}

/// Points (x, y) to be evaluated.
pub(crate) type Wanted = Vec<Vec<f64>>;

impl Knowledge {
    /// Nothing known yet.
    pub(crate) fn new(spec: &ProblemSpec, effort: f64) -> Self {
        let n = spec.lower.dim();
        let population = 4 + libm::floor(3.0 * libm::log(n as f64)) as usize;
        Knowledge {
            archive: Archive::new(spec.dim(), 1 + spec.lower.constraints()),
            rivals: Rivals::default(),
            penalty: 0.0,
            effort,
            params: CmaParams::new(n, population),
            scratch: Scratch::default(),
            fit: FitScratch::default(),
        }
    }

    /// What is left of it for a follower with another objective: the rivals.
    pub(crate) fn afresh(&self, spec: &ProblemSpec) -> Self {
        Knowledge { rivals: self.rivals.clone(), ..Knowledge::new(spec, EFFORT.0) }
    }

    /// Lets a model learn from the archive, in new coordinates if any are given.
    pub(crate) fn teach(&mut self, model: &mut JointModel, coordinates: Option<Coordinates>) {
        match coordinates {
            Some(coordinates) => model.renew(coordinates, &mut self.archive, &mut self.fit),
            None => model.learn(&mut self.archive, &mut self.fit),
        }
    }

    /// Adds an evaluation to the archive.
    pub(crate) fn note(&mut self, model: &JointModel, x: &[f64], answer: &Answer) {
        if !answer.outcome.is_failed() {
            let Outcome { value, violation } = answer.outcome;
            model.note(&mut self.archive, (x, &answer.y), (value, &answer.constraints), violation);
        }
    }

    /// Sets the first penalty once the archive shows violations of different size.
    fn price(&mut self) {
        if self.penalty <= 0.0 && self.archive.len() >= FIRST_PENALTY {
            let all = 0..self.archive.len();
            let mut values: Vec<f64> = all.clone().map(|i| self.archive.objective(i)).collect();
            let mut violations: Vec<f64> = all.map(|i| self.archive.violation(i)).collect();
            self.penalty = first_penalty(&mut values, &mut violations, 0.0).unwrap_or(0.0);
        }
    }

    /// What searches share: on the model if there is one to be used, in its units or others.
    pub(crate) fn ground<'a>(
        &'a mut self,
        spec: &'a ProblemSpec,
        model: Option<&'a JointModel>,
        coordinates: &'a Coordinates,
    ) -> Ground<'a> {
        Ground {
            archive: &self.archive,
            model,
            coordinates,
            bounds: spec.lower.space.bounds(),
            inequalities: spec.lower.inequalities,
            params: &self.params,
            penalty: self.penalty,
            share: usize::MAX,
            scratch: &mut self.scratch,
            fit: &mut self.fit,
        }
    }
}

/// Searches that go on side by side.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Searches {
    all: Vec<Follower>,
    /// Points each of them has in the open batch.
    open: Vec<usize>,
}

impl Searches {
    /// A set of searches.
    pub(crate) fn new(all: Vec<Follower>) -> Self {
        Searches { open: vec![0; all.len()], all }
    }

    /// The searches.
    pub(crate) fn all(&self) -> &[Follower] {
        &self.all
    }

    /// Appends the next points of all searches; none when all have ended. While no model exists
    /// they sample together just what the first one needs.
    pub(crate) fn ask(&mut self, ground: &mut Ground<'_>, wanted: &mut Wanted) {
        if let Some(model) = ground.model
            && !model.exists()
        {
            let missing = JointModel::first(model.coordinates.dim()).saturating_sub(ground.archive.len());
            ground.share = missing.div_ceil(self.all.len().max(1)).max(1);
        }
        let mut points = Vec::new();
        for (search, open) in self.all.iter_mut().zip(&mut self.open) {
            search.ask(ground, &mut points);
            *open = points.len();
            wanted.extend(points.drain(..).map(|y| [&search.x[..], &y[..]].concat()));
        }
    }

    /// Takes the values of the first points of a batch and returns how many they were. `note` sees
    /// every evaluation; a search that ends adapts the penalty.
    pub(crate) fn tell(
        &mut self,
        wanted: &Wanted,
        answers: &Answers<'_>,
        knowledge: &mut Knowledge,
        spec: &ProblemSpec,
        (model, coordinates): (Option<&JointModel>, &Coordinates),
    ) -> usize {
        let m = spec.upper.dim();
        let mut index = 0;
        for (search, open) in self.all.iter_mut().zip(&mut self.open) {
            let range = index..index + std::mem::take(open);
            index = range.end;
            let told: Vec<Answer> = range.map(|i| answer(wanted[i][m..].to_vec(), answers, i)).collect();
            if told.is_empty() {
                continue;
            }
            if let Some(model) = model {
                told.iter().for_each(|answer| knowledge.note(model, &search.x, answer));
            }
            search.tell(told, &mut knowledge.ground(spec, model, coordinates));
        }
        knowledge.price();
        index
    }

    /// The penalty after all of these searches.
    pub(crate) fn judged_penalty(&self, penalty: f64) -> f64 {
        self.all.iter().fold(penalty, |penalty, search| search.judged_penalty(penalty))
    }
}

/// The answer that an evaluation gives.
pub(crate) fn answer(y: Vec<f64>, answers: &Answers<'_>, index: usize) -> Answer {
    Answer { y, outcome: answers.outcomes[index], constraints: answers.constraints(index).to_vec(), settled: false }
}
