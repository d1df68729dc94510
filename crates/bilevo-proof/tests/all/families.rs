//! Random problems as problem files.

use bilevo_problems::file::{self, ExpressionProblem, ProblemFile};

/// Numbers that are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn within(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    /// A coefficient as text, with two digits.
    fn coefficient(&mut self, size: f64) -> String {
        format!("({:.2})", self.within(-size, size))
    }

    fn choose<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[(self.unit() * from.len() as f64) as usize % from.len()]
    }

    /// A sum of random terms and one that must occur.
    fn polynomial(&mut self, terms: &[&str], count: usize, needed: &str) -> String {
        let mut text = format!("{}*{needed}", self.coefficient(2.0));
        for _ in 0..count {
            text += &format!(" + {}*{}", self.coefficient(2.0), self.choose(terms));
        }
        text
    }
}

const TERMS: [&str; 19] = [
    "x",
    "y",
    "x*y",
    "x^2",
    "y^2",
    "x^2*y",
    "x*y^2",
    "y^3",
    "y^4",
    "sin(2*y)",
    "exp(0.5*x)*y",
    "abs(y - 0.2*x)",
    "max(x, y)",
    "min(y, 0.3)",
    "if(y > x, y, x)",
    "sqrt(y + 2)",
    "tanh(2*y)",
    "log(y + 3)*x",
    "cos(3*y + x)",
];

/// A problem with one variable at each level and nothing degenerate.
pub(crate) fn general(seed: u64) -> String {
    let mut random = Random(seed);
    let a = random.coefficient(0.8);
    let constraints = match seed % 8 {
        1 => vec![format!("y - {}*x <= {:.2}", random.coefficient(1.0), random.unit())],
        2 => vec!["x + y <= 1.5".into(), "-x + y^2 <= 1.2".into()],
        3 => vec![format!("x*y <= 0.3"), "max(y - 0.8, x - 0.9) <= 0".into()],
        4 => vec![format!("y^2*(y - 1) <= 0.{}", 1 + seed % 5)],
        5 => vec![format!("y == {a}*x")],
        6 => vec!["y <= 0.5".into(), "y <= 0.5 + 0*x".into(), "-y - x <= 1".into()],
        // Undefined where y < -x.
        7 => vec!["sqrt(x + y) <= 1.2".into()],
        _ => Vec::new(),
    };
    write(&mut random, &constraints, seed)
}

/// A problem with one variable at each level and a feasible set without interior, with vanishing gradients,
/// touching or doubled constraints, or with ties.
pub(crate) fn degenerate(seed: u64) -> String {
    let mut random = Random(seed ^ 0x5EED);
    let a = random.coefficient(0.8);
    let constraints: Vec<String> = match seed % 16 {
        0 => vec!["y^2 <= 0".into()],
        1 => vec!["y^4 <= 0".into()],
        2 => vec!["abs(y) <= 0".into()],
        3 => vec!["max(y, -y) <= 0".into()],
        4 => vec!["(y - 0.5)^2 <= 0".into()],
        5 => vec!["y^2*(1 + x^2) <= 0".into()],
        6 => vec!["y <= 0".into(), "-y <= 0".into()],
        7 => vec!["y^2 <= 0".into(), "x + y <= 1".into()],
        8 => vec![format!("y <= {a}*x"), format!("y >= {a}*x")],
        9 => vec![format!("(y - {a}*x)^2 <= 0")],
        10 => vec!["y^2*(y - 1) <= 0".into()],
        11 => vec!["y <= 0.5".into(), "2*y <= 1".into(), "y^3 <= 0.125".into()],
        12 => vec!["y^2 == 0".into()],
        13 => vec!["x*y == 0".into()],
        14 => vec!["y^2 - y^4 <= 0".into()],
        _ => vec!["ceil(y) <= 0.5".into(), "ceil(x + y) <= 1.5".into()],
    };
    // Some followers are indifferent.
    if seed.is_multiple_of(5) {
        let flat = ["0*y", "x", "max(y, 0)", "(y^2 - 0.25)^2", "x*y", "abs(abs(y) - 0.5)"];
        let lower = random.choose(&flat).to_string();
        let upper = random.polynomial(&TERMS, 3, "x");
        return text(&upper, &[], &lower, &constraints);
    }
    write(&mut random, &constraints, seed)
}

/// Jumps whose lower value is taken, so that the follower still has a best answer; most of them at simple
/// numbers.
const JUMPS: [&str; 15] = [
    "ceil(2*y)",
    "(-floor(2*y))",
    "if(y > 0.5, 1, 0)",
    "if(y < -0.5, 1, 0)",
    "abs(sign(y - 0.5))",
    "(-round(abs(y)))",
    "mod(y, 0.5)",
    "if(y > 0.3*x, 1, 0)",
    "ceil(x + y)",
    "(-floor(y - x))",
    "if(abs(y) <= 0.5, 0, 1)",
    "if(y == 0.5, -1, 0)",
    "if(y != -0.5 and y != 0.5, 1, 0)",
    "exp(0.5*ceil(2*y))",
    "sqrt(ceil(max(y, 0)))",
];

