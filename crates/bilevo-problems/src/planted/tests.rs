use super::*;
use std::collections::BTreeSet;

/// Every feature alone, and some together.
fn wanted() -> Vec<String> {
    let alone = Feature::ALL.iter().map(|(_, name, _)| (*name).to_string());
    let together = [
        "plain",
        "ties,active,conflict",
        "toll,rotated,units",
        "deceptive,equal,shared",
        "worst,edge,wide",
        "tie-point,valley,rough",
        "narrow,waves,rotated",
        "deceptive,conflict,units,wide",
    ];
    alone.chain(together.map(String::from)).collect()
}

fn made(seed: u32, features: &str, dims: (usize, usize)) -> Planted {
    Planted::new("planted", seed, Some(features), Some(dims)).unwrap()
}

/// Value in plain units and violation.
fn at(problem: &Planted, level: Level, x: &[f64], y: &[f64]) -> Option<(f64, f64)> {
    let mut g = Vec::new();
    let value = problem.evaluate(level, x, y, &mut g).ok()?;
    let (which, unit) = if level == Level::Upper { (0, 2) } else { (1, 3) };
    Some((value / problem.units[which], problem.spec.violation(level, &g) / problem.units[unit]))
}

/// Points of a grid over the plain neighbourhood of a centre, kept in the box.
fn grid(dress: &Dress, centre: &[f64], reach: f64, per_side: usize) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::new()];
    for &c in centre {
        let at = |i: usize| c - reach + 2.0 * reach * i as f64 / (per_side - 1) as f64;
        all = all.iter().flat_map(|p: &Vec<f64>| (0..per_side).map(move |i| [&p[..], &[at(i)]].concat())).collect();
    }
    let inside = |z: &[f64]| z.iter().zip(&dress.bounds).map(|(v, (low, high))| v.clamp(*low, *high)).collect();
    all.iter().map(|p| inside(&dress.stands(p))).collect()
}

/// F of a decision by brute force: the answers of a grid and the stated one, the best of them for the follower, and of
/// equally good ones the one that counts.
fn brute(problem: &Planted, x: &[f64], answers: &[Vec<f64>]) -> Option<f64> {
    let stated = problem.answer(x);
    let mut rated = Vec::new();
    for y in answers.iter().chain([&stated]) {
        let (f, violation) = at(problem, Level::Lower, x, y)?;
        if violation <= 1e-9 {
            rated.push((f, y));
        }
    }
    let best = rated.iter().map(|(f, _)| *f).fold(f64::INFINITY, f64::min);
    let upper =
        |y: &[f64]| at(problem, Level::Upper, x, y).filter(|(_, violation)| *violation <= 1e-9).map(|(value, _)| value);
    let good = rated.iter().filter(|(f, _)| *f <= best + 1e-9 * best.abs().max(1.0));
    if problem.features.contains(&Feature::Worst) {
        good.filter_map(|(_, y)| upper(y)).reduce(f64::max)
    } else {
        good.filter_map(|(_, y)| upper(y)).reduce(f64::min)
    }
}

#[test]
fn brute_force_agrees_with_what_was_planted() {
    for features in wanted().iter().filter(|features| *features != "noise") {
        for (dims, decisions, replies) in [((1, 1), 61, 201), ((2, 2), 13, 31)] {
            for seed in 1..=2 {
                let problem = made(seed, features, dims);
                let label = format!("{seed}:{features} {dims:?}");
                let answers = grid(&problem.lower, &problem.planted[1], 2.5, replies);
                let mut xs = grid(&problem.upper, &problem.planted[0], 2.5, decisions);
                xs.push(problem.upper.stands(&problem.planted[0]));
                let found = xs.iter().filter_map(|x| brute(&problem, x, &answers)).reduce(f64::min);
                if problem.spec.best_known.is_empty() {
                    assert_eq!(found, None, "{label}");
                } else {
                    let found = found.unwrap();
                    assert!(
                        (found - problem.values[0]).abs() < 1e-8,
                        "{label}: {found}, planted {}",
                        problem.values[0]
                    );
                }
            }
        }
    }
}

