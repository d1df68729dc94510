//! A survey of the leader's box: does F have a basin in which no search has ended?
//!
//! Restarts that agree may all have started in the same basin of the leader. The survey solves the follower roughly,
//! side by side, at a few decisions that are spread evenly over the box (a Latin hypercube), and evaluates F there. A
//! decision that is better than its nearest neighbours, which include the ends of earlier searches, is a *dent*: it
//! lies in a basin of its own, and a descent starts there.
//!
//! Source: topographical global optimisation (Törn and Viitanen, 1992). Randomness: `Purpose::Position`.

use super::{End, Ground, Rows, Search, Shape, Wanted, latin_hypercube};
use crate::portfolio::archive::{Archive, Learner};
use crate::portfolio::claim::{Claim, Scales};
use crate::portfolio::follower::{Effort, Follower, Knowledge, apart, predict};
use crate::portfolio::merit::Merit;
use crate::problem::Level;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// The number of decisions: this many, plus this many for each variable of the leader.
const COUNT: (usize, usize) = (10, 5);
/// The accuracy of an answer, and the first radius of its search.
const TOLERANCE: f64 = 0.03;
const RADIUS: f64 = 0.1;
/// The first length of the kernel.
const LENGTH: f64 = 0.3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Lower: the followers of all decisions.
    Follow,
    /// Upper: F of their answers.
    Judge,
    Ended(End),
}

/// The survey.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Survey {
    m: usize,
    stage: Stage,
    followers: Vec<Follower>,
    /// Where they start, until that is evaluated, and which of them wait for a value.
    starts: Vec<Vec<f64>>,
    waiting: Vec<usize>,
    knowledge: Knowledge,
    /// Where earlier searches ended.
    ends: Vec<Claim>,
    dents: Vec<Claim>,
}

impl Survey {
    /// A survey that knows the ends of earlier searches.
    pub(in crate::portfolio) fn new(shape: Shape, archive: &Archive, ends: Vec<Claim>, mut stream: Stream) -> Self {
        let (m, n) = (shape.upper[0], shape.lower[0]);
        let learner = Learner::new(vec![LENGTH; m + n], archive.lower.len());
        let merit = Merit::new(shape.lower[1], shape.lower[2]);
        let mut knowledge = Knowledge { learner, merit };
        let effort = Effort { radius: RADIUS, tolerance: TOLERANCE, evaluations: 10 + 4 * n };
        let (mut followers, mut starts) = (Vec::new(), Vec::new());
        for x in latin_hypercube(COUNT.0 + COUNT.1 * m, m, &mut stream) {
            let near = ends.iter().min_by(|a, b| apart(&a.x, &x).total_cmp(&apart(&b.x, &x)));
            let (y, instead) = match near {
                Some(base) => {
                    let (y, instead) = predict(base, &x, TOLERANCE, &archive.lower, &mut knowledge);
                    (y, Some(instead))
                }
                None => (vec![0.5; n], None),
            };
            followers.push(Follower::new(x, y.clone(), Vec::new(), effort).or(instead));
            starts.push(y);
        }
        let stage = Stage::Follow;
        Survey { m, stage, followers, starts, waiting: Vec::new(), knowledge, ends, dents: Vec::new() }
    }

    /// The decisions from which descents are to start, best first.
    pub(in crate::portfolio) fn into_dents(self) -> Vec<Claim> {
        self.dents
    }

    /// The next points of all followers.
    fn follow(&mut self, archive: &Archive, wanted: &mut Wanted) {
        self.waiting.clear();
        for (i, follower) in self.followers.iter_mut().enumerate() {
            let start = Some(std::mem::take(&mut self.starts[i])).filter(|y| !y.is_empty());
            if let Some(y) = start.or_else(|| follower.next(&archive.lower, &mut self.knowledge)) {
                wanted.push(&follower.x, &y);
                self.waiting.push(i);
            }
        }
    }
}

/// The claims that are better than all of their nearest neighbours, among themselves and `ends`; best first.
fn dents(claims: &[Claim], ends: &[Claim], scales: &Scales) -> Vec<Claim> {
    let is_dent = |i: &usize| {
        let claim = &claims[*i];
        let others = claims.iter().enumerate().filter(|(k, _)| k != i).map(|(_, other)| other);
        let mut others: Vec<&Claim> = others.chain(ends).collect();
        others.sort_by(|a, b| apart(&a.x, &claim.x).total_cmp(&apart(&b.x, &claim.x)));
        others.iter().take(claim.x.len() + 1).all(|other| scales.compare(claim, other).is_lt())
    };
    let mut found: Vec<Claim> = (0..claims.len()).filter(is_dent).map(|i| claims[i].clone()).collect();
    found.sort_by(|a, b| scales.compare(a, b));
    found
}

