//! Problems with a planted optimum: `planted:SEED`, with features drawn from the seed, or
//! `planted:SEED:ties,active` with exactly those named (`plain` for none).
//!
//! The leader's variables stand for a point u and the follower's for a point v (`dress`); u* is planted and
//! r(u) is a smooth response. With w = u − u* and d = v − r(u),
//!
//! F = F* + Σ upper terms of (w, d),  f = f* + e·w + Σ lower terms of (w, d),
//!
//! where every term is smallest where it is 0 (`pieces`). A feature adds one or two such terms, transforms the
//! variables (`dress`), or changes evaluations. So the optimum is known for every combination of features, and
//! [`Planted::proof`] explains why.

mod dress;
mod features;
mod pieces;

pub use features::Feature;

use bilevo_core::config::PositionKind;
use bilevo_core::problem::{BestKnown, BilevelProblem, Failure, Level, LevelSpec, LowerConstraints, ProblemSpec};
use bilevo_core::rng::{Purpose, Stream, Streams};
use dress::{Cut, Dress, power};
use pieces::{Bowl, Edge, Forbidden, Jump, Piece, Shape, Straying, Ties, Wall, WallKind, between};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Standard deviation of noise.
const NOISE: f64 = 0.05;
/// How far the failing region is from the optimum, and its radius.
const FAILS: (f64, f64) = (1.5, 0.7);
/// The most by which a component of the response moves.
const RESPONSE: f64 = 1.5;

/// A problem whose optimum is known by construction.
pub struct Planted {
    spec: ProblemSpec,
    features: Vec<Feature>,
    pieces: Vec<Box<dyn Piece>>,
    /// The piece that owns the follower's last coordinate.
    tie: Option<Box<dyn Piece>>,
    upper: Dress,
    lower: Dress,
    /// u* and r(u*).
    planted: [Vec<f64>; 2],
    /// The response's slopes, n rows of m.
    slopes: Vec<Vec<f64>>,
    /// e
    tilt: Vec<f64>,
    /// F*, f*
    values: [f64; 2],
    /// Units of F, f, and the constraints of both levels.
    units: [f64; 4],
    /// The middle of the region where everything fails.
    fails: Option<Vec<f64>>,
    /// How often each point was evaluated, if values are noisy.
    noise: Option<Mutex<HashMap<u64, u64>>>,
}

/// How far an answer is from the right one, in plain units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// F − F*; `None` if there is no feasible decision.
    pub error: Option<f64>,
    /// Violation of both levels.
    pub violation: f64,
    /// How much better the follower's best answer is.
    pub gap: f64,
}

