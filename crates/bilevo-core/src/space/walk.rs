//! Walks over whole-number points: neighbours, exchanges, enumeration. Real variables do not change.

use super::{Space, Variable};

/// Sizes of the moves of a real variable; the smallest is 4^-9 of its width.
const REAL_SIZES: i32 = 9;

impl Space {
    /// Points that differ from `point` by one in one whole number.
    pub fn neighbours<'a>(&'a self, point: &'a [f64]) -> impl Iterator<Item = Vec<f64>> + 'a {
        let one = move |(i, v): (usize, Variable)| {
            let steps = if v.is_whole() { [-1.0, 1.0] } else { [0.0, 0.0] };
            steps.into_iter().filter_map(move |step| moved(point, &[(i, v, step)]))
        };
        self.iter().take(point.len()).enumerate().flat_map(one)
    }

    /// Points that differ from `point` in one variable: a whole number by 1, 4, 16, … up or down, a real one
    /// by 1/4, 1/16, … of its width.
    pub fn moves<'a>(&'a self, point: &'a [f64]) -> impl Iterator<Item = Vec<f64>> + 'a {
        let sizes = |v: Variable| -> Vec<f64> {
            let fits = |size: &f64| *size <= v.width();
            match v.is_whole() {
                true => std::iter::successors(Some(1.0), |size| Some(4.0 * size)).take_while(fits).collect(),
                false => (1..=REAL_SIZES).map(|k| v.width() * 0.25_f64.powi(k)).collect(),
            }
        };
        let one = move |(i, v): (usize, Variable)| {
            let steps = sizes(v).into_iter().flat_map(|size| [-size, size]);
            steps.filter_map(move |step| moved(point, &[(i, v, step)]))
        };
        self.iter().take(point.len()).enumerate().filter(|(_, v)| !v.is_fixed()).flat_map(one)
    }

    /// The same for whole numbers alone.
    pub fn whole_moves<'a>(&'a self, point: &'a [f64]) -> impl Iterator<Item = Vec<f64>> + 'a {
        let alike =
            move |near: &Vec<f64>| self.iter().zip(near.iter().zip(point)).all(|(v, (a, b))| v.is_whole() || a == b);
        self.moves(point).filter(alike)
    }

    /// Points in which one whole number is larger by one than in `point` and another one smaller, as when a packed
    /// item is swapped for another.
    pub fn exchanges<'a>(&'a self, point: &'a [f64]) -> impl Iterator<Item = Vec<f64>> + 'a {
        let n = self.dim().min(point.len());
        let pairs = (0..n).flat_map(move |i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j);
        pairs.filter_map(move |(i, j)| {
            let (up, down) = (self.variable(i), self.variable(j));
            if up.is_whole() && down.is_whole() { moved(point, &[(i, up, 1.0), (j, down, -1.0)]) } else { None }
        })
    }

    /// Number of combinations of whole numbers (saturating); 1 if there are no whole numbers.
    pub fn combinations(&self) -> u64 {
        self.iter().filter_map(|v| v.values()).fold(1, u64::saturating_mul)
    }

    /// All combinations of whole numbers, the last one changing fastest; real variables as in `point`.
    pub fn enumerate(&self, point: &[f64]) -> Enumeration<'_> {
        let mut first = point.to_vec();
        self.iter().zip(&mut first).filter(|(v, _)| v.values().is_some()).for_each(|(v, value)| *value = v.low);
        Enumeration { space: self, next: (self.combinations() > 0).then_some(first) }
    }
}

/// `point` with some variables moved; `None` if that leaves the bounds or changes nothing.
fn moved(point: &[f64], steps: &[(usize, Variable, f64)]) -> Option<Vec<f64>> {
    let fits = |&(i, v, step): &(usize, Variable, f64)| step != 0.0 && v.contains(v.nearest(point[i]) + step);
    steps.iter().all(fits).then(|| {
        let mut other = point.to_vec();
        steps.iter().for_each(|&(i, v, step)| other[i] = v.nearest(point[i]) + step);
        other
    })
}

/// See [`Space::enumerate`].
#[derive(Clone, Debug)]
pub struct Enumeration<'a> {
    space: &'a Space,
    next: Option<Vec<f64>>,
}

impl Iterator for Enumeration<'_> {
    type Item = Vec<f64>;

    fn next(&mut self) -> Option<Vec<f64>> {
        let point = self.next.take()?;
        let mut following = point.clone();
        for (v, value) in self.space.iter().zip(&mut following).rev().filter(|(v, _)| v.values().is_some()) {
            if *value < v.high {
                *value += 1.0;
                self.next = Some(following);
                break;
            }
            *value = v.low;
        }
        Some(point)
    }
}
