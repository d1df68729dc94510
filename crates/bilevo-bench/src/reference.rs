//! The best known values of random problems: a search over decisions, with a follower that is solved globally at
//! every decision. Slow, but it relies on values only.
//!
//! `reference --seeds 1-10 --dims 2+2` prints lines of `crates/bilevo-problems/indefinite.csv`.
//!
//! The follower: every grid point that no neighbour beats starts a compass search; of the answers within `TIE` of the
//! best, the one that is best for the leader counts. The leader: the best grid points that no neighbour beats, and
//! the answers of the default method with some seeds, start a (1+1)-CMA-ES.

use crate::finished::{dims, seeds};
use anyhow::{Context, Result, bail};
use bilevo::source::Named;
use bilevo::{Solver, problems};
use bilevo_core::problem::{BilevelProblem, Level};
use bilevo_core::rng::{Purpose, Stream, Streams};
use rayon::prelude::*;
use std::io::Write;

/// Answers this close to the best one are equally good.
const TIE: f64 = 1e-8;
/// Starts of the leader's search from the grid, and from runs.
const GRID_STARTS: usize = 8;
const RUNS: u64 = 4;
/// Decisions tried in each search of the leader.
const STEPS: usize = 1_200;

/// Prints the table of the options.
///
/// # Errors
/// Options that make no sense.
pub fn print(mut args: impl Iterator<Item = String>, out: &mut impl Write) -> Result<()> {
    let (mut instances, mut size) = ((1..=10).collect(), (2, 2));
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--seeds" => instances = seeds(&value()?)?,
            "--dims" => size = dims(&value()?)?,
            _ => bail!("there is no option {arg}"),
        }
    }
    let lines: Vec<String> = instances.into_par_iter().map(|seed| line(seed, size)).collect::<Result<_>>()?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(())
}

fn line(instance: u64, (m, n): (usize, usize)) -> Result<String> {
    let name = format!("indefinite:{instance}");
    let problem = problems::problem(&name, Some((m, n)))?;
    let search = Search { problem: &*problem, grid: Grid::new(n, if n < 3 { 31 } else { 11 }) };
    let mut starts = search.decisions(Grid::new(m, if m < 3 { 31 } else { 11 }));
    for seed in 1..=RUNS {
        let source = Named::new(problems::problem(&name, Some((m, n)))?, &name, "");
        starts.extend(
            Solver::new(&source).seed(seed).set("stop.target", "off").run()?.solution.map(|solution| solution.x),
        );
    }
    let mut stream = Streams::new(instance).open(Purpose::Sample, 0, 0);
    let ends = starts.into_iter().map(|x| search.descend(x, &mut stream));
    let best = ends.min_by(|a, b| a.upper.total_cmp(&b.upper)).context("nothing to start from")?;
    let list = |values: &[f64]| values.iter().map(|v| format!("{v:?}")).collect::<Vec<_>>().join(" ");
    Ok(format!("{instance},{m},{n},{:?},{:?},{},{}", best.upper, best.lower, list(&best.x), list(&best.y)))
}

/// A decision with the answer that counts.
#[derive(Clone)]
struct Decided {
    x: Vec<f64>,
    y: Vec<f64>,
    upper: f64,
    lower: f64,
}

struct Search<'a> {
    problem: &'a dyn BilevelProblem,
    grid: Grid,
}

