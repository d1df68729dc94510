//! What planted problems are made of.
//!
//! A piece sees w = u − u*, the leader's distance from the planted decision, and d = v − r(u), the
//! follower's from the planted response, and adds terms to F and f and constraints to either level. Two
//! promises make the pieces compose:
//!
//! 1. *Below.* Where the piece's lower constraints hold, its lower term is at least 0, whatever w is, and 0 at
//!    [`Piece::answer`].
//! 2. *Above.* At the follower's answers that meet its upper constraints, the upper term is at least 0 (in the
//!    pessimistic position its largest value over the answers is), and 0 at w = 0 and the answer to it.
//!
//! So f − k(u) is a sum of terms that are all smallest at the answer, and F − F* is at least 0 at every
//! decision and 0 at the planted one.

use bilevo_core::rng::Stream;

/// A part of a planted problem.
pub(super) trait Piece: Send + Sync {
    /// The term of f.
    fn lower(&self, _w: &[f64], _d: &[f64]) -> f64 {
        0.0
    }
    /// The term of F.
    fn upper(&self, _w: &[f64], _d: &[f64]) -> f64 {
        0.0
    }
    /// Pushes `g <= 0`, or `h = 0` if [`Piece::equality`].
    fn lower_constraints(&self, _w: &[f64], _d: &[f64], _g: &mut Vec<f64>) {}
    /// The same above.
    fn upper_constraints(&self, _w: &[f64], _d: &[f64], _g: &mut Vec<f64>) {}
    /// Whether its constraints are equations.
    fn equality(&self) -> bool {
        false
    }
    /// Sets the follower's answer to w that counts; it arrives as 0.
    fn answer(&self, _w: &[f64], _d: &mut [f64]) {}
    /// Why both promises hold.
    fn words(&self) -> &'static str;
}

pub(super) fn between(stream: &mut Stream, low: f64, high: f64) -> f64 {
    low + (high - low) * stream.uniform()
}

fn several(stream: &mut Stream, count: usize, low: f64, high: f64) -> Vec<f64> {
    (0..count).map(|_| between(stream, low, high)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn squares(weights: &[f64], at: &[f64]) -> f64 {
    weights.iter().zip(at).map(|(weight, v)| weight * v * v).sum()
}

/// A direction of length 1.
pub(super) fn direction(stream: &mut Stream, dim: usize) -> Vec<f64> {
    let raw: Vec<f64> = (0..dim).map(|_| stream.normal()).collect();
    let length = dot(&raw, &raw).sqrt().max(1e-9);
    raw.iter().map(|v| v / length).collect()
}

/// The leader's bowl.
pub(super) struct Bowl(Vec<f64>, f64);

impl Bowl {
    /// Smooth, or with waves of a height.
    pub(super) fn new(stream: &mut Stream, m: usize, waves: f64) -> Self {
        Bowl(several(stream, m, 0.5, 2.0), waves)
    }
}

impl Piece for Bowl {
    fn upper(&self, w: &[f64], _d: &[f64]) -> f64 {
        squares(&self.0, w) + self.1 * w.iter().map(|w| 1.0 - libm::cos(4.0 * w)).sum::<f64>()
    }
    fn words(&self) -> &'static str {
        "The leader's bowl, a sum of squares (and of 1 − cos), is smallest at the planted decision."
    }
}

/// How the follower's basins look, in the coordinates that no tie owns.
pub(super) enum Shape {
    Convex(Vec<f64>),
    Waves(Vec<f64>),
    Valley(Vec<f64>),
    /// Weights, the false basin's place and its value.
    Deceptive(Vec<f64>, Vec<f64>, f64),
}

/// What the false basin would pay the leader, and its radius.
const BRIBE: f64 = 4.0;
const RADIUS: f64 = 0.8;

impl Shape {
    pub(super) fn weights(stream: &mut Stream, n: usize) -> Vec<f64> {
        several(stream, n, 0.5, 2.0)
    }

    pub(super) fn deceptive(stream: &mut Stream, n: usize) -> Shape {
        let away: Vec<f64> = direction(stream, n).iter().map(|v| 1.2 * v).collect();
        Shape::Deceptive(Shape::weights(stream, n), away, between(stream, 0.1, 0.3))
    }
}

impl Piece for Shape {
    fn lower(&self, _w: &[f64], d: &[f64]) -> f64 {
        match self {
            Shape::Convex(weights) => squares(weights, d),
            Shape::Waves(weights) => {
                let waves = weights.iter().zip(d).map(|(_, d)| 0.4 * (1.0 - libm::cos(6.0 * d)));
                squares(weights, d) + waves.sum::<f64>()
            }
            Shape::Valley(weights) => {
                let bent = |pair: &[f64]| 5.0 * (pair[1] - pair[0] * pair[0]).powi(2);
                let d = d.get(..weights.len()).unwrap_or_default();
                let first = weights.first().zip(d.first()).map_or(0.0, |(weight, d)| weight * d * d);
                first + d.windows(2).map(bent).sum::<f64>()
            }
            Shape::Deceptive(weights, away, value) => {
                let other: f64 = away.iter().zip(d).map(|(a, d)| 0.5 * (d - a) * (d - a)).sum();
                squares(weights, d).min(value + other)
            }
        }
    }
    fn upper(&self, _w: &[f64], d: &[f64]) -> f64 {
        let Shape::Deceptive(_, away, _) = self else { return 0.0 };
        let off: f64 = away.iter().zip(d).map(|(a, d)| (d - a) * (d - a)).sum();
        -BRIBE * (1.0 - off / (RADIUS * RADIUS)).max(0.0).powi(2)
    }
    fn words(&self) -> &'static str {
        match self {
            Shape::Convex(_) => "The follower's bowl is smallest at the planted response alone.",
            Shape::Waves(_) => "The follower's squares and waves 1 − cos are all 0 at the planted response alone.",
            Shape::Valley(_) => {
                "The follower's valley is a sum of squares that vanish together only at the planted response."
            }
            Shape::Deceptive(..) => {
                "The follower has a second, wider basin whose floor is higher; what it would pay the leader ends before the planted response."
            }
        }
    }
}