#[test]
fn the_planted_point_is_feasible_in_the_box_and_judged_right() {
    for features in wanted() {
        for dims in [(1, 1), (2, 2), (3, 5), (10, 10)] {
            let problem = made(3, &features, dims);
            let Some((x, y)) = problem.optimum() else { continue };
            let spec = problem.spec();
            let close = |z: &[f64], space: &bilevo_core::space::Space| {
                z.iter()
                    .zip(space.bounds())
                    .all(|(z, (low, high))| *z >= low - 1e-9 * low.abs() && *z <= high + 1e-9 * high.abs())
            };
            assert!(close(&x, &spec.upper.space) && close(&y, &spec.lower.space), "{features} {dims:?}");
            let judged = problem.judge(&x, &y);
            assert!(
                judged.error.unwrap().abs() < 1e-9 && judged.violation < 1e-9 && judged.gap < 1e-9,
                "{features}: {judged:?}"
            );
            let (f, violation) = at(&problem, Level::Lower, &x, &y).unwrap();
            assert!(
                violation < 1e-9 && ((f - problem.values[1]).abs() < 1e-9 || problem.noise.is_some()),
                "{features}"
            );
        }
    }
}

#[test]
fn seeds_give_other_problems_and_all_features_come_up() {
    let drawn: Vec<Planted> = (1..400).map(|seed| Planted::new("planted", seed, None, None).unwrap()).collect();
    let seen: BTreeSet<Feature> = drawn.iter().flat_map(|problem| problem.features.clone()).collect();
    assert_eq!(seen.len(), Feature::ALL.len() - 1, "all but noise, which is asked for by name");
    assert!(drawn.iter().all(|problem| problem.spec.check().is_ok()));
    let largest = drawn.iter().map(|problem| problem.spec.dim()).max();
    assert!(largest > Some(15) && drawn.iter().any(|problem| problem.spec.dim() == 2));
}

#[test]
fn a_repeated_point_is_another_draw_and_the_same_in_another_run() {
    let values = || {
        let problem = made(1, "noise", (2, 2));
        [0; 400].map(|_| problem.evaluate(Level::Upper, &[0.5, 0.5], &[0.5, 0.5], &mut Vec::new()).unwrap())
    };
    let (first, second) = (values(), values());
    assert!(first == second && first[0] != first[1]);
    let mean = first.iter().sum::<f64>() / 400.0;
    let spread = (first.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 400.0).sqrt();
    assert!((spread - NOISE).abs() < 0.01, "{spread}");
}

#[test]
fn features_that_cannot_be_are_refused_with_a_hint() {
    for (features, words) in
        [("tie", "there is no feature `tie`"), ("waves,valley", "exclude one another"), ("", "no feature")]
    {
        let message = Planted::new("planted", 1, Some(features), None).err().unwrap();
        assert!(message.contains(words) && message.contains("hint"), "{message}");
    }
}

#[test]
fn wrong_answers_are_judged_wrong() {
    let problem = made(5, "deceptive,active", (2, 2));
    let (x, y) = problem.optimum().unwrap();
    let elsewhere: Vec<f64> = x.iter().map(|v| v + 0.3).collect();
    let answered = problem.judge(&elsewhere, &problem.answer(&elsewhere));
    assert!(answered.gap < 1e-9 && (answered.error.unwrap() > 0.01 || answered.violation > 0.01));
    let strayed: Vec<f64> = y.iter().map(|v| v + 0.3).collect();
    assert!(problem.judge(&x, &strayed).gap > 0.01 || problem.judge(&x, &strayed).violation > 0.01);
}

#[test]
fn the_proof_names_every_piece() {
    let proof = made(1, "ties,active,fails", (2, 3)).proof();
    for words in ["equally good", "linear constraint", "fail in a region", "F* ="] {
        assert!(proof.contains(words), "{proof}");
    }
    assert!(made(1, "infeasible", (1, 1)).proof().contains("no decision is feasible"));
}