/// A problem with one variable at each level and jumps below: in f, in the constraints, or in both.
pub(crate) fn jumps(seed: u64) -> String {
    let mut random = Random(seed ^ 0x1A11);
    let constraint = match seed % 12 {
        1 => "ceil(2*y) <= 1",
        2 => "floor(2*y) >= -1",
        3 => "if(y > 0.25, 1, -1) <= 0",
        4 => "abs(sign(y - 0.5)) <= 0.5",
        5 => "-round(abs(y)) <= -1",
        6 => "ceil(y - 0.3*x) <= 0.5",
        7 => "mod(y, 0.5) <= 0",
        8 => "if(y == 0.5 or y <= -0.5, -1, 1) <= 0",
        9 => "ceil(2*y) - 2*y == 0",
        10 => "max(ceil(2*y) - 1, abs(y) - 1) <= 0",
        _ => "",
    };
    let constraints: Vec<String> = if constraint.is_empty() { Vec::new() } else { vec![constraint.into()] };
    let upper = random.polynomial(&TERMS, 2, "y");
    let mut lower = random.polynomial(&TERMS, 1, "y");
    for _ in 0..1 + seed % 2 {
        lower += &format!(" + {:.2}*{}", random.within(0.2, 1.7), random.choose(&JUMPS));
    }
    text(&upper, &[], &lower, &constraints)
}

/// A problem with one variable at each level, at least one of them a whole number. Some formulas are
/// undefined at some of them.
pub(crate) fn whole(seed: u64) -> String {
    let mut random = Random(seed ^ 0x7701);
    let boxes = [["{ integer = [-3, 3] }", "{ integer = [-3, 3] }"], ["{ integer = [-3, 3] }", "[-1.5, 1.5]"]];
    let [x, y] = match seed % 4 {
        0 | 1 => boxes[0],
        2 => boxes[1],
        _ => ["[-1.5, 1.5]", "{ integer = [-3, 3] }"],
    };
    let below = ["x + y <= 2", "y^2 <= 5", "x*y <= 3", "2*y - x <= 2.5", "abs(y) <= 2.5", "ceil(y/2) <= 0.5", "y <= 9"];
    let below = vec![random.choose(&below).to_string(), random.choose(&below).to_string()];
    let above = if seed.is_multiple_of(3) { vec!["x - y <= 2.5".into()] } else { Vec::new() };
    let (upper, mut lower) = (random.polynomial(&TERMS, 3, "y"), random.polynomial(&TERMS, 3, "y"));
    if seed % 4 == 1 {
        lower += " + if(y == 1, -0.7, if(y != -2, 0, -0.9))";
    }
    boxed(&upper, &above, &lower, &below, [x, y])
}

fn write(random: &mut Random, constraints: &[String], seed: u64) -> String {
    let above = if seed.is_multiple_of(3) { vec![format!("x + y <= {:.2}", 2.0 * random.unit())] } else { Vec::new() };
    let (upper, mut lower) = (random.polynomial(&TERMS, 3, "y"), random.polynomial(&TERMS, 3, "y"));
    // Jumps whose lower end belongs to them, so that the follower still has a best answer.
    match seed % 7 {
        3 => lower += " + 0.7*ceil(2*y)",
        5 => lower += " + 0.5*if(y > 0.3*x, 1, 0)",
        _ => {}
    }
    text(&upper, &above, &lower, constraints)
}

fn text(upper: &str, above: &[String], lower: &str, below: &[String]) -> String {
    boxed(upper, above, lower, below, ["[-1.5, 1.5]"; 2])
}

fn boxed(upper: &str, above: &[String], lower: &str, below: &[String], [x, y]: [&str; 2]) -> String {
    format!(
        "[upper]\nminimize = \"{upper}\"\nvariables = {{ x = {x} }}\nsubject_to = {above:?}\n\
         [lower]\nminimize = \"{lower}\"\nvariables = {{ y = {y} }}\nsubject_to = {below:?}\n"
    )
}

/// A dense problem with an indefinite follower: quadratic, bilinear, and sines times exponentials.
pub(crate) fn indefinite(m: usize, n: usize, seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(1_000_003) + (m * 31 + n) as u64);
    let x: Vec<String> = (1..=m).map(|i| format!("x{i}")).collect();
    let y: Vec<String> = (1..=n).map(|i| format!("y{i}")).collect();
    let all: Vec<&String> = x.iter().chain(&y).collect();
    let mut number = |size: f64| format!("({:.3})", random.within(-size, size));
    let mut upper: Vec<String> = Vec::new();
    for _ in &all {
        let line: Vec<String> = all.iter().map(|v| format!("{}*{v}", number(1.0))).collect();
        upper.push(format!("({})^2", line.join(" + ")));
    }
    upper.extend(all.iter().map(|v| format!("{}*{v}", number(2.0))));
    let mut lower: Vec<String> = Vec::new();
    for i in 0..n {
        lower.extend((i..n).map(|j| format!("{}*{}*{}", number(1.0), y[i], y[j])));
    }
    for a in &x {
        lower.extend(y.iter().map(|b| format!("{}*{a}*{b}", number(1.0))));
    }
    lower.extend(y.iter().zip(&x).map(|(b, a)| format!("{}*sin(2*{b})*exp(0.3*{a})", number(1.0))));
    let boxes = |names: &[String]| names.iter().map(|v| format!("{v} = [-2, 2]")).collect::<Vec<_>>().join(", ");
    format!(
        "[upper]\nminimize = \"{}\"\nvariables = {{ {} }}\n[lower]\nminimize = \"{}\"\nvariables = {{ {} }}\n",
        upper.join(" + "),
        boxes(&x),
        lower.join(" + "),
        boxes(&y)
    )
}

/// The problem of a text.
pub(crate) fn read(text: &str) -> ExpressionProblem {
    match file::parse("random.toml", text, &mut file::no_tables) {
        Ok(ProblemFile::Expressions(problem)) => problem,
        Ok(_) => panic!("no formulas: {text}"),
        Err(error) => panic!("{error}: {text}"),
    }
}
