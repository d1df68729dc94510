//! A look around the elite: decisions that differ from it by one move or one exchange and were not tried
//! yet take the places of some sampled candidates. A distribution learns which values go together; that
//! the best decision has no better neighbour is seen by trying them.
//!
//! Candidates are rounded here, so that the same decision is recognised as the same. Randomness: the
//! sampling round's own stream.

use crate::candidate::Candidate;
use crate::rng::Stream;
use crate::space::Space;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Decisions remembered as tried at most.
const REMEMBERED: usize = 100_000;

/// What was tried, and around what to look.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Neighbours {
    share: f64,
    /// Best (x, y) of the run.
    pub(super) elite: Option<(Vec<f64>, Vec<f64>)>,
    tried: BTreeSet<Vec<u64>>,
}

impl Neighbours {
    pub(super) fn new(share: f64) -> Self {
        Neighbours { share, elite: None, tried: BTreeSet::new() }
    }

    /// Rounds the candidates and replaces the last ones by neighbours of the elite.
    pub(super) fn join(&mut self, joint: &Space, upper_dim: usize, candidates: &mut [Candidate], stream: &mut Stream) {
        let space: Space = joint.iter().take(upper_dim).collect();
        candidates.iter_mut().for_each(|candidate| space.round(&mut candidate.x));
        if let Some((x, y)) = &self.elite {
            let near = space.moves(x).chain(space.exchanges(x)).filter(|near| !self.tried.contains(&key(near)));
            let near: Vec<Vec<f64>> = near.collect();
            let wanted = (self.share * candidates.len() as f64) as usize;
            let chosen = stream.choose(near.len(), wanted.min(near.len()));
            for (candidate, index) in candidates.iter_mut().rev().zip(chosen) {
                candidate.x.clone_from(&near[index]);
                if candidate.guess.len() == y.len() {
                    candidate.guess.clone_from(y);
                }
            }
        }
        if self.tried.len() < REMEMBERED {
            self.tried.extend(candidates.iter().map(|candidate| key(&candidate.x)));
        }
    }
}

fn key(x: &[f64]) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    #[test]
    fn untried_neighbours_of_the_elite_come_until_there_are_none() {
        let joint = Space::new().binary("a").binary("b").whole("y", 0.0, 9.0);
        let mut stream = Streams::new(1).open(Purpose::Sample, 1, 0);
        let mut neighbours = Neighbours::new(0.5);
        let sampled = || vec![Candidate { x: vec![0.2, 0.9], guess: vec![4.4] }; 4];
        let mut round = |neighbours: &mut Neighbours| -> Vec<Vec<f64>> {
            let mut candidates = sampled();
            neighbours.join(&joint, 2, &mut candidates, &mut stream);
            candidates.into_iter().map(|c| c.x).collect()
        };
        assert_eq!(round(&mut neighbours), vec![vec![0.0, 1.0]; 4], "rounded; nothing known yet");
        neighbours.elite = Some((vec![0.0, 1.0], vec![4.0]));
        let mut second = round(&mut neighbours);
        let third = round(&mut neighbours);
        assert_eq!(second[..2], [[0.0, 1.0], [0.0, 1.0]]);
        second.extend(third);
        let mut found: Vec<Vec<f64>> = second.into_iter().filter(|x| x[..] != [0.0, 1.0]).collect();
        found.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(found, [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], "two moves and one exchange, each once");
        assert_eq!(round(&mut neighbours), vec![vec![0.0, 1.0]; 4]);
    }
}
