//! What is rejected before a run starts.

use super::{Kind, LARGEST_WHOLE, Space, SpaceError, Variable};

/// The smallest width of a real variable, relative to its larger bound (about a thousand numbers lie within), and the
/// smallest absolute width, far above the range where numbers lose digits.
const NARROWEST: f64 = 1024.0 * f64::EPSILON;
const SMALLEST: f64 = 1e-305;

impl Space {
    /// Rejects bounds with which no run can start.
    ///
    /// # Errors
    /// The first variable that cannot be searched, by name.
    pub fn check(&self) -> Result<(), SpaceError> {
        if !self.kinds.is_empty() && self.kinds.len() != self.dim() {
            return Err(SpaceError::Count { what: "kinds", got: self.kinds.len(), dim: self.dim() });
        }
        if !self.names.is_empty() && self.names.len() != self.dim() {
            return Err(SpaceError::Count { what: "names", got: self.names.len(), dim: self.dim() });
        }
        self.check_names()?;
        self.iter().enumerate().try_for_each(|(index, variable)| self.check_variable(index, variable))
    }

    /// Whether hardly any number lies between two different ends.
    pub fn too_narrow(low: f64, high: f64) -> bool {
        low < high && high - low < (NARROWEST * low.abs().max(high.abs())).max(SMALLEST)
    }

    fn check_variable(&self, index: usize, variable: Variable) -> Result<(), SpaceError> {
        let Variable { low, high, kind } = variable;
        let name = || self.name(index).map_or_else(|| index.to_string(), |name| format!("`{name}`"));
        if kind == Kind::Whole && low > high && low.is_finite() && high.is_finite() && low - high <= 1.0 {
            return Err(SpaceError::NoWholeNumber { name: name() });
        }
        let open = low == f64::NEG_INFINITY || high == f64::INFINITY;
        let fits = low <= high && low < f64::INFINITY && high > f64::NEG_INFINITY;
        if !(fits && (open || (high - low).is_finite())) {
            return Err(SpaceError::Box { name: name(), low, high });
        }
        let largest =
            [low, high].into_iter().filter(|end| end.is_finite()).fold(0.0_f64, |most, end| most.max(end.abs()));
        if kind == Kind::Real && !open && Space::too_narrow(low, high) {
            return Err(SpaceError::TooNarrow { name: name(), low, high });
        }
        if kind == Kind::Whole && largest > LARGEST_WHOLE {
            return Err(SpaceError::TooLarge { name: name(), low, high });
        }
        if kind == Kind::Whole && [low, high].iter().any(|end| end.is_finite() && end.fract() != 0.0) {
            return Err(SpaceError::Box { name: name(), low, high });
        }
        Ok(())
    }

    pub(super) fn check_names(&self) -> Result<(), SpaceError> {
        let mut sorted: Vec<&str> = self.names.iter().map(String::as_str).filter(|n| !n.is_empty()).collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(SpaceError::SameName { name: format!("`{}`", pair[0]) }),
            None => Ok(()),
        }
    }
}