impl Search<'_> {
    fn value(&self, level: Level, x: &[f64], y: &[f64]) -> f64 {
        self.problem.evaluate(level, x, y, &mut Vec::new()).unwrap_or(f64::INFINITY)
    }

    /// The answer that counts at x.
    fn decided(&self, x: &[f64]) -> Decided {
        let values: Vec<f64> = self.grid.points.iter().map(|y| self.value(Level::Lower, x, y)).collect();
        let answers: Vec<(f64, Vec<f64>)> =
            self.grid.dents(&values).map(|start| self.settle(x, self.grid.points[start].clone())).collect();
        let lower = answers.iter().map(|(value, _)| *value).fold(f64::INFINITY, f64::min);
        let good = answers.into_iter().filter(|(value, _)| *value <= lower + TIE);
        let rated = good.map(|(_, y)| (self.value(Level::Upper, x, &y), y));
        let (upper, y) = rated.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, Vec::new()));
        Decided { x: x.to_vec(), y, upper, lower }
    }

    /// Steps along the axes, halved when none helps.
    fn settle(&self, x: &[f64], mut y: Vec<f64>) -> (f64, Vec<f64>) {
        let mut best = self.value(Level::Lower, x, &y);
        let mut step = self.grid.spacing;
        while step > 1e-9 {
            let mut moved = false;
            for axis in 0..y.len() {
                for way in [-step, step] {
                    let before = y[axis];
                    y[axis] = (before + way).clamp(-2.0, 2.0);
                    let value = self.value(Level::Lower, x, &y);
                    if value < best {
                        (best, moved) = (value, true);
                    } else {
                        y[axis] = before;
                    }
                }
            }
            if !moved {
                step *= 0.5;
            }
        }
        (best, y)
    }

    /// The best decisions of a grid that no neighbour beats.
    fn decisions(&self, grid: Grid) -> Vec<Vec<f64>> {
        let values: Vec<f64> = grid.points.iter().map(|x| self.decided(x).upper).collect();
        let mut dents: Vec<usize> = grid.dents(&values).collect();
        dents.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        dents.into_iter().take(GRID_STARTS).map(|index| grid.points[index].clone()).collect()
    }

    /// (1+1)-CMA-ES of Igel, Suttorp and Hansen with the Cholesky factor itself.
    fn descend(&self, x: Vec<f64>, stream: &mut Stream) -> Decided {
        let dim = x.len();
        let mut best = self.decided(&x);
        let (mut step, keep) = (0.05, 1.0 - 2.0 / ((dim * dim) as f64 + 6.0));
        let mut factor: Vec<Vec<f64>> = (0..dim).map(|i| (0..dim).map(|j| f64::from(i == j)).collect()).collect();
        for _ in 0..STEPS {
            let z: Vec<f64> = (0..dim).map(|_| stream.normal()).collect();
            let along: Vec<f64> = factor.iter().map(|row| row.iter().zip(&z).map(|(a, z)| a * z).sum()).collect();
            let moved: Vec<f64> = best.x.iter().zip(&along).map(|(x, a)| (x + step * a).clamp(-2.0, 2.0)).collect();
            let there = self.decided(&moved);
            if there.upper <= best.upper {
                let length: f64 = z.iter().map(|z| z * z).sum();
                let stretch = keep.sqrt() / length * ((1.0 + (1.0 - keep) * length / keep).sqrt() - 1.0);
                for (row, a) in factor.iter_mut().zip(&along) {
                    row.iter_mut().zip(&z).for_each(|(v, z)| *v = keep.sqrt() * *v + stretch * a * z);
                }
                (best, step) = (there, step * 1.5);
            } else {
                step *= 0.9;
            }
            if step < 1e-9 {
                break;
            }
        }
        best
    }
}

/// A regular grid over [−2, 2]ᵈ.
struct Grid {
    points: Vec<Vec<f64>>,
    per_side: usize,
    spacing: f64,
}

impl Grid {
    fn new(dim: usize, per_side: usize) -> Grid {
        let spacing = 4.0 / (per_side - 1) as f64;
        let mut points = vec![Vec::new()];
        for _ in 0..dim {
            let longer = |p: &Vec<f64>| {
                let p = p.clone();
                (0..per_side).map(move |i| [&p[..], &[-2.0 + spacing * i as f64]].concat())
            };
            points = points.iter().flat_map(longer).collect();
        }
        Grid { points, per_side, spacing }
    }

    /// Points that no neighbour along an axis beats.
    fn dents<'a>(&'a self, values: &'a [f64]) -> impl Iterator<Item = usize> + 'a {
        let dim = self.points[0].len() as u32;
        (0..values.len()).filter(move |&index| {
            (0..dim).all(|axis| {
                let stride = self.per_side.pow(axis);
                let place = index / stride % self.per_side;
                (place == 0 || values[index - stride] >= values[index])
                    && (place + 1 == self.per_side || values[index + stride] >= values[index])
            })
        })
    }
}