/// What the leader gains or loses when the follower strays.
pub(super) struct Straying(pub(super) f64);

impl Piece for Straying {
    fn upper(&self, _w: &[f64], d: &[f64]) -> f64 {
        self.0 * d.iter().map(|d| d * d / (1.0 + d * d)).sum::<f64>()
    }
    fn words(&self) -> &'static str {
        if self.0 < 0.0 {
            "The leader would gain if the follower strayed, but the follower does not."
        } else {
            "The leader loses if the follower strays."
        }
    }
}

/// The follower is indifferent in its last coordinate as long as |d| is at most `half`.
pub(super) struct Ties {
    pub(super) half: f64,
    /// The leader's wish within it.
    pub(super) wish: f64,
    pub(super) pessimistic: bool,
}

impl Piece for Ties {
    fn lower(&self, _w: &[f64], d: &[f64]) -> f64 {
        let over = (last(d).abs() - self.half).max(0.0);
        2.0 * over * over
    }
    fn upper(&self, _w: &[f64], d: &[f64]) -> f64 {
        let lost = |d: f64| (d - self.wish) * (d - self.wish);
        lost(last(d)) - if self.pessimistic { lost(self.far()) } else { 0.0 }
    }
    fn answer(&self, _w: &[f64], d: &mut [f64]) {
        let at = if self.pessimistic { self.far() } else { self.wish };
        d.iter_mut().next_back().into_iter().for_each(|d| *d = at);
    }
    fn words(&self) -> &'static str {
        if self.pessimistic {
            "Every answer on a segment is equally good for the follower; the one farthest from the leader's wish counts, and costs the same at every decision."
        } else {
            "Every answer on a segment is equally good for the follower, and the leader's wish is one of them."
        }
    }
}

impl Ties {
    /// The end of the segment that is worst for the leader.
    fn far(&self) -> f64 {
        if self.wish > 0.0 { -self.half } else { self.half }
    }
}

fn last(d: &[f64]) -> f64 {
    d.last().copied().unwrap_or_default()
}

/// The follower's last coordinate, within ±1, goes to one end or the other as the first of w is above or below
/// 0, and is indifferent at 0.
pub(super) enum Jump {
    /// The leader wants an answer between the ends, which only w₁ = 0 allows.
    Point(f64),
    /// The leader earns more the larger w₁ is, until the follower leaves.
    Toll,
}

/// What the leader loses when the follower takes the free road.
const LEFT: f64 = 6.0;

