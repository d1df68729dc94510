//! The opening of a generation: sample, allocate, inject, open the follower searches.

use super::{Opening, Population, Stage, World};
use crate::allocate::{Allocation, Sampled};
use crate::candidate::Candidate;
use crate::jq::config::StartRule;
use crate::jq::coordinates::Coordinates;
use crate::jq::follower::{Follower, sample, start};
use crate::jq::response;
use crate::jq::searches::Searches;
use crate::rng::Purpose;

/// Corners of the box in a generation that is spread over it, at most.
const CORNERS: usize = 16;

impl Population {
    /// Chooses candidates and opens their searches.
    pub(super) fn open_generation(&mut self, world: &mut World<'_>) {
        self.generation += 1;
        let coordinates = Coordinates::new(&self.cma, world.spec.upper.dim());
        world.knowledge.teach(&mut self.model, Some(coordinates));
        self.chosen = match self.opening {
            Opening::Spread => self.spread(world),
            _ => self.choose(world),
        };
        if self.opening == Opening::Centred {
            let (x, guess) = self.cma.mean.split_at(world.spec.upper.dim());
            self.chosen.insert(0, Candidate { x: x.to_vec(), guess: guess.to_vec() });
            self.opening = Opening::Sampled;
        }
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
        let bounds: Vec<(f64, f64)> =
            world.spec.upper.space.bounds().iter().chain(world.spec.lower.space.bounds()).copied().collect();
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

    /// Decisions all over the box: its centre, its corners (some of them where there are many), and
    /// random ones.
    fn spread(&self, world: &mut World<'_>) -> Vec<Candidate> {
        let (upper, lower) = (world.spec.upper.space.bounds(), world.spec.lower.space.bounds());
        let mut stream = world.streams.open(Purpose::Sample, self.generation, 0);
        let mut inside = |bounds: &[(f64, f64)]| -> Vec<f64> {
            bounds.iter().map(|&(low, high)| low + (high - low) * stream.uniform()).collect()
        };
        let mut chosen = vec![Candidate {
            x: upper.iter().map(|&(low, high)| 0.5 * low + 0.5 * high).collect(),
            guess: inside(lower),
        }];
        let all = u32::try_from(upper.len()).ok().and_then(|m| 1_usize.checked_shl(m)).filter(|all| *all <= CORNERS);
        for corner in 0..all.unwrap_or(CORNERS) {
            let at = inside(upper);
            let pick = |(i, (&(low, high), at)): (usize, (&(f64, f64), &f64))| {
                let is_high = if all.is_some() { corner >> i & 1 == 1 } else { at - low > high - at };
                if is_high { high } else { low }
            };
            let x = upper.iter().zip(&at).enumerate().map(pick).collect();
            chosen.push(Candidate { x, guess: inside(lower) });
        }
        chosen.extend((0..2 * self.params.population).map(|_| Candidate { x: inside(upper), guess: inside(lower) }));
        world.searches.run += chosen.len() as u64;
        chosen
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
        if whole_guess || self.accuracy > 0.0 {
            return candidate.guess.clone();
        }
        let model = world.config.model.is_on().then_some(&self.model);
        start(&mut world.knowledge.ground(world.spec, model, &self.model.coordinates), &candidate.x, &candidate.guess)
    }
}
