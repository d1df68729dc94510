//! `cargo xtask bench`: figures with their targets, from the small program `bilevo-bench`.
//!
//! Callgrind counts the instructions of two runs with k and 2k repetitions; the difference leaves out the start of
//! the program. The counts hardly depend on the machine or its load. Wall times do: they are the best of several runs
//! and show the order of magnitude.

use crate::shell::{cargo, exists, succeed};
use crate::table::{self, Figure, Target};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

struct Section {
    name: &'static str,
    title: &'static str,
    measure: fn(&Bench) -> Result<Vec<Figure>, String>,
}

const SECTIONS: [Section; 9] = [
    Section {
        name: "engine",
        title: "Whole engine, objective included: instructions for each lower evaluation",
        measure: engine,
    },
    Section {
        name: "own",
        title: "The default method's own time for each evaluation, on the dearest of some problems",
        measure: own,
    },
    Section { name: "kernels", title: "Kernels: instructions for each call", measure: kernels },
    Section {
        name: "expressions",
        title: "SMD1 read from a problem file against SMD1 in Rust, evaluations alone",
        measure: expressions,
    },
    Section {
        name: "training",
        title: "One training of the ranking network, 100 epochs: median time",
        measure: training,
    },
    Section {
        name: "runs",
        title: "Whole runs with default budgets: wall time, mean of 5 runs, best of 3 tries",
        measure: runs,
    },
    Section { name: "memory", title: "Peak memory of a process that solves", measure: memory },
    Section {
        name: "threads",
        title: "Two threads against one, evaluations of 1 ms (needs two idle cores)",
        measure: threads,
    },
    Section {
        name: "programs",
        title: "A point of smd1 through an external program, the program's own work included",
        measure: programs,
    },
];

/// Runs the named sections, or all of them.
pub(crate) fn run(args: &[&str]) -> Result<bool, String> {
    if args == ["--list"] {
        SECTIONS.iter().for_each(|s| println!("{:<10} {}", s.name, s.title));
        return Ok(true);
    }
    let json = args.contains(&"--json");
    let named: Vec<&str> = args.iter().copied().filter(|a| *a != "--json").collect();
    if let Some(unknown) = named.iter().find(|a| SECTIONS.iter().all(|s| s.name != **a)) {
        return Err(format!("there is no section `{unknown}`\nhint: `cargo xtask bench --list` shows all"));
    }
    let bench = Bench::build()?;
    for section in SECTIONS.iter().filter(|s| named.is_empty() || named.contains(&s.name)) {
        let figures = (section.measure)(&bench)?;
        if json {
            println!("{}", table::json(section.name, &figures));
        } else {
            print!("{}", table::text(section.title, &figures));
        }
    }
    Ok(true)
}

/// The output of one run of the program, by name.
type Said = BTreeMap<String, f64>;

/// The built program and whether instructions can be counted.
struct Bench {
    program: PathBuf,
    valgrind: bool,
}

impl Bench {
    fn build() -> Result<Bench, String> {
        let only = ["--package", "bilevo-bench", "--bin", "bilevo-bench", "--features", "compare"];
        succeed(cargo(&["build", "--quiet", "--profile", "dist", "--locked"]).args(only))?;
        let this = std::env::current_exe().map_err(|e| e.to_string())?;
        let target = this.ancestors().nth(2).ok_or("no target folder above this program")?;
        let program = target.join("dist").join(format!("bilevo-bench{}", std::env::consts::EXE_SUFFIX));
        let valgrind = exists("valgrind");
        if !valgrind {
            eprintln!("valgrind is absent: instructions are not counted\nhint: apt-get install -y valgrind");
        }
        Ok(Bench { program, valgrind })
    }

    /// Runs the program and reads the `name value` lines it prints.
    fn say(&self, args: &str) -> Result<Said, String> {
        let out = succeed(Command::new(&self.program).args(args.split_whitespace()))?;
        Ok(read(&out.stdout))
    }

