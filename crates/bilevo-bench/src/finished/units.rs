//! The same problem in other units, which should not affect an answer.

use bilevo_core::problem::{BestKnown, BilevelProblem, Failure, Level, LevelSpec, ProblemSpec};
use bilevo_core::space::Variable;
use bilevo_problems::BoxedProblem;

/// What variables, objectives and constraints are multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scales {
    /// x
    pub x: f64,
    /// y
    pub y: f64,
    /// F
    pub upper: f64,
    /// f
    pub lower: f64,
    /// Constraints of both levels.
    pub constraints: f64,
    /// Before that, real variables extend at least this far to both sides; infinite for open boxes.
    pub wide: f64,
}

impl Scales {
    /// Nothing changed.
    pub const PLAIN: Scales = Scales { x: 1.0, y: 1.0, upper: 1.0, lower: 1.0, constraints: 1.0, wide: 0.0 };
}

/// The plain units, and the others on request.
pub(super) fn changes(others: bool, wider: Option<f64>) -> Vec<(&'static str, Scales)> {
    let plain = Scales::PLAIN;
    let mut changes = vec![("", plain)];
    if others {
        changes.extend([
            ("x·1e6", Scales { x: 1e6, ..plain }),
            ("y·1e-3", Scales { y: 1e-3, ..plain }),
            ("f·1e-9", Scales { lower: 1e-9, ..plain }),
            ("f·1e6", Scales { lower: 1e6, ..plain }),
            ("F·1e-6", Scales { upper: 1e-6, ..plain }),
            ("F·1e6", Scales { upper: 1e6, ..plain }),
            ("g·1e4", Scales { constraints: 1e4, ..plain }),
            ("all", Scales { x: 1e6, y: 1e-3, upper: 1e6, lower: 1e-9, constraints: 1e4, ..plain }),
        ]);
    }
    changes.extend(wider.map(|wide| ("wider", Scales { wide, ..plain })));
    changes
}

/// A problem in other units.
pub struct Units {
    plain: BoxedProblem,
    scales: Scales,
    spec: ProblemSpec,
}

impl Units {
    /// `plain` with everything multiplied.
    pub fn new(plain: BoxedProblem, scales: Scales) -> Units {
        let mut spec = plain.spec().clone();
        // Counts have no unit: whole numbers stay as they are.
        let wide = |v: Variable, by: f64| {
            let reach = if scales.wide > 0.0 && !v.is_fixed() { scales.wide } else { f64::NEG_INFINITY };
            Variable { low: v.low.min(-reach) * by, high: v.high.max(reach) * by, ..v }
        };
        let stretch = |level: &mut LevelSpec, by: f64| {
            level.space = level.space.iter().map(|v| if v.is_whole() { v } else { wide(v, by) }).collect();
        };
        stretch(&mut spec.upper, scales.x);
        stretch(&mut spec.lower, scales.y);
        for known in &mut spec.best_known {
            let lower = known.lower.map(|value| value * scales.lower);
            *known = BestKnown { upper: known.upper * scales.upper, lower };
        }
        Units { plain, scales, spec }
    }

    /// The point of the plain problem.
    pub fn plain(&self, x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let spec = self.plain.spec();
        let held = self.scales.wide == 0.0;
        (shrunk(x, self.scales.x, &spec.upper, held), shrunk(y, self.scales.y, &spec.lower, held))
    }
}

/// Divided again; `held` in the plain box, which rounding may have left.
fn shrunk(point: &[f64], by: f64, level: &LevelSpec, held: bool) -> Vec<f64> {
    let unit = |whole: bool| if whole { 1.0 } else { by };
    let mut plain: Vec<f64> = level.space.iter().zip(point).map(|(v, p)| p / unit(v.is_whole())).collect();
    if held {
        level.space.clamp(&mut plain);
    }
    plain
}

impl BilevelProblem for Units {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>) -> Result<f64, Failure> {
        let (x, y) = self.plain(x, y);
        let value = self.plain.evaluate(level, &x, &y, constraints)?;
        constraints.iter_mut().for_each(|g| *g *= self.scales.constraints);
        Ok(value * if level == Level::Upper { self.scales.upper } else { self.scales.lower })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_boxes_reach_as_far_to_both_sides() {
        let wider = |wide| Units::new(bilevo_problems::problem("tp1", None).unwrap(), Scales { wide, ..Scales::PLAIN });
        assert!(wider(100.0).spec().upper.space.bounds().iter().all(|b| *b == (-100.0, 100.0)));
        assert!(wider(f64::INFINITY).spec().lower.space.iter().all(|v| v.is_open()));
        assert_eq!(wider(100.0).plain(&[70.0, -70.0], &[1.0, 2.0]).0, [70.0, -70.0]);
    }

    #[test]
    fn values_and_constraints_are_those_of_the_plain_point() {
        let plain = || bilevo_problems::problem("tp3", None).unwrap();
        let scales = Scales { x: 1e6, y: 1e-3, upper: 10.0, lower: 1e-9, constraints: 1e4, ..Scales::PLAIN };
        let units = Units::new(plain(), scales);
        let (x, y) = ([1.5, 2.5], [1.0, 0.5]);
        let (wide, narrow) = (x.map(|v| v * 1e6), y.map(|v| v * 1e-3));
        for (level, by) in [(Level::Upper, 10.0), (Level::Lower, 1e-9)] {
            let (mut g, mut scaled) = (Vec::new(), Vec::new());
            let value = plain().evaluate(level, &x, &y, &mut g).unwrap();
            let other = units.evaluate(level, &wide, &narrow, &mut scaled).unwrap();
            assert!((other - by * value).abs() <= 1e-12 * value.abs() * by);
            assert!(g.iter().zip(&scaled).all(|(g, s)| (1e4 * g - s).abs() < 1e-9) && !g.is_empty());
        }
        assert_eq!(units.spec().upper.space.bounds()[0].1, 1e6 * plain().spec().upper.space.bounds()[0].1);
        assert_eq!(units.spec().best_known[0].upper, 10.0 * plain().spec().best_known[0].upper);
    }

    #[test]
    fn whole_numbers_stay_whole() {
        let plain = || bilevo_problems::problem("integer/mixed", None).unwrap();
        let units = Units::new(plain(), Scales { x: 1e6, ..Scales::PLAIN });
        let (space, before) = (&units.spec().upper.space, plain().spec().upper.space.clone());
        assert_eq!((space.variable(0), space.variable(1).high), (before.variable(0), 1e7));
        assert_eq!(units.plain(&[2.0, 3e6], &[1.0, 0.5]).0, [2.0, 3.0]);
        assert!(units.spec().lower.space.variable(0).is_whole());
    }
}
