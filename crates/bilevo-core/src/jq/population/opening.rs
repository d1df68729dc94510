//! The opening of a generation: sample, allocate, inject, open the follower searches.

use super::{Population, Stage, World};
use crate::allocate::{Allocation, Sampled};
use crate::candidate::Candidate;
use crate::jq::config::StartRule;
use crate::jq::coordinates::Coordinates;
use crate::jq::follower::{Follower, sample, start};
use crate::jq::response;
use crate::jq::searches::Searches;
use crate::rng::Purpose;

impl Population {
    /// Chooses candidates and opens their searches.
    pub(super) fn open_generation(&mut self, world: &mut World<'_>) {
        self.generation += 1;
        let coordinates = Coordinates::new(&self.cma, world.spec.upper.dim());
        world.knowledge.teach(&mut self.model, Some(coordinates));
        self.chosen = self.choose(world);
        self.injected = self.inject(world);
        let effort = self.effort(world);
        let mut searches = Vec::with_capacity(self.chosen.len());
        for (task, candidate) in self.chosen.iter().enumerate() {
            let from = self.start(world, candidate);
            let stream = world.streams.open(Purpose::Lower, self.generation, task as u64);
            searches.push(Follower::from_start(candidate.x.clone(), from, effort, stream));
        }
        self.searches = Searches::new(searches);
        self.stage = Stage::Search;
    }

    /// Samples until the allocator is content.
    fn choose(&mut self, world: &mut World<'_>) -> Vec<Candidate> {
        let m = world.spec.upper.dim();
        let bounds: Vec<(f64, f64)> = world.spec.upper.bounds.iter().chain(&world.spec.lower.bounds).copied().collect();
        let mut candidates = Vec::new();
        let mut round = 0;
        let mut point = vec![0.0; bounds.len()];
        let run = loop {
            let mut stream = world.streams.open(Purpose::Sample, self.generation, round);
            for _ in 0..self.params.population {
                sample(&self.cma, &mut stream, &bounds, &mut point);
                candidates.push(Candidate { x: point[..m].to_vec(), guess: point[m..].to_vec() });
            }
            let mut stream = world.streams.open(Purpose::Allocate, self.generation, round);
            let sampled =
                Sampled { candidates: &candidates, population: self.params.population, round: round as usize };
            match self.allocator.allocate(&sampled, &mut stream) {
                Allocation::Run(run) => break run,
                Allocation::Resample => round += 1,
            }
        };
        let population = self.params.population;
        world.searches.run += run.len() as u64;
        world.searches.skipped += (population - run.len().min(population)) as u64;
        world.searches.resampled += round * population as u64;
        run.iter().map(|&index| candidates[index].clone()).collect()
    }

    /// The minimiser of the leader's model takes the place of the last chosen candidate, or one
    /// more where there are few.
    fn inject(&mut self, world: &World<'_>) -> Option<usize> {
        let incumbent = self.incumbent.as_ref().filter(|_| world.config.injection.is_on())?;
        let coordinates = &self.model.coordinates;
        let candidate = response::propose(world.spec, coordinates, &self.judged, incumbent, self.radius)?;
        if self.chosen.len() >= 3 {
            self.chosen.pop();
        }
        self.chosen.push(candidate);
        Some(self.chosen.len() - 1)
    }

    /// Where the search for a candidate's answer starts.
    fn start(&self, world: &mut World<'_>, candidate: &Candidate) -> Vec<f64> {
        let whole_guess = match world.config.start {
            StartRule::Expected => false,
            StartRule::Guess => true,
            StartRule::Alternate => self.restart.is_multiple_of(2),
        };
        if whole_guess {
            return candidate.guess.clone();
        }
        let model = world.config.model.is_on().then_some(&self.model);
        start(&mut world.knowledge.ground(world.spec, model, &self.model.coordinates), &candidate.x, &candidate.guess)
    }
}
