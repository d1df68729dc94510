use super::formula::Formula;
use super::*;
use crate::rng::{Purpose, Streams};
use crate::surrogate::{Sample, Surrogate};

type Function<'a> = &'a dyn Fn(&[f64]) -> f64;

/// A model of f and one constraint over (p, u, v), fitted to many points.
fn model(f: impl Fn(&[f64]) -> f64, c: impl Fn(&[f64]) -> f64) -> Surrogate {
    let mut stream = Streams::new(8).open(Purpose::Start, 0, 0);
    let points: Vec<f64> = (0..30 * 3).map(|_| 0.3 * stream.normal()).collect();
    let at_zero = (f(&[0.0; 3]), c(&[0.0; 3]));
    let mut values: Vec<f64> = points.chunks_exact(3).map(|z| f(z) - at_zero.0).collect();
    values.extend(points.chunks_exact(3).map(|z| c(z) - at_zero.1));
    Surrogate::with_lengths(&Sample { points: points.into(), values, len: 30, noise: 0.0 }, 2, &[0.5; 3])
}

/// Best model value over a fine grid of the region, the first variable at `p`.
fn brute_force(model: &Surrogate, region: &Region, p: f64, allowed: impl Fn(&[f64], f64) -> bool) -> f64 {
    let mut best = f64::INFINITY;
    let mut values = [0.0; 2];
    let side = 400;
    for i in 0..=side {
        for j in 0..=side {
            let at = |k: usize| region.radius * (2.0 * k as f64 / side as f64 - 1.0);
            let z = [p, at(i), at(j)];
            let inside = z[1..].iter().zip(region.low.iter().zip(&region.high)).all(|(z, (l, h))| (l..=h).contains(&z));
            model.values(&z, &mut values);
            if inside && allowed(&z, values[1]) {
                best = best.min(values[0]);
            }
        }
    }
    best
}

fn region(radius: f64) -> Region {
    Region { radius, low: vec![-0.2, -1.0], high: vec![1.0, 0.3] }
}

#[test]
fn no_grid_point_is_better_nor_a_near_one_if_there_are_several_minima() {
    let bowl = |z: &[f64]| (z[1] - 0.3).powi(2) + 2.0 * (z[2] + 0.2 - z[0]).powi(2) + z[1] * z[2];
    let saddle = |z: &[f64]| z[1] * z[1] - 2.0 * z[2] * z[2] + z[0] * z[1] - 0.1 * z[2];
    let far = |z: &[f64]| (z[1] + 3.0).powi(2) + (z[2] - 2.0).powi(2);
    let disc = |z: &[f64]| z[1] * z[1] + z[2] * z[2] - 0.04;
    let line = |z: &[f64]| z[1] + z[2] - 0.1 + z[0];
    let objectives: [(Function, bool); 3] = [(&bowl, true), (&saddle, false), (&far, true)];
    let limits: [Function; 2] = [&disc, &line];
    for (f, convex) in objectives {
        for c in limits {
            for (radius, p) in [(0.05, 0.0), (0.4, 0.1), (1.5, -0.1)] {
                let (model, region) = (model(f, c), region(radius));
                let centre = [c(&[0.0; 3])];
                let constraints = Constraints { inequalities: 1, centre: &centre };
                let step = minimise(&mut Slice::new(&model, &[p]), &region, constraints, &[0.0; 2], &[0.0]);
                assert!(step.z.iter().all(|z| z.abs() <= radius * (1.0 + 1e-12)));
                assert!(centre[0] + step.values[1] <= 1e-7, "violated by {}", centre[0] + step.values[1]);
                let best = brute_force(&model, &region, p, |z, c| {
                    let reach = if convex { f64::INFINITY } else { 0.2 * radius };
                    centre[0] + c <= 0.0 && norm(&[z[1] - step.z[0], z[2] - step.z[1]]) <= reach
                });
                assert!(
                    step.values[0] <= best + 2e-3 * best.abs(),
                    "{} {best} at {:?}, radius {radius}",
                    step.values[0],
                    step.z
                );
            }
        }
    }
}

