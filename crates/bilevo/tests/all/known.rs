//! What earlier runs evaluated: it is not evaluated again, and it shortens the next run.

use bilevo::known::{Recorder, read, write};
use bilevo::{Evaluation, Evaluations, RunResult, Solver, Source, Start, codes, source};

/// The default method, which makes the most of a table.
const METHOD: &str = "portfolio";

fn solver<'a>(problem: &'a dyn Source, seed: u64) -> Solver<'a> {
    Solver::new(problem).method(METHOD).set("stop.target", "off").seed(seed)
}

fn recorded(problem: &dyn Source, seed: u64) -> (RunResult, Vec<Evaluation>) {
    let mut recorder = Recorder::default();
    let result = solver(problem, seed).observer(&mut recorder).run().unwrap();
    (result, recorder.rows)
}

#[test]
fn an_earlier_run_makes_the_next_one_cheap() {
    for name in ["smd1", "smd12"] {
        let problem = source::open(name, None).unwrap();
        let (first, rows) = recorded(&*problem, 1);
        let answers: Vec<&Evaluation> = rows.iter().filter(|row| row.is_answer).collect();
        assert_eq!(answers.len(), 1, "{name}");
        assert_eq!((Some(&*answers[0].x), Some(&*answers[0].y)), (first.x(), first.y()), "{name}");
        let alone = solver(&*problem, 2).run().unwrap();
        let informed = solver(&*problem, 2).known(rows).run().unwrap();
        let [before, now] = [&alone, &informed].map(|result| result.evaluations.total());
        let off = informed.accuracy.unwrap().upper;
        assert!(now * 2 <= before && off < 1e-4, "{name}: {now} after {before}, {off} from the optimum");
        assert_eq!(informed.notice, None);
    }
}

#[test]
fn the_same_run_with_its_own_evaluations_costs_nothing() {
    let problem = source::open("smd1", None).unwrap();
    fn run(problem: &dyn Source) -> Solver<'_> {
        Solver::new(problem).method("bl-cma-es").seed(3).max_upper_evals(40)
    }
    let mut recorder = Recorder::default();
    let first = run(&*problem).observer(&mut recorder).run().unwrap();
    let mut rows = recorder.rows;
    // Without a pair to begin at, the run is the same one.
    rows.iter_mut().for_each(|row| row.upper = None);
    let again = run(&*problem).known(rows).run().unwrap();
    assert_eq!(again.upper_value(), first.upper_value());
    assert_eq!((again.evaluations.lower, again.evaluations.upper), (0, first.evaluations.upper));
}

#[test]
fn a_table_survives_a_file_and_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (table, saved) = (folder.path().join("known.csv"), folder.path().join("run.checkpoint"));
    let problem = source::open("smd9", None).unwrap();
    let (_, rows) = recorded(&*problem, 1);
    write(&table, problem.spec(), &rows).unwrap();
    let known = read(&table, problem.spec()).unwrap();
    assert_eq!(known, rows);
    let whole = solver(&*problem, 2).known(known.clone()).run().unwrap();
    let mut stop = super::common::StopAfter(20);
    let part = solver(&*problem, 2).known(known).checkpoint(&saved).observer(&mut stop).run().unwrap();
    assert!(part.evaluations.total() < whole.evaluations.total());
    let resumed = Solver::new(&*problem).resume(bilevo::checkpoint::load(&saved).unwrap()).run().unwrap();
    assert_eq!((resumed.upper_value(), resumed.evaluations), (whole.upper_value(), whole.evaluations));
}

#[test]
fn rows_that_do_not_fit_are_refused_with_a_code() {
    let problem = source::open("smd1", None).unwrap();
    let wrong = Evaluation { x: vec![0.0], y: vec![0.0; 3], upper: Some((1.0, vec![])), ..Evaluation::default() };
    let error = Solver::new(&*problem).known([wrong]).run().unwrap_err();
    assert_eq!(codes::code(&error), Some("E208"));
    assert!(error.to_string().contains("row 1 of the known evaluations has 1 values of x\nhint: the problem has 2"));
}

#[test]
fn an_optimum_that_is_given_is_found_at_once() {
    for number in 1..=12 {
        let name = format!("smd{number}");
        let problem = source::open(&name, None).unwrap();
        let (x, y) = bilevo::problems::optima(&name, None).swap_remove(0);
        // SMD11's follower has two answers that are equally good for it; finding both takes more.
        let most = if number == 11 { 80 } else { 60 };
        for seed in 1..=3 {
            let start = Start { x: x.clone(), y: Some(y.clone()) };
            let result = Solver::new(&*problem).method(METHOD).seed(seed).start_at([start]).run().unwrap();
            let Evaluations { upper, lower, .. } = result.evaluations;
            assert!(upper + lower <= most && result.solved == Some(true), "{name} {seed}: {upper} + {lower}");
        }
    }
}
