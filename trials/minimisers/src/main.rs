//! Which constrained minimiser works on the surrogates: our own sequence of quadratic problems, or a crate's?
//!
//! Random objectives with random constraints are fitted by the surrogate of `bilevo-core`, as in a run, and its
//! predictions minimised within a box by each candidate, from the centre. Printed: how often a candidate ends
//! within 1e-6 of the best feasible value that any of them found (relative to the spread of the objective), how
//! often it is feasible at all, model evaluations (a value and a gradient count one each), and time.
//!
//! `cargo run --release` in this folder. The modules are links to those of the engine, not copies.

#![allow(dead_code, missing_docs, unreachable_pub)]

mod linalg;
mod minimise;
mod rng;
mod surrogate;

use minimise::{Constraints, Landscape, Region, Slice};
use rng::{Purpose, Streams};
use std::cell::Cell;
use std::time::Instant;
use surrogate::{Sample, Surrogate};

/// A landscape that counts how often it is asked.
struct Counted<'a> {
    slice: Slice<'a>,
    asked: usize,
}

impl Landscape for Counted<'_> {
    fn dim(&self) -> usize {
        self.slice.dim()
    }
    fn outputs(&self) -> usize {
        self.slice.outputs()
    }
    fn values(&mut self, z: &[f64], into: &mut [f64]) {
        self.asked += 1;
        self.slice.values(z, into);
    }
    fn gradients(&mut self, z: &[f64], into: &mut [f64]) {
        self.asked += 1;
        self.slice.gradients(z, into);
    }
    fn hessian(&mut self, z: &[f64], weights: &[f64], into: &mut [f64]) {
        self.asked += 1;
        self.slice.hessian(z, weights, into);
    }
    fn gradient_covariance(&mut self) -> Vec<f64> {
        self.slice.gradient_covariance()
    }
    fn variance(&self, output: usize) -> f64 {
        self.slice.variance(output)
    }
}

/// A fitted problem: objective and constraints over the box [-radius, radius]^n, with the constraints' values
/// at the centre.
struct Problem {
    model: Surrogate,
    centre: Vec<f64>,
    radius: f64,
    n: usize,
}

fn problem(seed: u64, n: usize, constraints: usize, radius: f64) -> Problem {
    let mut stream = Streams::new(seed).open(Purpose::Start, 0, 0);
    let mut normals = |count: usize| -> Vec<f64> { (0..count).map(|_| stream.normal()).collect() };
    let len = 2 * n + n * n / 4 + 10;
    let points: Vec<f64> = normals(len * n).iter().map(|v| 0.5 * radius * v).collect();
    let mut values = Vec::new();
    let mut centre = Vec::new();
    for output in 0..=constraints {
        let (slope, waves, at) = (normals(n), normals(n), normals(n));
        let bend: Vec<f64> = normals(n).iter().map(|v| v.abs() + if output == 0 { -0.3 } else { 0.0 }).collect();
        let function = |z: &[f64]| -> f64 {
            (0..n).map(|i| slope[i] * z[i] + bend[i] * (z[i] - 0.3 * at[i]).powi(2) + 0.1 * (3.0 * waves[i] * z[i]).sin()).sum()
        };
        let zero = function(&vec![0.0; n]);
        values.extend(points.chunks_exact(n).map(|z| function(z) - zero));
        // Some constraints hold at the centre, some are violated there.
        if output > 0 {
            centre.push(radius * (normals(1)[0] - 0.5));
        }
    }
    let sample = Sample { points, values, len };
    let mut lengths = vec![1.0; n];
    Problem { model: Surrogate::fit(&sample, 1 + constraints, &mut lengths, 0, false), centre, radius, n }
}

/// Where a candidate ended, and what that took.
struct End {
    value: f64,
    violation: f64,
    asked: usize,
    micros: f64,
}

impl Problem {
    fn at(&self, z: &[f64]) -> (f64, f64) {
        let mut values = vec![0.0; 1 + self.centre.len()];
        self.model.values(z, &mut values);
        let excess = values[1..].iter().zip(&self.centre).map(|(v, c)| (c + v).max(0.0)).fold(0.0, f64::max);
        (values[0], excess)
    }

    fn end(&self, z: &[f64], asked: usize, start: Instant) -> End {
        let micros = start.elapsed().as_secs_f64() * 1e6;
        let inside: Vec<f64> = z.iter().map(|v| v.clamp(-self.radius, self.radius)).collect();
        let (value, violation) = self.at(&inside);
        End { value, violation, asked, micros }
    }

