//! Grid files: the pleasant form is read, everything else is refused with its line before anything
//! runs.

use bilevo_lab::grid::{Grid, GridError, Task};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const FULL: &str = r#"
methods = ["bl-cma-es", "cr-bl-cma-es"]
problems = ["smd1", "tp3"]
dims = ["2+3", "5+5"]
runs = 3
first_seed = 10

[[settings]]
[[settings]]
stop.target = "off"
upper = { population = 12 }
"#;

fn size(task: &Task) -> (usize, usize) {
    (task.id.upper_dim, task.id.lower_dim)
}

fn refusal(text: &str) -> String {
    Grid::parse(text, Path::new("")).unwrap_err().to_string()
}

#[test]
fn a_grid_is_the_product_of_its_lists() {
    let tasks = Grid::parse(FULL, Path::new("")).unwrap().tasks().unwrap();
    // 2 methods x (smd1 in 2 sizes + tp3 in its only one) x 2 settings x 3 seeds
    assert_eq!(tasks.len(), 2 * 3 * 2 * 3);
    let describe = |task: &Task| {
        let id = &task.id;
        format!("{} {} {}+{} [{}] {}", id.method, id.problem, id.upper_dim, id.lower_dim, id.settings, id.seed)
    };
    assert_eq!(describe(&tasks[0]), "bl-cma-es smd1 2+3 [] 10");
    assert_eq!(describe(&tasks[35]), "cr-bl-cma-es tp3 2+2 [stop.target=off upper.population=12] 12");
    assert!(tasks[..12].iter().all(|t| t.id.seed == 10), "seed by seed");
    let mut ids: Vec<_> = tasks.iter().map(|t| t.id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 36);
}

#[test]
fn sizes_pass_a_problem_by_only_if_another_one_takes_them() {
    let mut grid = Grid::new(["boc"], ["tp1"]);
    grid.dims = vec![(5, 5)];
    let refused = grid.tasks().unwrap_err().to_string();
    assert!(refused.contains("only 2+2"), "{refused}");
    grid.dims = vec![(2, 2)];
    let tasks = grid.tasks().unwrap();
    assert_eq!((size(&tasks[0]), grid.passed_by(&tasks).len()), ((2, 2), 0));
    grid.problems.push("smd1".into());
    grid.dims = vec![(5, 5)];
    assert_eq!(grid.passed_by(&grid.tasks().unwrap()), ["tp1"]);
}

#[test]
fn what_is_left_out_has_defaults() {
    let grid = Grid::parse("methods = ['boc']\nproblems = ['smd3']", Path::new("")).unwrap();
    assert_eq!(grid, Grid::new(["boc"], ["smd3"]));
    let tasks = grid.tasks().unwrap();
    assert_eq!((tasks.len(), tasks[0].id.seed, tasks[20].id.seed), (21, 1, 21));
    assert_eq!(size(&tasks[0]), (2, 3));
}