impl Search for Survey {
    fn ask(&mut self, ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clear(Level::Lower);
        if self.stage == Stage::Follow {
            self.follow(ground.archive, wanted);
            if wanted.is_empty() {
                self.stage = Stage::Judge;
                self.followers.retain(|follower| !follower.row.is_empty());
            }
        }
        if self.stage == Stage::Judge {
            wanted.clear(Level::Upper);
            self.followers.iter().for_each(|follower| wanted.push(&follower.x, &follower.y));
            if wanted.is_empty() {
                self.stage = Stage::Ended(End::Lost);
            }
        }
    }

    fn tell(&mut self, ground: &Ground<'_>, wanted: &Wanted, rows: &Rows) {
        if self.stage == Stage::Follow {
            for ((&i, point), row) in self.waiting.iter().zip(wanted.iter()).zip(rows) {
                self.followers[i].tell(&point[self.m..], row, &self.knowledge.merit);
            }
            return;
        }
        let judged = self.followers.iter().zip(rows).filter(|(_, row)| !row.is_empty());
        let claim = |(follower, row): (&Follower, &Vec<f64>)| Claim {
            x: follower.x.clone(),
            y: follower.y.clone(),
            upper: row.clone(),
            lower: follower.row.clone(),
            settled: follower.settled,
        };
        let claims: Vec<Claim> = judged.map(claim).collect();
        self.dents = dents(&claims, &self.ends, ground.scales);
        self.stage = Stage::Ended(End::Converged);
    }

    /// It has none: what it finds is where descents start.
    fn claim(&self) -> Option<Claim> {
        None
    }

    fn end(&self) -> Option<End> {
        match self.stage {
            Stage::Ended(end) => Some(end),
            _ => None,
        }
    }

    fn cut(&mut self) {
        self.stage = Stage::Ended(End::Spent);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, Function, bowl, follows};
    use super::*;
    use crate::rng::Purpose;

    fn end(x: f64, value: f64) -> Claim {
        Claim { x: vec![x], y: vec![x], upper: vec![value], lower: vec![0.0], settled: true }
    }

    /// A survey beside one end; the dents, and the problem with what was evaluated.
    fn survey(upper: Function, lower: Function, ends: Vec<Claim>) -> (Option<End>, Vec<Claim>, Bench) {
        let mut bench = Bench::new(upper, lower);
        let stream = bench.ground().streams.open(Purpose::Position, 0, 0);
        let mut search = Survey::new(bench.shape(), &bench.archive, ends, stream);
        let end = bench.run(&mut search);
        (end, search.into_dents(), bench)
    }

    /// The better bowl is the one at 0.2.
    fn two_bowls(p: &[f64]) -> Vec<f64> {
        vec![((p[0] - 0.2).powi(2) - 0.1).min((p[0] - 0.8).powi(2))]
    }

    #[test]
    fn answers_are_found_roughly_at_decisions_all_over_the_box() {
        let (ended, _, bench) = survey(bowl, follows, vec![end(0.45, 0.045)]);
        assert_eq!(ended, Some(End::Converged));
        let mut stripes: Vec<usize> = bench.judged().iter().map(|p| (15.0 * p[0]) as usize).collect();
        stripes.sort_unstable();
        assert_eq!(stripes, (0..15).collect::<Vec<_>>());
        assert!(bench.judged().iter().all(|p| (p[1] - p[0]).abs() < 2.0 * TOLERANCE), "{:?}", bench.judged());
        // Fourteen for each follower at most, but they learn from each other.
        assert!(bench.trace.len() < 15 * 8, "{}", bench.trace.len());
    }

    #[test]
    fn a_basin_without_an_end_has_a_dent() {
        let (_, dents, _) = survey(two_bowls, follows, vec![end(0.8, 0.0)]);
        assert_eq!(dents.len(), 1);
        assert!((dents[0].x[0] - 0.2).abs() < 0.1, "{dents:?}");
        // One with an end has none.
        let (_, dents, _) = survey(two_bowls, follows, vec![end(0.8, 0.0), end(0.2, -0.1)]);
        assert_eq!(dents, []);
    }

    #[test]
    fn a_dent_is_better_than_its_two_nearest_neighbours_with_one_variable() {
        let bench = Bench::new(bowl, follows);
        let claims = [end(0.1, 3.0), end(0.3, 2.0), end(0.5, 4.0), end(0.7, 1.0), end(0.9, 5.0)];
        let values =
            |ends: &[Claim]| -> Vec<f64> { dents(&claims, ends, &bench.scales).iter().map(Claim::value).collect() };
        assert_eq!(values(&[]), [1.0, 2.0], "the best first");
        assert_eq!(values(&[end(0.72, 0.9)]), [2.0], "an end close by that is better");
        assert_eq!(values(&[end(0.72, 1.0)]), [2.0], "equals are no dents");
        assert_eq!(values(&[end(0.0, 0.0)]), [1.0, 2.0], "one that is far away does not count");
    }

    #[test]
    fn where_every_evaluation_fails_there_is_nothing_to_see() {
        let failing: Function = |p| if p[0] == 0.5 { vec![0.0] } else { Vec::new() };
        let (ended, dents, bench) = survey(bowl, failing, Vec::new());
        assert_eq!((ended, dents.len(), bench.judged().len()), (Some(End::Lost), 0, 0));
    }
}
