//! A margin for whole numbers, so that none of them freezes.
//!
//! A whole number is sampled as a real coordinate and rounded before evaluation. Once the distribution is narrower
//! than the gap between two thresholds (halfway between whole numbers), every sample rounds to the same value, and
//! the coordinate could never change again. So after each update, the marginal of every whole-number coordinate is
//! moved or widened until the values next to the current one keep a probability of alpha = 1 / (n lambda).
//!
//! Source: Hamano, Saito, Nomura and Shirakawa, 2022 (CMA-ES with margin, doi:10.1145/3512290.3528827).
//! Deviation: the widening is folded into C and its path, where the paper keeps a diagonal matrix beside
//! C. No randomness. Cost O(n) for each whole number.

use super::Cma;
use crate::space::{Space, Variable};

impl Cma {
    /// Keeps a probability of `alpha` for the neighbours of every whole number.
    pub(super) fn keep_margin(&mut self, space: &Space, alpha: f64) {
        let n = self.mean.len();
        for (j, variable) in space.iter().enumerate().take(n).filter(|(_, v)| v.is_whole() && !v.is_fixed()) {
            let deviation = self.step_size * self.cov[j * n + j].sqrt();
            if !(deviation > 0.0 && deviation.is_finite()) {
                continue;
            }
            let (mean, widened) = margin(self.mean[j], deviation, variable, alpha);
            self.mean[j] = mean;
            if widened > deviation {
                let factor = widened / deviation;
                (0..n).for_each(|k| self.cov[j * n + k] *= factor);
                (0..n).for_each(|k| self.cov[k * n + j] *= factor);
                self.path_cov[j] *= factor;
            }
        }
    }
}

/// Mean and deviation of a marginal with its margin.
fn margin(mean: f64, deviation: f64, variable: Variable, alpha: f64) -> (f64, f64) {
    let value = variable.nearest(mean);
    let (below, above) = (value - 0.5, value + 0.5);
    // At an end of the box there is only one threshold; the mean moves close enough to it.
    let reach = upper_quantile(alpha) * deviation;
    if value <= variable.low {
        return (mean.max(above - reach), deviation);
    }
    if value >= variable.high {
        return (mean.min(below + reach), deviation);
    }
    let least = 0.5 * alpha;
    let down = upper_tail((mean - below) / deviation);
    let up = upper_tail((above - mean) / deviation);
    if down >= least && up >= least {
        return (mean, deviation);
    }
    // Probabilities are raised to alpha / 2, and the rest is adjusted so that all three sum to 1 again.
    let middle = 1.0 - down - up;
    let (down, up) = (down.max(least), up.max(least));
    let share = (1.0 - down - up - middle) / (down + up + middle - 3.0 * least);
    let [to_below, to_above] = [down, up].map(|chance| upper_quantile(chance + share * (chance - least)));
    let widened = 1.0 / (to_below + to_above);
    (below + to_below * widened, widened.max(deviation))
}

/// P(N(0, 1) > z)
fn upper_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The z >= 0 with P(N(0, 1) > z) = `chance`, by bisection: exact enough, and the same everywhere.
fn upper_quantile(chance: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if upper_tail(middle) > chance { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Kind;

    const ALPHA: f64 = 0.01;

    fn number(low: f64, high: f64) -> Variable {
        Variable { low, high, kind: Kind::Whole }
    }

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        assert!((upper_quantile(0.025) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!((upper_quantile(0.5)).abs() < 1e-12);
        assert!((upper_tail(upper_quantile(1e-6)) - 1e-6).abs() < 1e-18);
    }

    #[test]
    fn a_binary_keeps_a_chance_to_change() {
        for (mean, sign) in [(1.0, 1.0), (0.0, -1.0)] {
            let (moved, deviation) = margin(mean, 0.05, number(0.0, 1.0), ALPHA);
            assert_eq!(deviation, 0.05);
            let chance = upper_tail(sign * (moved - 0.5) / deviation);
            assert!((chance - ALPHA).abs() < 1e-9, "{chance}");
        }
        assert_eq!(margin(0.7, 0.5, number(0.0, 1.0), ALPHA), (0.7, 0.5), "wide enough already");
    }

    #[test]
    fn a_whole_number_inside_keeps_both_neighbours() {
        let (mean, deviation) = margin(3.0, 0.01, number(0.0, 9.0), ALPHA);
        let (down, up) = (upper_tail((mean - 2.5) / deviation), upper_tail((3.5 - mean) / deviation));
        assert!((down - 0.5 * ALPHA).abs() < 1e-9 && (up - 0.5 * ALPHA).abs() < 1e-9, "{down} {up}");
        let (mean, deviation) = margin(3.45, 0.1, number(0.0, 9.0), ALPHA);
        let (down, up) = (upper_tail((mean - 2.5) / deviation), upper_tail((3.5 - mean) / deviation));
        assert!(down > 0.49 * ALPHA && up > 0.2, "{down} {up}: the likely side stays likely");
    }

    #[test]
    fn only_whole_numbers_are_touched_and_c_stays_symmetric() {
        let space = Space::new().real("a", 0.0, 9.0).whole("n", 0.0, 9.0);
        let mut cma = Cma::round(vec![4.2, 4.0], 1e-3);
        (cma.cov[1], cma.cov[2]) = (0.5, 0.5);
        cma.keep_margin(&space, ALPHA);
        assert_eq!((cma.mean[0], cma.cov[0]), (4.2, 1.0));
        assert!(cma.cov[3] > 1e4 && cma.cov[1] == cma.cov[2] && cma.cov[1] > 50.0, "{:?}", cma.cov);
    }
}