thread_local! {
    /// Scratch for w and d, so that an evaluation allocates nothing.
    static POINT: RefCell<(Vec<f64>, Vec<f64>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

impl Planted {
    /// The problem called `name`, of a seed, with features or random ones, and a size or a random one.
    ///
    /// # Errors
    /// Features that do not exist or exclude one another.
    pub fn new(name: &str, seed: u32, features: Option<&str>, dims: Option<(usize, usize)>) -> Result<Planted, String> {
        let streams = Streams::new(seed.into());
        let open = |part: u64| streams.open(Purpose::Instance, 0x706c_616e, part);
        let features = features.map_or_else(|| Ok(features::draw(&mut open(0))), features::read)?;
        let (m, n) = dims.unwrap_or_else(|| features::sizes(&mut open(1)));
        let has = |feature: Feature| features.contains(&feature);
        let stream = &mut open(2);
        let tie = tie(&features, stream);
        let free = n - usize::from(tie.is_some());
        let edges = if has(Feature::Edge) {
            [Some(m - 1).filter(|_| m > 1 || tie.is_none()), (free > 0).then_some(0)]
        } else {
            [None; 2]
        };
        let pieces = pieces(&features, stream, (m, free), edges);
        let planted = [m, n].map(|count| (0..count).map(|_| between(stream, -2.0, 2.0)).collect::<Vec<f64>>());
        let mut slopes: Vec<Vec<f64>> =
            (0..n).map(|_| (0..m).map(|_| 0.7 * stream.normal() / (m as f64).sqrt()).collect()).collect();
        if let Some(edge) = edges[1] {
            slopes[edge].fill(0.0);
        }
        let tilt = (0..m).map(|_| between(stream, -1.0, 1.0)).collect();
        let values = [0, 1].map(|_| between(stream, 1.0, 2.0) * if stream.below(2) == 0 { -1.0 } else { 1.0 });
        let cut =
            |edge| Cut { rotated: has(Feature::Rotated), units: has(Feature::Units), wide: has(Feature::Wide), edge };
        let upper = Dress::new(stream, &planted[0], 3.0, cut(edges[0]));
        let lower = Dress::new(stream, &planted[1], RESPONSE + 1.7, cut(edges[1]));
        let units = [6, 6, 3, 3].map(|largest| if has(Feature::Units) { power(stream, largest) } else { 1.0 });
        let away: Vec<f64> = pieces::direction(stream, m).iter().map(|v| FAILS.0 * v).collect();
        let fails = has(Feature::Fails).then_some(away);
        let noise = has(Feature::Noise).then(Mutex::default);
        let levels = [&upper, &lower].map(|dress| LevelSpec::boxed(dress.bounds.clone()));
        let [upper_spec, lower_spec] = levels;
        let spec = ProblemSpec::new(name, upper_spec, lower_spec);
        let mut made =
            Planted { spec, features, pieces, tie, upper, lower, planted, slopes, tilt, values, units, fails, noise };
        made.describe();
        Ok(made)
    }

    /// Adds constraints, ties and the optimum to the specification.
    fn describe(&mut self) {
        let has = |feature: Feature| self.features.contains(&feature);
        let (m, n) = (self.spec.upper.dim(), self.spec.lower.dim());
        let count = |level, equality| {
            let mut g = Vec::new();
            self.constraints(level, equality, &vec![0.0; m], &vec![0.0; n], &mut g);
            g.len()
        };
        let counts = [Level::Upper, Level::Lower].map(|level| [false, true].map(|equality| count(level, equality)));
        let infeasible = has(Feature::Infeasible);
        let shared = has(Feature::Shared);
        let pessimistic = has(Feature::Worst);
        for (level, [inequalities, equalities]) in [&mut self.spec.upper, &mut self.spec.lower].into_iter().zip(counts)
        {
            (level.inequalities, level.equalities) = (inequalities, equalities);
        }
        self.spec.equality_tolerance *= self.units[2].max(self.units[3]);
        if shared {
            self.spec.lower_constraints = LowerConstraints::Shared;
        }
        if pessimistic {
            self.spec.position = PositionKind::Pessimistic;
        }
        if !infeasible {
            let [upper, lower] = [0, 1].map(|i| self.values[i] * self.units[i]);
            self.spec.best_known = vec![BestKnown { upper, lower: Some(lower) }];
        }
    }

    /// Its features.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The planted point; `None` if there is no feasible decision.
    pub fn optimum(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let x = self.upper.stands(&self.planted[0]);
        (!self.spec.best_known.is_empty()).then(|| (x.clone(), self.answer_to(&vec![0.0; x.len()])))
    }

    /// The follower's answer to x that counts.
    pub fn answer(&self, x: &[f64]) -> Vec<f64> {
        self.answer_to(&self.distance(x))
    }

    fn distance(&self, x: &[f64]) -> Vec<f64> {
        let mut w = Vec::new();
        self.upper.plain(x, &mut w);
        w.iter_mut().zip(&self.planted[0]).for_each(|(w, at)| *w -= at);
        w
    }

    fn answer_to(&self, w: &[f64]) -> Vec<f64> {
        let mut d = vec![0.0; self.spec.lower.dim()];
        if let Some(tie) = &self.tie {
            tie.answer(w, &mut d);
        }
        let v: Vec<f64> = d.iter().enumerate().map(|(j, d)| d + self.response(w, j)).collect();
        self.lower.stands(&v)
    }

    /// Component j of r(u).
    fn response(&self, w: &[f64], j: usize) -> f64 {
        let s: f64 = self.slopes[j].iter().zip(w).map(|(a, w)| a * w).sum();
        self.planted[1][j] + RESPONSE * s / (1.0 + s * s).sqrt()
    }

    /// Writes w and d.
    fn place(&self, x: &[f64], y: &[f64], w: &mut Vec<f64>, d: &mut Vec<f64>) {
        self.upper.plain(x, w);
        w.iter_mut().zip(&self.planted[0]).for_each(|(w, at)| *w -= at);
        self.lower.plain(y, d);
        for (j, d) in d.iter_mut().enumerate() {
            *d -= self.response(w, j);
        }
    }

    /// The pieces, each with the part of d that it may see.
    fn parts<'a>(&'a self, d: &'a [f64]) -> impl Iterator<Item = (&'a dyn Piece, &'a [f64])> {
        let free = &d[..d.len() - usize::from(self.tie.is_some())];
        self.pieces.iter().map(move |piece| (&**piece, free)).chain(self.tie.iter().map(move |tie| (&**tie, d)))
    }

    /// The level's objective minus its value at the optimum and minus what depends on x alone.
    fn terms(&self, level: Level, w: &[f64], d: &[f64]) -> f64 {
        let term = |(piece, d): (&dyn Piece, &[f64])| match level {
            Level::Upper => piece.upper(w, d),
            Level::Lower => piece.lower(w, d),
        };
        self.parts(d).map(term).sum()
    }

    /// The constraints of a level of one kind, in plain units.
    fn constraints(&self, level: Level, equality: bool, w: &[f64], d: &[f64], g: &mut Vec<f64>) {
        let shares = self.features.contains(&Feature::Shared);
        for (piece, d) in self.parts(d).filter(|(piece, _)| piece.equality() == equality) {
            if level == Level::Upper {
                piece.upper_constraints(w, d, g);
            }
            if level == Level::Lower || shares {
                piece.lower_constraints(w, d, g);
            }
        }
    }

    /// How far an answer is from the right one, without noise and in plain units.
    pub fn judge(&self, x: &[f64], y: &[f64]) -> Judged {
        let (mut w, mut d) = (Vec::new(), Vec::new());
        self.place(x, y, &mut w, &mut d);
        let violation = [Level::Upper, Level::Lower].map(|level| {
            let (mut g, mut h) = (Vec::new(), Vec::new());
            self.constraints(level, false, &w, &d, &mut g);
            self.constraints(level, true, &w, &d, &mut h);
            g.iter().map(|g| g.max(0.0)).chain(h.iter().map(|h| h.abs())).sum::<f64>()
        });
        Judged {
            error: (!self.spec.best_known.is_empty()).then(|| self.terms(Level::Upper, &w, &d)),
            violation: violation.iter().sum(),
            gap: self.terms(Level::Lower, &w, &d).max(0.0),
        }
    }

    /// Why the planted point is optimal, in words.
    pub fn proof(&self) -> String {
        let [upper, lower] = self.values;
        let mut words = vec![
            "F − F* and f are sums of terms; below, each is smallest where it is 0, and above, none is negative at the follower's answers.".to_string(),
        ];
        words.extend(self.parts(&vec![0.0; self.spec.lower.dim()]).map(|(piece, _)| piece.words().to_string()));
        words.extend(
            self.fails.is_some().then(|| "Evaluations fail in a region that does not hold the optimum.".into()),
        );
        words.extend(
            self.noise
                .is_some()
                .then(|| format!("Values are noisy, with a standard deviation of {NOISE} in plain units.")),
        );
        let end = if self.spec.best_known.is_empty() {
            "So no decision is feasible.".into()
        } else {
            format!(
                "So no decision is better than the planted one, where F* = {upper:.6} and f* = {lower:.6} before units."
            )
        };
        words.push(end);
        words.join("\n")
    }

    /// A new random value for every evaluation of a point; the same values in every run.
    fn noise(&self, level: Level, x: &[f64], y: &[f64]) -> f64 {
        let Some(seen) = &self.noise else { return 0.0 };
        let bits = x.iter().chain(y).map(|v| v.to_bits());
        let key = bits.fold(level as u64, |key, bits| (key.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let times = seen.entry(key).or_default();
        *times += 1;
        NOISE * Streams::new(key).open(Purpose::Instance, 1, *times).normal()
    }
}

/// The piece that owns the follower's last coordinate, if a feature needs one.
fn tie(features: &[Feature], stream: &mut Stream) -> Option<Box<dyn Piece>> {
    let wish = between(stream, 0.1, 0.5) * if stream.below(2) == 0 { -1.0 } else { 1.0 };
    let ties = |pessimistic| Box::new(Ties { half: 0.7, wish, pessimistic }) as Box<dyn Piece>;
    features.iter().find_map(|feature| match feature {
        Feature::Ties => Some(ties(false)),
        Feature::Worst => Some(ties(true)),
        Feature::TiePoint => Some(Box::new(Jump::Point(wish)) as Box<dyn Piece>),
        Feature::Toll => Some(Box::new(Jump::Toll)),
        _ => None,
    })
}

/// All pieces except the tie, for m upper and `free` lower coordinates.
fn pieces(
    features: &[Feature],
    stream: &mut Stream,
    (m, free): (usize, usize),
    edges: [Option<usize>; 2],
) -> Vec<Box<dyn Piece>> {
    let has = |feature: Feature| features.contains(&feature);
    let shape = match () {
        () if has(Feature::Waves) => Shape::Waves(Shape::weights(stream, free)),
        () if has(Feature::Valley) => Shape::Valley(Shape::weights(stream, free)),
        () if has(Feature::Deceptive) && free > 0 => Shape::deceptive(stream, free),
        () => Shape::Convex(Shape::weights(stream, free)),
    };
    let straying = if has(Feature::Conflict) { -1.0 } else { 1.0 };
    let bowl = Bowl::new(stream, m, if has(Feature::Rough) { 0.5 } else { 0.0 });
    let mut pieces: Vec<Box<dyn Piece>> = vec![Box::new(bowl), Box::new(shape), Box::new(Straying(straying))];
    let walls =
        [(Feature::Active, WallKind::Side), (Feature::Equal, WallKind::Equation), (Feature::Narrow, WallKind::Narrow)];
    for (feature, kind) in walls {
        // One alone still needs a constraint to share.
        if has(feature)
            || (feature == Feature::Active && has(Feature::Shared) && !has(Feature::Equal) && !has(Feature::Narrow))
        {
            pieces.push(Box::new(Wall::new(stream, true, m, kind)));
            if free > 0 {
                pieces.push(Box::new(Wall::new(stream, false, free, kind)));
            }
        }
    }
    for (above, edge) in [true, false].into_iter().zip(edges) {
        pieces.extend(edge.map(|coordinate| Box::new(Edge { above, coordinate }) as Box<dyn Piece>));
    }
    pieces.extend(has(Feature::Infeasible).then(|| Box::new(Forbidden) as Box<dyn Piece>));
    pieces
}

impl BilevelProblem for Planted {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>) -> Result<f64, Failure> {
        if x.len() != self.spec.upper.dim() || y.len() != self.spec.lower.dim() {
            return Err(crate::fixed::wrong_size(&self.spec, x, y).into());
        }
        POINT.with_borrow_mut(|(w, d)| {
            self.place(x, y, w, d);
            if let Some(middle) = &self.fails
                && middle.iter().zip(&*w).map(|(p, w)| (w - p) * (w - p)).sum::<f64>() < FAILS.1 * FAILS.1
            {
                return Err("planted: no value in this region".into());
            }
            self.constraints(level, false, w, d, constraints);
            self.constraints(level, true, w, d, constraints);
            let (which, unit) = if level == Level::Upper { (0, self.units[2]) } else { (1, self.units[3]) };
            constraints.iter_mut().for_each(|g| *g *= unit);
            let tilt: f64 =
                if level == Level::Lower { self.tilt.iter().zip(&*w).map(|(e, w)| e * w).sum() } else { 0.0 };
            let value = self.values[which] + tilt + self.terms(level, w, d) + self.noise(level, x, y);
            Ok(value * self.units[which])
        })
    }
}

#[cfg(test)]
mod tests;
