//! Axes: the position of a value between two ends, and the ticks.

/// How values are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    Log,
    Linear,
}

/// How ticks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// `20k`
    Count,
    /// `10⁻⁶` on a logarithmic axis, plain decimals on a linear one.
    Value,
    /// `40 %`
    Percent,
}

/// An axis from `low` to `high`, `low < high`, both positive if logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) spread: Spread,
    pub(crate) label: Label,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Axis {
    /// An axis that contains every finite value (every positive one, if logarithmic).
    pub(crate) fn around(values: impl Iterator<Item = f64>, spread: Spread, label: Label) -> Axis {
        let usable = values.filter(|v| v.is_finite() && (spread == Spread::Linear || *v > 0.0));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = match spread {
            _ if low > high => (1.0, 10.0),
            // A little room, so that no curve touches the frame.
            Spread::Log => (low / 1.15, high * 1.15),
            Spread::Linear if low == high => (low - low.abs().max(1.0) / 2.0, high + high.abs().max(1.0) / 2.0),
            Spread::Linear => (low - 0.04 * (high - low), high + 0.04 * (high - low)),
        };
        let high = if high.is_finite() { high } else { f64::MAX };
        Axis { spread, label, low: low.max(f64::MIN), high }
    }

    /// The position of a value: 0 at the low end, 1 at the high end, clamped in between.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            Spread::Log if value <= 0.0 => 0.0,
            Spread::Log => libm::log(value / self.low) / libm::log(self.high / self.low),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Tick values with their labels, at most about `count`.
    pub(crate) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let values = match self.spread {
            Spread::Linear => self.linear_ticks(count),
            Spread::Log => self.log_ticks(count),
        };
        values.into_iter().map(|v| (v, self.tick_label(v))).collect()
    }

    fn linear_ticks(&self, count: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / count.max(1) as f64;
        let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough).unwrap_or(rough);
        if !(step.is_finite() && step > 0.0) {
            return Vec::new();
        }
        let first = libm::ceil(self.low / step);
        (0..=2 * count).map(|k| (first + k as f64) * step).take_while(|v| *v <= self.high).collect()
    }

    fn log_ticks(&self, count: usize) -> Vec<f64> {
        let (low, high) = (libm::log10(self.low), libm::log10(self.high));
        let inside = |v: &f64| (self.low..=self.high).contains(v);
        let (first, last) = (libm::floor(low) as i32, libm::ceil(high) as i32);
        let decades = high - low;
        let multiples: &[f64] = match decades {
            d if d < 1.0 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            d if d < 1.6 => &[1.0, 2.0, 5.0],
            d if d < 2.2 && count > 4 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let stride = (libm::ceil(decades / count.max(1) as f64) as i32).max(1);
        let mut ticks = Vec::new();
        for exponent in (first..=last).filter(|e| e.rem_euclid(stride) == 0) {
            ticks.extend(multiples.iter().map(|m| m * libm::pow(10.0, f64::from(exponent))).filter(inside));
        }
        ticks
    }

    fn tick_label(&self, value: f64) -> String {
        match self.label {
            Label::Percent => format!("{value:.0} %"),
            Label::Count if value >= 1e6 => format!("{}M", trimmed(value / 1e6)),
            Label::Count if value >= 1e3 => format!("{}k", trimmed(value / 1e3)),
            Label::Count => trimmed(value),
            Label::Value if self.spread == Spread::Log => power(value),
            Label::Value => trimmed(value),
        }
    }
}

fn trimmed(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// `10⁻⁶`, `3×10²`.
fn power(value: f64) -> String {
    let exponent = libm::floor(libm::log10(value) + 1e-9);
    let multiple = value / libm::pow(10.0, exponent);
    let digits: String = format!("{exponent:.0}")
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '0' => '⁰',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4' => '⁴',
            '5' => '⁵',
            '6' => '⁶',
            '7' => '⁷',
            '8' => '⁸',
            _ => '⁹',
        })
        .collect();
    if multiple < 1.5 { format!("10{digits}") } else { format!("{multiple:.0}×10{digits}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_ticks_are_powers() {
        let axis = Axis::around([1e-6, 100.0].into_iter(), Spread::Log, Label::Value);
        let labels: Vec<String> = axis.ticks(5).into_iter().map(|t| t.1).collect();
        assert_eq!(labels, ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰", "10²"]);
        assert_eq!(axis.place(axis.low), 0.0);
        assert_eq!(axis.place(axis.high), 1.0);
    }

    #[test]
    fn linear_ticks_are_round() {
        let axis = Axis::around([0.0, 97.0].into_iter(), Spread::Linear, Label::Percent);
        let labels: Vec<String> = axis.ticks(5).into_iter().map(|t| t.1).collect();
        assert_eq!(labels, ["0 %", "50 %", "100 %"]);
    }

    #[test]
    fn odd_values_neither_panic_nor_flood() {
        let odd = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, -f64::MAX, 1.0];
        for spread in [Spread::Log, Spread::Linear] {
            for a in odd {
                for b in odd {
                    let axis = Axis::around([a, b].into_iter(), spread, Label::Value);
                    assert!(axis.ticks(5).len() < 20, "{a} {b}");
                    assert!((0.0..=1.0).contains(&axis.place(a)));
                }
            }
        }
    }
}
