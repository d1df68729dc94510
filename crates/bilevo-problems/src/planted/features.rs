//! The features of planted problems by name.

use super::pieces::between;
use bilevo_core::rng::Stream;

/// A feature of a planted problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// Many local optima below.
    Waves,
    /// A curved valley below.
    Valley,
    /// A false basin of the follower, in which the leader would gain.
    Deceptive,
    /// The leader gains if the follower deviates.
    Conflict,
    /// Many local optima above.
    Rough,
    /// A segment of equally good answers, of which the best for the leader counts.
    Ties,
    /// The same, but the worst counts.
    Worst,
    /// The follower is indifferent at a single decision, the optimal one.
    TiePoint,
    /// The response is piecewise constant, and the optimum is at its step.
    Toll,
    /// Constraints at both levels, active at the optimum.
    Active,
    /// Equations at both levels.
    Equal,
    /// The upper level lists the lower constraints, too.
    Shared,
    /// Feasible sets that are thin layers, at both levels.
    Narrow,
    /// No feasible decision at all.
    Infeasible,
    /// Both levels rotated.
    Rotated,
    /// Units over twelve orders of magnitude.
    Units,
    /// Boxes far too wide.
    Wide,
    /// The optimum on a side of the box, at both levels where possible.
    Edge,
    /// A region of decisions where every evaluation fails.
    Fails,
    /// Noise at both levels.
    Noise,
}

use Feature::{
    Active, Conflict, Deceptive, Edge, Equal, Fails, Infeasible, Narrow, Noise, Rotated, Rough, Shared, TiePoint, Ties,
    Toll, Units, Valley, Waves, Wide, Worst,
};

impl Feature {
    /// All features with their names and how often a random problem has them.
    pub const ALL: [(Feature, &'static str, f64); 20] = [
        (Waves, "waves", 0.15),
        (Valley, "valley", 0.15),
        (Deceptive, "deceptive", 0.15),
        (Conflict, "conflict", 0.5),
        (Rough, "rough", 0.1),
        (Ties, "ties", 0.1),
        (Worst, "worst", 0.04),
        (TiePoint, "tie-point", 0.06),
        (Toll, "toll", 0.06),
        (Active, "active", 0.25),
        (Equal, "equal", 0.08),
        (Shared, "shared", 0.05),
        (Narrow, "narrow", 0.05),
        (Infeasible, "infeasible", 0.02),
        (Rotated, "rotated", 0.3),
        (Units, "units", 0.15),
        (Wide, "wide", 0.1),
        (Edge, "edge", 0.1),
        (Fails, "fails", 0.08),
        (Noise, "noise", 0.0),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Feature::ALL.iter().find(|(feature, ..)| *feature == self).map_or("", |(_, name, _)| name)
    }
}

/// Features that exclude each other.
const EXCLUSIVE: [&[Feature]; 6] = [
    &[Waves, Valley, Deceptive],
    &[Ties, Worst, TiePoint, Toll, Infeasible],
    &[Active, Equal, Narrow],
    &[Rotated, Edge],
    &[Infeasible, Fails, Noise],
    // A thin layer in a far too wide box would be a needle.
    &[Wide, Equal, Narrow, Fails],
];

/// Reads names with commas between; `plain` is none.
///
/// # Errors
/// What is wrong, with the way out.
pub(super) fn read(text: &str) -> Result<Vec<Feature>, String> {
    let mut features = Vec::new();
    for name in text.split(',').filter(|name| *name != "plain") {
        let Some((feature, ..)) = Feature::ALL.iter().find(|(_, known, _)| *known == name) else {
            let names: Vec<&str> = Feature::ALL.iter().map(|(_, name, _)| *name).collect();
            return Err(format!("there is no feature `{name}`\nhint: plain, or some of {}", names.join(", ")));
        };
        if let Some(other) = features.iter().find(|other| excludes(**other, *feature)) {
            let other = other.name();
            return Err(format!("`{other}` and `{name}` exclude one another\nhint: leave one of them out"));
        }
        features.push(*feature);
    }
    Ok(features)
}

fn excludes(a: Feature, b: Feature) -> bool {
    EXCLUSIVE.iter().any(|group| group.contains(&a) && group.contains(&b))
}

/// Features at random.
pub(super) fn draw(stream: &mut Stream) -> Vec<Feature> {
    let mut features: Vec<Feature> = Vec::new();
    // In random order, so that no feature is always the first of its group.
    for index in stream.choose(Feature::ALL.len(), Feature::ALL.len()) {
        let (feature, _, share) = Feature::ALL[index];
        if stream.uniform() < share && !features.iter().any(|other| excludes(*other, feature)) {
            features.push(feature);
        }
    }
    features.sort_unstable();
    features
}

/// Numbers of variables at random: small ones most of the time, up to 10+10.
pub(super) fn sizes(stream: &mut Stream) -> (usize, usize) {
    let mut size = || match stream.below(100) {
        0..25 => 1,
        25..55 => 2,
        55..75 => 3,
        75..88 => 4,
        88..95 => 5,
        _ => between(stream, 6.0, 10.99) as usize,
    };
    (size(), size())
}