    /// The smallest value of `name` in a few runs: what the machine can do undisturbed.
    fn best(&self, args: &str, name: &str, runs: usize) -> Result<f64, String> {
        let mut best = f64::INFINITY;
        for _ in 0..runs {
            best = best.min(value(&self.say(args)?, name)?);
        }
        Ok(best)
    }

    /// Instructions of one run, and its output.
    fn count(&self, args: &str) -> Result<(f64, Said), String> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&self.program);
        let out = succeed(command.args(args.split_whitespace()))?;
        let counted = out.stderr.lines().find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok());
        Ok((counted.ok_or("valgrind did not say how many instructions it counted")?, read(&out.stdout)))
    }

    /// Instructions per unit of `name`, from the difference between `calls` and twice as many repetitions; `{}` in
    /// `args` stands for their number.
    fn instructions(&self, args: &str, calls: u64, name: &str) -> Result<Option<f64>, String> {
        if !self.valgrind {
            return Ok(None);
        }
        let (few, said_few) = self.count(&args.replace("{}", &calls.to_string()))?;
        let (many, said_many) = self.count(&args.replace("{}", &(2 * calls).to_string()))?;
        let units = value(&said_many, name)? - value(&said_few, name)?;
        if units > 0.0 { Ok(Some((many - few) / units)) } else { Err(format!("`{args}` did not do more {name}")) }
    }
}

fn read(stdout: &str) -> Said {
    let pair = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.trim().parse().ok()?))
    };
    stdout.lines().filter_map(pair).collect()
}

fn value(said: &Said, name: &str) -> Result<f64, String> {
    said.get(name).copied().ok_or_else(|| format!("bilevo-bench did not say `{name}`"))
}

/// The published methods, with and without contrastive ranking.
const METHODS: [&str; 6] = ["bl-cma-es", "tlea-cma-es", "tlea-de", "motea", "boc", "cr-bl-cma-es"];

fn engine(bench: &Bench) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for method in METHODS {
        for (dims, upper_evals) in [("2 3", 100), ("10 10", 60), ("20 20", 60)] {
            if method != "bl-cma-es" && dims == "20 20" {
                continue;
            }
            let args = format!("engine {method} smd1 {dims} {{}}");
            let counted = bench.instructions(&args, upper_evals, "lower")?;
            let figure = Figure::new(format!("{method}, smd1 {}", dims.replace(' ', "+")), counted, "instructions");
            let promised = method == "bl-cma-es" && dims == "2 3";
            figures.push(if promised { figure.target(Target::AtMost(1300.0)) } else { figure });
        }
    }
    Ok(figures)
}

fn own(bench: &Bench) -> Result<Vec<Figure>, String> {
    let small = &["smd1", "smd2", "smd5", "smd6", "smd12"][..];
    let mut figures = Vec::new();
    for (dims, problems, work, limit) in [
        ("2 3", small, "200 5", 60.0),
        ("5 5", &["smd1", "smd5"], "700 1", f64::INFINITY),
        ("10 10", &["smd1", "smd5"], "2000 1", 500.0),
        ("20 20", &["smd1", "smd5"], "2000 1", 2000.0),
    ] {
        let mut dearest = ("", 0.0);
        for problem in problems {
            let micros = value(&bench.say(&format!("own {problem} {dims} {work}"))?, "micros")?;
            if micros > dearest.1 {
                dearest = (problem, micros);
            }
        }
        let figure = Figure::new(format!("{}, {}", dims.replace(' ', "+"), dearest.0), Some(dearest.1), "µs");
        figures.push(if limit.is_finite() { figure.target(Target::AtMost(limit)) } else { figure });
    }
    Ok(figures)
}

fn kernels(bench: &Bench) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for kernel in ["sample", "update", "eigen", "eigen-nalgebra"] {
        for n in [3, 5, 10, 20, 40] {
            let calls = if n > 10 { 50 } else { 500 };
            let counted = bench.instructions(&format!("kernel {kernel} {n} {{}}"), calls, "calls")?;
            figures.push(Figure::new(format!("{kernel}, n = {n}"), counted, "instructions"));
        }
    }
    Ok(figures)
}