#[test]
fn the_same_run_is_planned_once() {
    let mut grid = Grid::new(["boc", "boc"], ["smd1", "smd1"]);
    grid.runs = 1;
    // the method's own settings, written out, are the method's own settings
    grid.settings = vec![vec![], vec![("stop.target".into(), "upper".into())]];
    let tasks = grid.tasks().unwrap();
    assert_eq!(tasks.len(), 1);
    assert_eq!(tasks[0].id.settings, "");
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (text, line, words) in [
        ("methods = ['boc']\nproblems = ['smd1']\nrun = 3", 3, "unknown field `run`"),
        ("methods = ['boc']\nproblems = ['smd1']\nruns = 'many'", 3, "invalid type"),
        ("methods = ['boc']\nproblems = ['smd1']\nruns = -1", 3, "runs = -1"),
        ("methods = [\n 'boc',\n 'tlea-cmaes',\n]\nproblems = ['smd1']", 3, "did you mean `tlea-cma-es`?"),
        ("methods = ['boc']\nproblems = ['smd1',\n\n'smb2']", 4, "did you mean `smd2`?"),
        ("methods = ['boc']\nproblems = ['smd1']\ndims = ['2+3', '2x3']", 3, "`2x3` is not a size"),
        ("methods = ['boc']\nproblems = ['smd1']\ndims = ['1+1']", 3, "does not exist with 1+1"),
        ("methods = ['boc']\nproblems = ['smd1']\ndims = ['5+999999999999']", 3, "out of range"),
        ("methods = ['boc']\nproblems = ['smd1']\n[[settings]]\nstop.tarqet = 'off'", 3, "did you mean `stop.target`?"),
        ("methods = ['boc']\nproblems = ['smd1']\n[[settings]]\nstop.target = 7", 3, "`stop.target` cannot be `7`"),
        (
            "methods = ['boc']\nproblems = ['smd1']\n[[settings]]\n\n[[settings]]\nallocator.keep = 5.5",
            5,
            "allocator.keep",
        ),
        ("methods = ['boc']\nproblems = ['smd1']\n[[settings]]\nx = [1]", 3, "cannot be a list"),
        ("methods = ['boc'\nproblems = 3", 2, "TOML parse error"),
    ] {
        let message = refusal(text);
        assert!(message.contains(words), "{text}\n---\n{message}");
        assert!(message.contains(&format!("line {line}")), "{text}\n---\n{message}");
    }
}

#[test]
fn empty_and_absurd_grids_are_refused() {
    assert_eq!(
        refusal("methods = []\nproblems = ['smd1']"),
        "the grid has no methods\nhint: it needs at least one method, one problem and one run"
    );
    assert_eq!(
        refusal("methods = ['boc']\nproblems = []"),
        "the grid has no problems\nhint: it needs at least one method, one problem and one run"
    );
    assert_eq!(
        refusal("methods = ['boc']\nproblems = ['smd1']\nruns = 0"),
        "the grid has no runs\nhint: it needs at least one method, one problem and one run"
    );
    assert!(refusal("methods = ['boc']").contains("missing field `problems`"));
    let mut grid = Grid::new(["boc"], ["smd1"]);
    grid.runs = u64::MAX;
    assert!(matches!(grid.tasks(), Err(GridError::TooMany)));
    grid.runs = 2;
    grid.first_seed = u64::MAX;
    assert!(matches!(grid.tasks(), Err(GridError::Seeds)));
}

const TOLL: &str = r#"
name = "toll"
[upper]
maximize = "t * y1"
variables = { t = [0, 10] }
[lower]
minimize = "(y1 - 8 + t)^2 + 0.1*y1"
variables = { y1 = [0, 10] }
"#;

#[test]
fn problem_files_stand_beside_built_in_problems() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("toll.toml", TOLL);
    let mut grid = Grid::new(["boc"], ["smd1", "toll.toml"]);
    (grid.folder, grid.runs, grid.dims) = (folder.path().into(), 1, vec![(5, 5)]);
    let tasks = grid.tasks().unwrap();
    let toll = &tasks[1].id;
    assert_eq!((toll.problem.as_str(), toll.upper_dim, toll.lower_dim), ("toll", 1, 1));
    assert!(!toll.problem_hash.is_empty() && tasks[0].id.problem_hash.is_empty());
    assert_eq!(grid.passed_by(&tasks), ["toll"]);
    write("toll.toml", &TOLL.replace("0.1*y1", "0.2*y1"));
    assert_ne!(grid.tasks().unwrap()[1].id.problem_hash, toll.problem_hash, "an edited file is another problem");
    write("other.toml", TOLL);
    grid.problems.push("other.toml".into());
    let refused = grid.tasks().unwrap_err();
    assert!(matches!(&refused, GridError::SameName { name } if name == "toll"), "{refused}");
    let text = "methods = ['boc']\nproblems = ['smd1',\n'none.toml']";
    let refused = Grid::parse(text, folder.path()).unwrap_err().to_string();
    assert!(refused.contains("line 3") && refused.contains("none.toml"), "{refused}");
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "(methods = \\['boc'\\]\n)?(problems = \\['smd1'\\]\n)?\\PC{0,60}") {
        let _ = Grid::parse(&text, Path::new(""));
    }
}
