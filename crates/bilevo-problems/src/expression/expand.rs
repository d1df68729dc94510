//! From an expression as written to nodes: names are resolved, loops unrolled, indices computed, constants folded.

use super::ast::{Ast, Comparison, Index, Kind, Loops, Reduction};
use super::error::{ExpressionError, Result};
use super::functions::{self, Function, LARGER, NAMES, SMALLER};
use super::node::{Node, Test};
use super::scope::{Allowance, Scope, Shape, Symbol};
use bilevo_core::config::{did_you_mean, nearest};
use std::ops::Range;

/// Expands expressions.
pub(crate) struct Expander<'s, 'a> {
    pub(crate) scope: &'s Scope,
    pub(crate) allowance: &'s mut Allowance,
    /// Loop indices with their current values, innermost last.
    pub(crate) indices: Vec<(&'a str, f64)>,
}

impl<'a> Expander<'_, 'a> {
    /// The value of an expression as a node.
    pub(crate) fn number(&mut self, ast: &Ast<'a>) -> Result<Node> {
        self.allowance.spend(&ast.span)?;
        match &ast.kind {
            Kind::Number(value) => Ok(Node::Const(*value)),
            Kind::Name(name) => self.name(name, &ast.span),
            Kind::Element(name, indices) => self.element(name, indices, &ast.span),
            Kind::Call(name, arguments) => self.call(name, arguments, &ast.span),
            Kind::Reduce(reduction, loops, body) => self.reduce(*reduction, loops, body, &ast.span),
            Kind::Sum(terms) => Ok(Node::sum(self.chain(terms)?)),
            Kind::Product(factors) => Ok(Node::product(self.chain(factors)?)),
            Kind::Power(base, exponent) => Ok(Node::power(self.number(base)?, self.number(exponent)?)),
            Kind::Compare(..) | Kind::And(_) | Kind::Or(_) | Kind::Not(_) => {
                let error = ExpressionError::new(ast.span.clone(), "a condition is used where a number is needed");
                Err(error.hint("turn it into a number with `if(condition, 1, 0)`"))
            }
        }
    }