    fn own(&self) -> End {
        let start = Instant::now();
        let mut counted = Counted { slice: Slice::new(&self.model, &[]), asked: 0 };
        let region = Region { radius: self.radius, low: vec![-self.radius; self.n], high: vec![self.radius; self.n] };
        let constraints = Constraints { inequalities: self.centre.len(), centre: &self.centre };
        let zeros = vec![0.0; self.centre.len()];
        let step = minimise::minimise(&mut counted, &region, constraints, &vec![0.0; self.n], &zeros);
        self.end(&step.z, counted.asked, start)
    }

    /// Value and gradient of one function of the model, as the crates ask for them.
    fn function<'a>(
        &'a self,
        output: usize,
        asked: &'a Cell<usize>,
    ) -> impl Fn(&[f64], Option<&mut [f64]>, &mut ()) -> f64 + 'a {
        move |z, gradient, (): &mut ()| {
            let (n, outputs) = (self.n, 1 + self.centre.len());
            asked.set(asked.get() + usize::from(output == 0));
            if let Some(gradient) = gradient {
                asked.set(asked.get() + usize::from(output == 0));
                let mut all = vec![0.0; outputs * n];
                self.model.gradients(z, 0, &mut all);
                gradient.copy_from_slice(&all[output * n..][..n]);
            }
            let mut values = vec![0.0; outputs];
            self.model.values(z, &mut values);
            values[output] + if output == 0 { 0.0 } else { self.centre[output - 1] }
        }
    }

    fn slsqp(&self) -> End {
        let (start, asked) = (Instant::now(), Cell::new(0));
        let constraints: Vec<_> = (1..=self.centre.len()).map(|output| self.function(output, &asked)).collect();
        let bounds = vec![(-self.radius, self.radius); self.n];
        let tolerances = slsqp::StopTols { ftol_rel: 0.0, ftol_abs: 0.0, xtol_rel: 0.0, xtol_abs: vec![1e-7 * self.radius; self.n] };
        let ended =
            slsqp::minimize(self.function(0, &asked), &vec![0.0; self.n], &bounds, &constraints, (), 200, Some(tolerances));
        let z = match ended {
            Ok((_, z, _)) => z,
            Err((_, z, _)) => z,
        };
        self.end(&z, asked.get(), start)
    }

    fn cobyla(&self) -> End {
        let (start, asked) = (Instant::now(), Cell::new(0));
        let plain = |output: usize| {
            let function = self.function(output, &asked);
            move |z: &[f64], nothing: &mut ()| function(z, None, nothing)
        };
        let constraints: Vec<_> = (1..=self.centre.len()).map(plain).collect();
        let bounds = vec![(-self.radius, self.radius); self.n];
        let tolerances = cobyla::StopTols { ftol_rel: 0.0, ftol_abs: 0.0, xtol_rel: 0.0, xtol_abs: vec![1e-7 * self.radius; self.n] };
        let rho = cobyla::RhoBeg::All(0.5 * self.radius);
        let ended = cobyla::minimize(
            plain(0), &vec![0.0; self.n], &bounds, &constraints, (), 2000, rho, Some(tolerances),
        );
        let z = match ended {
            Ok((_, z, _)) => z,
            Err((_, z, _)) => z,
        };
        self.end(&z, asked.get(), start)
    }
}

fn main() {
    const RUNS: u64 = 100;
    println!("| variables, constraints | minimiser | best of 100 | feasible where any is | model evaluations | µs |");
    println!("|---|---|---|---|---|---|");
    for (n, constraints) in [(3, 1), (5, 2), (10, 3), (20, 4)] {
        let mut rows = [("own", [0.0; 4]), ("slsqp", [0.0; 4]), ("cobyla", [0.0; 4])];
        let mut solvable = 0;
        for seed in 1..=RUNS {
            let problem = problem(seed, n, constraints, 0.4);
            let ends = [problem.own(), problem.slsqp(), problem.cobyla()];
            let feasible = |end: &End| end.violation <= 1e-7 && end.value.is_finite();
            let best = ends.iter().filter(|end| feasible(end)).map(|end| end.value).fold(f64::INFINITY, f64::min);
            solvable += u64::from(best.is_finite());
            let spread = problem.model.variance(0).sqrt();
            for ((_, sums), end) in rows.iter_mut().zip(&ends) {
                let found = feasible(end) && end.value <= best + 1e-6 * spread;
                let counts = [f64::from(u8::from(found)), f64::from(u8::from(feasible(end))), end.asked as f64, end.micros];
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        for (name, [found, feasible, asked, micros]) in rows {
            let (asked, micros) = (asked / RUNS as f64, micros / RUNS as f64);
            println!("| {n}, {constraints} | {name} | {found} | {feasible} of {solvable} | {asked:.0} | {micros:.0} |");
        }
    }
}
