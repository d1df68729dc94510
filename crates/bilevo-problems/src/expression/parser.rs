//! Tokens to a tree: ordinary precedence, `-x^2` is `-(x^2)`, `^` binds to the right.
//!
//! From weak to strong: `or`, `and`, `not`, comparisons, `+ -`, `* /`, sign, `^`.

use super::ast::{Ast, Comparison, Index, Kind, Loops, Reduction, Statement};
use super::error::{ExpressionError, Result};
use super::lexer::{Lexer, Token};
use std::ops::Range;

/// Maximum nesting of brackets, signs and powers, so that no text can exhaust the stack.
const MAX_DEPTH: usize = 100;

/// Words that are part of the language and cannot be names.
pub(crate) const KEYWORDS: [&str; 6] = ["and", "or", "not", "in", "for", "if"];

/// Reads one expression.
pub(crate) fn parse(text: &str) -> Result<Ast<'_>> {
    let mut parser = Parser { lexer: Lexer::new(text)?, depth: 0 };
    let ast = parser.expression()?;
    parser.end()?;
    Ok(ast)
}

/// Reads an expression that may be repeated: `... for i in 1..n, j in 1..m if condition`.
pub(crate) fn parse_statement(text: &str) -> Result<Statement<'_>> {
    let mut parser = Parser { lexer: Lexer::new(text)?, depth: 0 };
    let body = parser.expression()?;
    let loops = if parser.lexer.take_word("for")? { parser.loops()? } else { Loops::default() };
    parser.end()?;
    Ok(Statement { body, loops })
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Goes one level deeper, if that is still allowed.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            let error = ExpressionError::new(self.lexer.span(), format!("more than {MAX_DEPTH} levels of nesting"));
            return Err(error.hint("give parts of the expression a name under [definitions]"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn since(&self, start: usize) -> Range<usize> {
        start..self.lexer.before.max(start)
    }

    fn end(&mut self) -> Result<()> {
        if self.lexer.peek() == Token::End {
            return Ok(());
        }
        let error = ExpressionError::new(self.lexer.span(), format!("{} is not expected here", self.lexer.found()));
        Err(match self.lexer.peek() {
            Token::Name(_) | Token::Number(_) | Token::Sign("(") => {
                error.hint("an operator is missing; products need `*`, as in `2*x`")
            }
            Token::Sign("=") => error.hint("an equation is written with `==`, the others are `<=` and `>=`"),
            Token::Sign(")" | "]") => error.hint("a bracket is closed that was never opened"),
            _ => error.hint("the expression ends before this"),
        })
    }

    fn expression(&mut self) -> Result<Ast<'a>> {
        self.deeper(|parser| parser.any())
    }

    /// `and` binds stronger than `or`.
    fn any(&mut self) -> Result<Ast<'a>> {
        let start = self.lexer.span().start;
        let mut parts = vec![self.all()?];
        while self.lexer.take_word("or")? {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Kind::Or, self.since(start)))
    }

    fn all(&mut self) -> Result<Ast<'a>> {
        let start = self.lexer.span().start;
        let mut parts = vec![self.negation()?];
        while self.lexer.take_word("and")? {
            parts.push(self.negation()?);
        }
        Ok(one_or(parts, Kind::And, self.since(start)))
    }

    fn negation(&mut self) -> Result<Ast<'a>> {
        let start = self.lexer.span().start;
        if self.lexer.take_word("not")? {
            let inner = self.deeper(Self::negation)?;
            return Ok(Ast { kind: Kind::Not(Box::new(inner)), span: self.since(start) });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Ast<'a>> {
        let start = self.lexer.span().start;
        let first = self.sum()?;
        let mut rest = Vec::new();
        while let Token::Sign(sign) = self.lexer.peek() {
            let Some(comparison) = Comparison::of(sign) else { break };
            self.lexer.take()?;
            rest.push((comparison, self.sum()?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Ast { kind: Kind::Compare(Box::new(first), rest), span: self.since(start) })
    }

    fn sum(&mut self) -> Result<Ast<'a>> {
        self.chain("+", "-", Self::product, Kind::Sum)
    }

    fn product(&mut self) -> Result<Ast<'a>> {
        self.chain("*", "/", Self::signed, Kind::Product)
    }

    /// Parts joined by two operators of the same precedence, the second of which undoes the first.
    fn chain(
        &mut self,
        forward: &str,
        inverse: &str,
        part: fn(&mut Self) -> Result<Ast<'a>>,
        kind: fn(Vec<(bool, Ast<'a>)>) -> Kind<'a>,
    ) -> Result<Ast<'a>> {
        let start = self.lexer.span().start;
        let first = part(self)?;
        let mut parts = Vec::new();
        loop {
            let inverted = match self.lexer.peek() {
                Token::Sign(sign) if sign == forward => false,
                Token::Sign(sign) if sign == inverse => true,
                _ => break,
            };
            self.lexer.take()?;
            parts.push((inverted, part(self)?));
        }
        if parts.is_empty() {
            return Ok(first);
        }
        parts.insert(0, (false, first));
        Ok(Ast { kind: kind(parts), span: self.since(start) })
    }

    /// A sign is weaker than a power: `-x^2` is `-(x^2)`.
    fn signed(&mut self) -> Result<Ast<'a>> {
        let start = self.lexer.span().start;
        if self.lexer.take_sign("+")? {
            return self.deeper(Self::signed);
        }
        if self.lexer.take_sign("-")? {
            let inner = self.deeper(Self::signed)?;
            return Ok(Ast { kind: Kind::Sum(vec![(true, inner)]), span: self.since(start) });
        }
        self.power()
    }

    /// `2^3^2` is `2^(3^2)`, and an exponent may have a sign.
    fn power(&mut self) -> Result<Ast<'a>> {
        let start = self.lexer.span().start;
        let base = self.atom()?;
        if !self.lexer.take_sign("^")? {
            return Ok(base);
        }
        let exponent = self.deeper(Self::signed)?;
        Ok(Ast { kind: Kind::Power(Box::new(base), Box::new(exponent)), span: self.since(start) })
    }

    fn atom(&mut self) -> Result<Ast<'a>> {
        let found = self.lexer.found();
        let span = self.lexer.span();
        let kind = match self.lexer.peek() {
            Token::Number(number) => {
                self.lexer.take()?;
                Kind::Number(number)
            }
            Token::Name(name) if name == "if" || !KEYWORDS.contains(&name) => {
                self.lexer.take()?;
                self.named(name)?
            }
            Token::Sign("(") => {
                self.lexer.take()?;
                let inner = self.expression()?;
                self.close(")", span)?;
                return Ok(inner);
            }
            _ => {
                let error = ExpressionError::new(span, format!("a number, a name or `(` is missing before {found}"));
                return Err(error.hint("every operator needs something on both sides"));
            }
        };
        Ok(Ast { kind, span: self.since(span.start) })
    }

    /// What begins with a name: a variable, an element, a call or a loop.
    fn named(&mut self, name: &'a str) -> Result<Kind<'a>> {
        let bracket = self.lexer.span();
        if self.lexer.take_sign("[")? {
            let indices = self.list("]", bracket)?;
            return Ok(Kind::Element(name, indices));
        }
        if !self.lexer.take_sign("(")? {
            return Ok(Kind::Name(name));
        }
        if let Some(reduction) = Reduction::named(name)
            && let Some(loops) = self.loops_of_call()?
        {
            let body = self.expression()?;
            self.close(")", bracket)?;
            return Ok(Kind::Reduce(reduction, loops, Box::new(body)));
        }
        Ok(Kind::Call(name, self.list(")", bracket)?))
    }

    /// The loops at the beginning of `sum(i in 1..n, ...)`, if there are any.
    fn loops_of_call(&mut self) -> Result<Option<Loops<'a>>> {
        if !self.begins_loop()? {
            return Ok(None);
        }
        let loops = self.loops()?;
        if !self.lexer.take_sign(",")? {
            let found = self.lexer.found();
            let error = ExpressionError::new(
                self.lexer.span(),
                format!("`,` and the terms of the sum are missing before {found}"),
            );
            return Err(error.hint("a sum is written as `sum(i in 1..3, y[i])`"));
        }
        Ok(Some(loops))
    }

    /// Whether `name in` comes next.
    fn begins_loop(&self) -> Result<bool> {
        let mut ahead = self.lexer.clone();
        let name = matches!(ahead.take()?.0, Token::Name(name) if !KEYWORDS.contains(&name));
        Ok(name && ahead.peek() == Token::Name("in"))
    }

    /// `i in 1..n, j in 1..m if condition`; the comma before something else is left.
    fn loops(&mut self) -> Result<Loops<'a>> {
        let mut loops = Loops::default();
        loop {
            loops.indices.push(self.index()?);
            let more = self.lexer.peek() == Token::Sign(",") && {
                let mut ahead = Parser { lexer: self.lexer.clone(), depth: 0 };
                ahead.lexer.take()?;
                ahead.begins_loop()?
            };
            if !more {
                break;
            }
            self.lexer.take()?;
        }
        if self.lexer.take_word("if")? {
            loops.filter = Some(Box::new(self.expression()?));
        }
        Ok(loops)
    }

    fn index(&mut self) -> Result<Index<'a>> {
        let found = self.lexer.found();
        let (token, span) = self.lexer.take()?;
        let Token::Name(name) = token else {
            let error = ExpressionError::new(span, format!("an index is missing before {found}"));
            return Err(error.hint("a loop is written as `i in 1..3`"));
        };
        if !self.lexer.take_word("in")? {
            let error =
                ExpressionError::new(self.lexer.span(), format!("`in` is missing before {}", self.lexer.found()));
            return Err(error.hint("a loop is written as `i in 1..3`"));
        }
        let first = self.deeper(Self::sum)?;
        if !self.lexer.take_sign("..")? {
            let error =
                ExpressionError::new(self.lexer.span(), format!("`..` is missing before {}", self.lexer.found()));
            return Err(error.hint("a loop is written as `i in 1..3`"));
        }
        let last = self.deeper(Self::sum)?;
        Ok(Index { name, span, first, last })
    }

    /// Expressions separated by commas, up to a closing bracket.
    fn list(&mut self, end: &str, opened: Range<usize>) -> Result<Vec<Ast<'a>>> {
        let mut parts = Vec::new();
        if self.lexer.take_sign(end)? {
            return Ok(parts);
        }
        loop {
            parts.push(self.expression()?);
            if !self.lexer.take_sign(",")? {
                self.close(end, opened)?;
                return Ok(parts);
            }
        }
    }

    fn close(&mut self, end: &str, opened: Range<usize>) -> Result<()> {
        if self.lexer.take_sign(end)? {
            return Ok(());
        }
        if self.lexer.peek() == Token::End {
            let error = ExpressionError::new(opened, "this bracket is never closed");
            return Err(error.hint(format!("add `{end}`")));
        }
        let found = self.lexer.found();
        let error = ExpressionError::new(
            self.lexer.span(),
            format!("{found} is found where an operator or `{end}` is expected"),
        );
        Err(match self.lexer.peek() {
            Token::Name(_) | Token::Number(_) | Token::Sign("(") => error.hint("products need `*`, as in `2*x`"),
            Token::Sign("=") => error.hint("equality is written with `==`"),
            _ => error.hint(format!("is `{end}` missing before it?")),
        })
    }
}

/// A single part unchanged, several as one node.
fn one_or<'a>(mut parts: Vec<Ast<'a>>, kind: fn(Vec<Ast<'a>>) -> Kind<'a>, span: Range<usize>) -> Ast<'a> {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            Ast { kind: kind(parts), span }
        }
    }
}
