//! The problem files of the repository: their best-known values are proven, false ones never.

use bilevo_core::config::PositionKind;
use bilevo_core::problem::BilevelProblem;
use bilevo_problems::file::{self, ExpressionProblem, ProblemFile};
use bilevo_proof::{FollowerVerdict, LeaderVerdict, Limits, Problem, follower, leader};
use std::path::Path;

/// All files with formulas in a folder, in order.
pub(crate) fn folder(place: &str) -> Vec<ExpressionProblem> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(place);
    let mut paths: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    let read = |path: &std::path::PathBuf| match file::read(path) {
        Ok(ProblemFile::Expressions(problem)) => Some(problem),
        _ => None,
    };
    paths.iter().filter_map(read).collect()
}

fn check(files: Vec<ExpressionProblem>, hard: &[&str]) {
    for file in files {
        let spec = file.spec();
        let name = &spec.name;
        let problem = match Problem::new(&file) {
            Ok(problem) => problem,
            Err(why) => panic!("{name}: {why}"),
        };
        // One has no feasible decision at all.
        let Some(best) = spec.best_known.first().map(|best| best.upper) else { continue };
        let limits = Limits::work(if hard.contains(&&name[..]) { 1_500_000 } else { 30_000_000 });
        for (x, y) in file.optima().iter().take(1) {
            let proof = follower(&problem, x, y, 1e-4, &limits);
            assert_eq!(proof.verdict, FollowerVerdict::Proven, "{name}: {proof:?}");
            assert!(proof.gap <= proof.tolerance * (1.0 + 1e-9) + 1e-12, "{name}: {proof:?}");
        }
        if spec.position == PositionKind::Pessimistic {
            assert_eq!(leader(&problem, best, 1e-2, &limits).verdict, LeaderVerdict::Open);
            continue;
        }
        let proof = leader(&problem, best, 1e-2, &limits);
        assert!(proof.verdict == LeaderVerdict::Proven || hard.contains(&&name[..]), "{name}: {proof:?}");
        for shift in [0.002, 0.02, 0.2] {
            let claim = best + spec.upper.direction.flip(shift * best.abs().max(1.0));
            let proof = leader(&problem, claim, 1e-3, &Limits::work(1_000_000));
            assert_ne!(proof.verdict, LeaderVerdict::Proven, "{name} with {shift}: {proof:?}");
            // What is found instead is really there.
            if let Some(better) = proof.better {
                let (better, best) = (spec.upper.direction.flip(better.value), spec.upper.direction.flip(best));
                assert!(better >= best - 2e-3 * best.abs().max(1.0), "{name}: {better} is better than {best}");
            }
        }
    }
}

#[test]
fn basblib_is_proven_and_false_claims_are_not() {
    check(folder("crates/bilevo-problems/basblib"), &["basblib/nwj_2017_03"]);
}

/// Those left out take long, or are not proven in reasonable time.
#[test]
fn bolib_is_proven_and_false_claims_are_not() {
    let hard = [
        "calamaivicente1994c",
        "calamaivicente_5",
        "designcentringp4",
        "ludebsinha2016e",
        "networkdesignp2",
        "outrata1990ex2c",
        "robustportfoliop1",
        "tollsettingp2",
        "tollsettingp3",
    ];
    let hard = hard.map(|name| format!("bolib/{name}"));
    check(folder("crates/bilevo-problems/bolib"), &hard.each_ref().map(String::as_str));
}

#[test]
fn own_problems_are_proven_and_false_claims_are_not() {
    check(folder("examples/problems"), &[]);
}

#[test]
fn best_known_values_of_others_are_proven_and_false_claims_are_not() {
    check(folder("examples/best-known"), &[]);
}

/// The same numbers on every run.
#[test]
fn proofs_repeat_themselves() {
    let file = folder("examples/problems").into_iter().find(|file| file.spec().name == "toll_two_roads").unwrap();
    let problem = Problem::new(&file).unwrap();
    let once = || {
        let proof = leader(&problem, 1.125, 1e-4, &Limits::work(2_000_000));
        (proof.boxes, proof.work, proof.bound)
    };
    assert_eq!(once(), once());
}