#[test]
fn equalities_are_met_with_their_multiplier() {
    let f = |z: &[f64]| z[1] * z[1] + z[2] * z[2];
    let h = |z: &[f64]| z[1] + 2.0 * z[2] - 0.2;
    let constraints = Constraints { inequalities: 0, centre: &[-0.2] };
    let model = model(f, h);
    let step = minimise(&mut Slice::new(&model, &[0.0]), &region(0.5), constraints, &[0.0; 2], &[0.0]);
    // Minimum of u² + v² on u + 2v = 0.2: (0.04, 0.08), multiplier -0.08; the model is not quite that.
    for (z, expected) in step.z.iter().chain(&step.multipliers).zip([0.04, 0.08, -0.08]) {
        assert!((z - expected).abs() < 1e-4, "{step:?}");
    }
    let mut gradients = [0.0; 4];
    model.gradients(&[0.0, step.z[0], step.z[1]], 1, &mut gradients);
    for i in 0..2 {
        assert!((gradients[i] + step.multipliers[0] * gradients[2 + i]).abs() < 1e-8);
    }
    assert!((step.values[1] - 0.2).abs() < 1e-10);
}

#[test]
fn what_cannot_be_met_is_met_as_far_as_possible() {
    let constraints = Constraints { inequalities: 1, centre: &[1.0] };
    let model = model(|z| z[1], |z| 1.0 - z[1]);
    let step = minimise(&mut Slice::new(&model, &[0.0]), &region(0.1), constraints, &[0.0; 2], &[0.0]);
    assert!((step.z[0] - 0.1).abs() < 1e-3 && step.multipliers[0].is_finite(), "{step:?}");
}

#[test]
fn doubt_falls_with_data_and_spares_what_the_box_holds() {
    let f = |z: &[f64]| z[0] * z[0] + 3.0 * z[1] * z[1] + z[0] * z[1];
    let fit = |points: Vec<f64>| {
        let values = points.chunks_exact(2).map(f).collect();
        let len = points.len() / 2;
        Surrogate::with_lengths(&Sample { points: points.into(), values, len, noise: 0.0 }, 1, &[0.5; 2])
    };
    let none = Constraints { inequalities: 0, centre: &[] };
    let open = Region { radius: 0.2, low: vec![-1.0; 2], high: vec![1.0; 2] };
    let few = fit(vec![0.1, 0.0, 0.0, 0.1, 0.1, 0.1]);
    let many = fit(vec![0.1, 0.0, 0.0, 0.1, 0.1, 0.1, -0.1, 0.0, 0.0, -0.1, 0.1, -0.1]);
    let size = |model: &Surrogate, region: &Region| {
        let mut slice = Slice::new(model, &[]);
        let step = minimise(&mut slice, region, none, &[0.0; 2], &[]);
        doubt(&mut slice, &step).size
    };
    assert!(size(&many, &open) < 0.1 * size(&few, &open));
    let held = Region { low: vec![0.01; 2], high: vec![0.01; 2], ..open };
    assert_eq!(size(&few, &held), 0.0);
}

#[test]
fn a_smooth_function_alone_is_minimised_in_the_ball_and_others_in_the_box_around_it() {
    let region = Region { radius: 0.5, low: vec![-9.0; 2], high: vec![9.0; 2] };
    let downhill = |kinked: bool, constraints: Constraints| {
        let count = constraints.centre.len();
        let row = |first: [f64; 2]| [first.to_vec(), vec![0.0; 2 * count]].concat();
        let values = |z: &[f64]| [vec![-z[0] - z[1]], vec![0.0; count]].concat();
        let mut model = Formula::new(2, values, |_| row([-1.0; 2]), |_| vec![0.0; 4 * (1 + count)]);
        model.kinked = kinked;
        minimise(&mut model, &region, constraints, &[0.0; 2], &vec![0.0; count]).z
    };
    let none = Constraints { inequalities: 0, centre: &[] };
    let close = |found: Vec<f64>, each: f64| assert!(found.iter().all(|z| (z - each).abs() < 1e-6), "{found:?}");
    close(downhill(false, none), 0.125_f64.sqrt());
    close(downhill(true, none), 0.5);
    close(downhill(false, Constraints { inequalities: 1, centre: &[-1.0] }), 0.5);
}