fn expressions(bench: &Bench) -> Result<Vec<Figure>, String> {
    const CALLS: u64 = 20_000;
    let mut figures = Vec::new();
    for dims in ["2 3", "10 10", "20 20"] {
        let shown = format!("smd1 {}", dims.replace(' ', "+"));
        let args = |form: &str, calls: &str| format!("evaluate {form} {dims} {calls}");
        let seconds = |form: &str| bench.best(&args(form, "1000000"), "seconds", 3);
        let ratio = Some(seconds("file")? / seconds("rust")?);
        figures.push(Figure::new(format!("{shown}, time"), ratio, "times slower").target(Target::AtMost(3.0)));
        let counted = |form: &str| bench.instructions(&args(form, "{}"), CALLS, "calls");
        let ratio = counted("file")?.zip(counted("rust")?).map(|(file, rust)| file / rust);
        figures.push(Figure::new(format!("{shown}, instructions"), ratio, "times more"));
    }
    Ok(figures)
}

fn training(bench: &Bench) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (size, times, target) in [("2 3 32 49", 300, 1.0), ("5 5 64 100", 60, 4.0), ("10 10 128 200", 20, 25.0)] {
        let shown = format!("({})", size.replace(' ', ", "));
        let seconds = bench.best(&format!("train {size} {times}"), "seconds", 1)?;
        let ms = Figure::new(shown.clone(), Some(1e3 * seconds), "ms");
        figures.push(ms.target(Target::AtMost(target)));
        figures.push(Figure::new(
            shown,
            bench.instructions(&format!("train {size} {{}}"), 1, "calls")?,
            "instructions",
        ));
    }
    Ok(figures)
}

const RUNS: [(&str, &str); 9] = [
    ("portfolio", "smd1"),
    ("portfolio", "smd8"),
    ("bl-cma-es", "smd1"),
    ("cr-bl-cma-es", "smd1"),
    ("tlea-cma-es", "smd8"),
    ("tlea-de", "smd1"),
    ("motea", "smd1"),
    ("boc", "smd1"),
    ("tlea-cma-es", "tp10"),
];

fn runs(bench: &Bench) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (method, problem) in RUNS {
        let seconds = bench.best(&format!("solve {method} {problem} 5"), "seconds", 3)?;
        figures.push(Figure::new(format!("{method}, {problem}"), Some(1e3 * seconds / 5.0), "ms"));
    }
    Ok(figures)
}

fn memory(bench: &Bench) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (method, problem) in [("portfolio", "smd1"), ("bl-cma-es", "smd1"), ("cr-tlea-cma-es", "tp10")] {
        let peak = bench.say(&format!("solve {method} {problem} 1"))?.get("peak_kb").map(|kb| kb / 1024.0);
        figures.push(Figure::new(format!("{method}, {problem}"), peak, "MB"));
    }
    Ok(figures)
}

fn threads(bench: &Bench) -> Result<Vec<Figure>, String> {
    let load = std::fs::read_to_string("/proc/loadavg").ok().and_then(|l| l.split(' ').next()?.parse::<f64>().ok());
    if let Some(load) = load.filter(|load| *load > 1.0) {
        eprintln!("the load of this machine is {load}: other programs use its processors, expect less from threads");
    }
    let said = bench.say("threads")?;
    let ratio = |one, two| Ok::<_, String>(Some(value(&said, one)? / value(&said, two)?));
    Ok(vec![
        Figure::new("evaluations that compute", ratio("one", "two")?, "times faster").target(Target::AtLeast(1.8)),
        Figure::new("evaluations that wait", ratio("one_waiting", "two_waiting")?, "times faster"),
    ])
}

fn programs(bench: &Bench) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for points in [1, 10, 100, 1000] {
        let micros = bench.best(&format!("program smd1 {points}"), "micros", 3)?;
        let figure = Figure::new(format!("lists of {points}"), Some(micros), "µs");
        figures.push(if points >= 100 { figure.target(Target::AtMost(30.0)) } else { figure });
    }
    Ok(figures)
}