    fn chain(&mut self, parts: &[(bool, Ast<'a>)]) -> Result<Vec<(bool, Node)>> {
        parts.iter().map(|(inverse, part)| Ok((*inverse, self.number(part)?))).collect()
    }

    /// The condition of an expression as a node.
    fn test(&mut self, ast: &Ast<'a>) -> Result<Test> {
        self.allowance.spend(&ast.span)?;
        match &ast.kind {
            Kind::Compare(first, rest) => {
                let mut left = self.number(first)?;
                let mut tests = Vec::with_capacity(rest.len());
                for (comparison, right) in rest {
                    let right = self.number(right)?;
                    tests.push(Test::compare(*comparison, left, right.clone()));
                    left = right;
                }
                Ok(Test::all(tests))
            }
            Kind::And(parts) => Ok(Test::all(self.tests(parts)?)),
            Kind::Or(parts) => Ok(Test::any(self.tests(parts)?)),
            Kind::Not(inner) => Ok(self.test(inner)?.negated()),
            _ => {
                let error = ExpressionError::new(ast.span.clone(), "a number is used where a condition is needed");
                Err(error.hint("compare it with something, as in `x > 0`"))
            }
        }
    }

    fn tests(&mut self, parts: &[Ast<'a>]) -> Result<Vec<Test>> {
        parts.iter().map(|part| self.test(part)).collect()
    }

    fn name(&mut self, name: &'a str, span: &Range<usize>) -> Result<Node> {
        if let Some(&(_, value)) = self.indices.iter().rev().find(|(index, _)| *index == name) {
            return Ok(Node::Const(value));
        }
        if let Some(value) = functions::constant(name) {
            return Ok(Node::Const(value));
        }
        let symbol = self.symbol(name, span)?;
        if symbol.shape() != Shape::Scalar {
            let shown = symbol.shape().example(name);
            let error = ExpressionError::new(span.clone(), format!("`{name}` is not a single number"));
            return Err(error.hint(format!("its elements are {shown}; all of them: `sum({name})`, `max({name})`")));
        }
        element_of(symbol, name, 0, span)
    }

    fn symbol(&self, name: &str, span: &Range<usize>) -> Result<&Symbol> {
        let indices: Vec<&str> = self.indices.iter().map(|(index, _)| *index).collect();
        self.scope.find(name, span, &indices)
    }

    fn element(&mut self, name: &'a str, indices: &[Ast<'a>], span: &Range<usize>) -> Result<Node> {
        if self.indices.iter().any(|(index, _)| *index == name) {
            return Err(ExpressionError::new(span.clone(), format!("`{name}` is an index here and has no elements"))
                .hint("choose another name for the index"));
        }
        let shape = self.symbol(name, span)?.shape();
        let limits = match shape {
            Shape::Scalar => vec![],
            Shape::Vector(n) => vec![n],
            Shape::Matrix(rows, columns) => vec![rows, columns],
        };
        if limits.len() != indices.len() {
            let error = ExpressionError::new(
                span.clone(),
                format!("`{name}` takes {}, not {}", counted(limits.len()), indices.len()),
            );
            return Err(error.hint(format!("write {}", shape.example(name))));
        }
        let mut at = 0;
        for (index, limit) in indices.iter().zip(limits) {
            at = at * limit + self.index(index, name, limit, shape)?;
        }
        element_of(self.symbol(name, span)?, name, at, span)
    }

    /// An index, counted from 0.
    fn index(&mut self, ast: &Ast<'a>, name: &str, limit: usize, shape: Shape) -> Result<usize> {
        let value = self.known(ast, "an index")?;
        if value.fract() == 0.0 && value >= 1.0 && value <= limit as f64 {
            return Ok(value as usize - 1);
        }
        let message = match value.fract() == 0.0 {
            true => format!("the index {value} is outside 1..{limit}"),
            false => format!("the index {value} is not a whole number"),
        };
        Err(ExpressionError::new(ast.span.clone(), message)
            .hint(format!("the elements are {}; indices begin at 1", shape.example(name))))
    }

    /// A number that must be known before the run.
    pub(crate) fn known(&mut self, ast: &Ast<'a>, what: &str) -> Result<f64> {
        self.number(ast)?.known().ok_or_else(|| {
            ExpressionError::new(ast.span.clone(), format!("{what} cannot depend on a variable"))
                .hint("numbers, parameters, data and loop indices are known before the run")
        })
    }

    fn call(&mut self, name: &'a str, arguments: &[Ast<'a>], span: &Range<usize>) -> Result<Node> {
        let wrong_count = |expected: &str| {
            let message = format!("`{name}` takes {expected}, not {}", arguments.len());
            Err(ExpressionError::new(span.clone(), message).hint("arguments go in brackets, separated by commas"))
        };
        match (name, arguments) {
            ("if", [test, yes, no]) => {
                let test = self.test(test)?;
                // A branch that is never taken may contain things that make sense only when it is.
                return match test {
                    Test::Known(true) => self.number(yes),
                    Test::Known(false) => self.number(no),
                    test => Ok(Node::choose(test, self.number(yes)?, self.number(no)?)),
                };
            }
            ("if", _) => return wrong_count("a condition and two values"),
            ("sum" | "prod" | "min" | "max", [Ast { kind: Kind::Name(vector), span }]) if self.is_list(vector) => {
                return self.reduce_all(name, vector, span);
            }
            ("sum" | "prod", _) => {
                if let [Ast { kind: Kind::Name(list), span: at }] = arguments
                    && self.indices.iter().all(|(index, _)| index != list)
                {
                    // Unknown, or declared wrongly, which has been reported.
                    self.symbol(list, at)?;
                }
                let error =
                    ExpressionError::new(span.clone(), format!("`{name}` needs a loop or the name of a vector"));
                return Err(error.hint(format!("`{name}(i in 1..3, y[i])` or `{name}(y)`")));
            }
            ("len" | "rows" | "cols", _) => return self.size(name, arguments, span),
            _ => {}
        }
        let Some(function) = functions::function(name) else { return Err(self.unknown_function(name, span)) };
        let mut values = arguments.iter().map(|argument| self.number(argument)).collect::<Result<Vec<_>>>()?;
        match (function, values.len()) {
            (Function::One(function), 1) => Ok(Node::one(function, values.remove(0))),
            (Function::One(_), _) => wrong_count("one argument"),
            (Function::Two(_), 2) if name == "pow" => {
                let exponent = values.remove(1);
                Ok(Node::power(values.remove(0), exponent))
            }
            (Function::Two(function), 2) => Ok(Node::fold(function, values)),
            (Function::Two(_), _) => wrong_count("two arguments"),
            (Function::Many(_), 0) => wrong_count("at least one argument"),
            (Function::Many(function), _) => Ok(Node::fold(function, values)),
        }
    }

    fn unknown_function(&self, name: &str, span: &Range<usize>) -> ExpressionError {
        let at = span.start..span.start + name.len();
        if self.scope.symbols.contains_key(name) || self.indices.iter().any(|(index, _)| *index == name) {
            let error = ExpressionError::new(at, format!("`{name}` is not a function"));
            return error.hint(format!("a product needs `*`, as in `{name}*(...)`; elements are written `{name}[i]`"));
        }
        let near = nearest(name, NAMES.iter().copied());
        let error = ExpressionError::new(at, format!("unknown function `{name}`{}", did_you_mean(&near)));
        error.hint(format!("functions: {}", NAMES.join(" ")))
    }

    /// Whether a name is a vector or matrix.
    fn is_list(&self, name: &str) -> bool {
        self.scope.symbols.get(name).is_some_and(|symbol| symbol.shape() != Shape::Scalar)
    }

    /// `len(v)`, `rows(c)`, `cols(c)`.
    fn size(&self, name: &str, arguments: &[Ast<'a>], span: &Range<usize>) -> Result<Node> {
        let [Ast { kind: Kind::Name(list), span: at }] = arguments else {
            let error = ExpressionError::new(span.clone(), format!("`{name}` takes the name of a vector or table"));
            return Err(error.hint(format!("write `{name}(y)`")));
        };
        let shape = self.symbol(list, at)?.shape();
        Ok(Node::Const(match (name, shape) {
            ("len", shape) => shape.len(),
            ("rows", Shape::Matrix(rows, _)) => rows,
            ("cols", Shape::Matrix(_, columns)) => columns,
            ("rows", shape) => shape.len(),
            _ => 1,
        } as f64))
    }

    /// `sum(y)` and similar: over all elements.
    fn reduce_all(&mut self, name: &str, list: &'a str, span: &Range<usize>) -> Result<Node> {
        let symbol = self.symbol(list, span)?.clone();
        let count = symbol.shape().len();
        self.allowance.afford(count as f64, span)?;
        let mut values = Vec::with_capacity(count);
        for at in 0..count {
            self.allowance.spend(span)?;
            values.push(element_of(&symbol, list, at, span)?);
        }
        reduced(Reduction::named(name).unwrap_or(Reduction::Sum), values, span)
    }

    fn reduce(&mut self, reduction: Reduction, loops: &Loops<'a>, body: &Ast<'a>, span: &Range<usize>) -> Result<Node> {
        let mut values = Vec::new();
        self.rounds(loops, &mut |expander| {
            values.push(expander.number(body)?);
            Ok(())
        })?;
        reduced(reduction, values, span)
    }

    /// Calls a function for every round of nested loops.
    pub(crate) fn rounds(&mut self, loops: &Loops<'a>, each: &mut dyn FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let before = self.indices.len();
        let result = self.round(&loops.indices, loops.filter.as_deref(), each);
        self.indices.truncate(before);
        result
    }

    fn round(
        &mut self,
        indices: &[Index<'a>],
        filter: Option<&Ast<'a>>,
        each: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let Some((index, inner)) = indices.split_first() else {
            let counts = match filter {
                None => true,
                Some(filter) => match self.test(filter)? {
                    Test::Known(holds) => holds,
                    _ => {
                        let error = ExpressionError::new(
                            filter.span.clone(),
                            "the filter of a loop cannot depend on a variable",
                        );
                        return Err(error.hint("write `if(condition, value, 0)` in the expression instead"));
                    }
                },
            };
            return if counts { each(self) } else { Ok(()) };
        };
        let (first, last) = self.range(index)?;
        let mut value = first;
        while value <= last {
            self.allowance.spend(&index.span)?;
            self.indices.push((index.name, value));
            self.round(inner, filter, each)?;
            self.indices.pop();
            value += 1.0;
        }
        Ok(())
    }

    /// First and last value of an index.
    pub(crate) fn range(&mut self, index: &Index<'a>) -> Result<(f64, f64)> {
        if let Some(reason) = Scope::default().refuse(index.name) {
            return Err(ExpressionError::new(index.span.clone(), reason).hint("choose another name for the index"));
        }
        if self.scope.symbols.contains_key(index.name) || self.indices.iter().any(|(name, _)| *name == index.name) {
            let error = ExpressionError::new(index.span.clone(), format!("`{}` is already in use", index.name));
            return Err(error.hint("choose another name for the index"));
        }
        let mut ends = [0.0; 2];
        for (end, ast) in ends.iter_mut().zip([&index.first, &index.last]) {
            *end = self.known(ast, "the range of a loop")?;
            if end.fract() != 0.0 || !end.is_finite() || end.abs() > 1e15 {
                let message = format!("a loop needs whole numbers, not {}", plain(*end));
                return Err(ExpressionError::new(ast.span.clone(), message).hint("write `i in 1..n`, with a whole n"));
            }
        }
        let span = index.first.span.start..index.last.span.end;
        self.allowance.afford(ends[1] - ends[0] + 1.0, &span)?;
        Ok((ends[0], ends[1]))
    }

    /// The two sides of a constraint (or three of a two-sided one) as signed differences: at most zero, or zero for
    /// equations, if it is met.
    pub(crate) fn constraint(&mut self, ast: &Ast<'a>) -> Result<Vec<(Comparison, Node)>> {
        if let Kind::And(_) = ast.kind {
            let error = ExpressionError::new(ast.span.clone(), "these are several constraints in one text");
            return Err(error.hint("write each as a text of its own: `[\"a <= 1\", \"b <= 2\"]`"));
        }
        let Kind::Compare(first, rest) = &ast.kind else {
            let error = ExpressionError::new(ast.span.clone(), "a constraint needs a comparison");
            return Err(error.hint("write `... <= 0`, `... >= 0` or `... == 0`"));
        };
        if rest.len() > 2 {
            let error = ExpressionError::new(ast.span.clone(), "a constraint has at most two comparisons");
            return Err(error.hint("write `a <= g <= b`, or several constraints"));
        }
        let mut left = self.number(first)?;
        let mut values = Vec::with_capacity(rest.len());
        let direction = rest.first().map(|(comparison, _)| *comparison);
        for (comparison, right) in rest {
            let right_value = self.number(right)?;
            let (smaller, larger) = match comparison {
                Comparison::LessOrEqual => (left, right_value.clone()),
                Comparison::GreaterOrEqual => (right_value.clone(), left),
                Comparison::Equal if rest.len() == 1 => (left, right_value.clone()),
                _ => return Err(wrong_comparison(*comparison, ast)),
            };
            if Some(*comparison) != direction {
                let error = ExpressionError::new(ast.span.clone(), "both comparisons must point the same way");
                return Err(error.hint("write `a <= g <= b`"));
            }
            values.push((*comparison, Node::sum([(false, smaller), (true, larger)])));
            left = right_value;
        }
        Ok(values)
    }
}

fn wrong_comparison(comparison: Comparison, ast: &Ast) -> ExpressionError {
    match comparison {
        Comparison::Less | Comparison::Greater => {
            let error = ExpressionError::new(ast.span.clone(), "a constraint cannot be strict");
            error.hint("write `<=` or `>=`; the boundary itself is allowed")
        }
        Comparison::NotEqual => {
            ExpressionError::new(ast.span.clone(), "`!=` cannot be a constraint").hint("write `<=`, `>=` or `==`")
        }
        _ => {
            let error = ExpressionError::new(ast.span.clone(), "`==` cannot be part of a double-sided constraint");
            error.hint("write two constraints")
        }
    }
}

/// The element at a position, counted from 0 row by row.
fn element_of(symbol: &Symbol, name: &str, at: usize, span: &Range<usize>) -> Result<Node> {
    match symbol {
        Symbol::Data(table) => Ok(Node::Const(table.values.get(at).copied().unwrap_or(f64::NAN))),
        Symbol::Slots { first, defined, .. } if at < *defined => Ok(Node::Slot(first + at as u32)),
        Symbol::Slots { .. } => {
            let error =
                ExpressionError::new(span.clone(), format!("element {} of `{name}` is not defined yet", at + 1));
            Err(error.hint("a definition may use earlier ones and its own earlier elements"))
        }
    }
}

fn reduced(reduction: Reduction, values: Vec<Node>, span: &Range<usize>) -> Result<Node> {
    let fold = match reduction {
        Reduction::Sum => return Ok(Node::sum(values.into_iter().map(|value| (false, value)))),
        Reduction::Product => return Ok(Node::product(values.into_iter().map(|value| (false, value)))),
        Reduction::Min => SMALLER,
        Reduction::Max => LARGER,
    };
    if values.is_empty() {
        return Err(ExpressionError::new(span.clone(), "the minimum or maximum of nothing")
            .hint("the loop must have at least one element"));
    }
    Ok(Node::fold(fold, values))
}

/// A number without hundreds of digits.
fn plain(number: f64) -> String {
    if number.abs() < 1e15 { format!("{number}") } else { format!("{number:e}") }
}

fn counted(indices: usize) -> String {
    match indices {
        0 => "no index".into(),
        1 => "one index".into(),
        n => format!("{n} indices"),
    }
}