impl Piece for Jump {
    fn lower(&self, w: &[f64], d: &[f64]) -> f64 {
        let slope = w.first().copied().unwrap_or_default();
        // |w₁| is added so that the smallest value is 0; it is a function of x alone.
        slope * last(d) + slope.abs()
    }
    fn lower_constraints(&self, _w: &[f64], d: &[f64], g: &mut Vec<f64>) {
        g.extend([last(d) - 1.0, -last(d) - 1.0]);
    }
    fn upper(&self, w: &[f64], d: &[f64]) -> f64 {
        let (w, d) = (w.first().copied().unwrap_or_default(), last(d));
        match self {
            Jump::Point(wish) => 2.0 * (d - wish) * (d - wish),
            Jump::Toll => 0.5 * LEFT * (1.0 - d) - 0.5 * w * (1.0 + d),
        }
    }
    fn answer(&self, w: &[f64], d: &mut [f64]) {
        let wish = if let Jump::Point(wish) = self { *wish } else { 1.0 };
        let at = w.first().map_or(wish, |&w| if w == 0.0 { wish } else { -w.signum() });
        d.iter_mut().next_back().into_iter().for_each(|d| *d = at);
    }
    fn words(&self) -> &'static str {
        match self {
            Jump::Point(_) => {
                "Only at the planted decision is the follower indifferent, and only there it may answer as the leader wishes; elsewhere it goes to one end or the other, and the leader pays."
            }
            Jump::Toll => {
                "Below the planted toll the follower stays and the leader earns less; above it the follower leaves, which costs more than any toll brings."
            }
        }
    }
}

/// A linear constraint a·z <= 0 (or = 0) through the optimum, with an objective that pushes against it.
pub(super) struct Wall {
    above: bool,
    normal: Vec<f64>,
    /// The multiplier.
    price: f64,
    kind: WallKind,
}

/// What a wall allows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WallKind {
    Side,
    Equation,
    Narrow,
}

/// Width of a narrow set.
const NARROW: f64 = 1e-2;

impl Wall {
    /// A wall above in w, or below in the `free` first coordinates of d.
    pub(super) fn new(stream: &mut Stream, above: bool, free: usize, kind: WallKind) -> Wall {
        Wall { above, normal: direction(stream, free), price: between(stream, 0.5, 2.0), kind }
    }

    fn push(&self, at: &[f64], g: &mut Vec<f64>) {
        let along = dot(&self.normal, at);
        g.push(along);
        if self.kind == WallKind::Narrow {
            g.push(-NARROW - along);
        }
    }
}

impl Piece for Wall {
    fn lower(&self, _w: &[f64], d: &[f64]) -> f64 {
        if self.above { 0.0 } else { -self.price * dot(&self.normal, d) }
    }
    fn upper(&self, w: &[f64], _d: &[f64]) -> f64 {
        if self.above { -self.price * dot(&self.normal, w) } else { 0.0 }
    }
    fn lower_constraints(&self, _w: &[f64], d: &[f64], g: &mut Vec<f64>) {
        if !self.above {
            self.push(d, g);
        }
    }
    fn upper_constraints(&self, w: &[f64], _d: &[f64], g: &mut Vec<f64>) {
        if self.above {
            self.push(w, g);
        }
    }
    fn equality(&self) -> bool {
        self.kind == WallKind::Equation
    }
    fn words(&self) -> &'static str {
        match self.kind {
            WallKind::Side => {
                "A linear constraint through the optimum holds back an objective that pushes against it: the push is a price times a value that may not be positive."
            }
            WallKind::Equation => {
                "An equation through the optimum holds: the objective's push along it is a price times 0."
            }
            WallKind::Narrow => {
                "Two parallel constraints leave a thin layer, and the objective pushes against the one through the optimum."
            }
        }
    }
}

/// A push against a side of the box that holds the optimum: the coordinate cannot be smaller than planted.
pub(super) struct Edge {
    pub(super) above: bool,
    pub(super) coordinate: usize,
}

impl Piece for Edge {
    fn lower(&self, _w: &[f64], d: &[f64]) -> f64 {
        if self.above { 0.0 } else { d[self.coordinate] }
    }
    fn upper(&self, w: &[f64], _d: &[f64]) -> f64 {
        if self.above { w[self.coordinate] } else { 0.0 }
    }
    fn words(&self) -> &'static str {
        "The optimum lies on a side of the box, and the objective grows away from that side."
    }
}

/// The leader forbids what the follower answers, whatever the decision.
pub(super) struct Forbidden;

impl Piece for Forbidden {
    fn upper_constraints(&self, _w: &[f64], d: &[f64], g: &mut Vec<f64>) {
        g.push(0.5 - d.iter().map(|d| d * d).sum::<f64>());
    }
    fn words(&self) -> &'static str {
        "The leader wants an answer away from the planted response, which the follower never gives: no decision is feasible."
    }
}
