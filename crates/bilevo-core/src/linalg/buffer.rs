//! Memory for large matrices that is reused.
//!
//! If it were freed, it would go back to the operating system, which would have to provide fresh pages for every fit
//! of a surrogate: that took a quarter of the time of a run with ten variables at each level.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Maximum number of buffers kept.
const SPARE: usize = 8;

thread_local! {
    static SPARES: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// Numbers in reused memory.
#[derive(Debug)]
pub(crate) struct Buffer(Vec<f64>);

impl Buffer {
    /// A buffer of this many numbers, with arbitrary values.
    pub(crate) fn of_anything(len: usize) -> Self {
        let mut numbers = spare();
        numbers.resize(len, 0.0);
        Buffer(numbers)
    }
}

/// A buffer that was returned earlier, with its old content.
fn spare() -> Vec<f64> {
    SPARES.try_with(|spares| spares.try_borrow_mut().ok()?.pop()).ok().flatten().unwrap_or_default()
}

impl From<Vec<f64>> for Buffer {
    fn from(numbers: Vec<f64>) -> Self {
        Buffer(numbers)
    }
}

impl Default for Buffer {
    /// Empty.
    fn default() -> Self {
        Buffer::of_anything(0)
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        let mut copy = Buffer::default();
        copy.extend_from_slice(self);
        copy
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let numbers = std::mem::take(&mut self.0);
        // When the thread ends, nobody will reuse it.
        let _ = SPARES.try_with(|spares| {
            if let Ok(mut spares) = spares.try_borrow_mut()
                && spares.len() < SPARE
                && numbers.capacity() > 0
            {
                spares.push(numbers);
            }
        });
    }
}

impl Deref for Buffer {
    type Target = Vec<f64>;

    fn deref(&self) -> &Vec<f64> {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut Vec<f64> {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_one_takes_the_memory_over() {
        let first = Buffer::of_anything(1000);
        let memory = first.as_ptr();
        drop(first);
        let second = Buffer::of_anything(900);
        assert_eq!((second.as_ptr(), second.len()), (memory, 900));
        let copy = second.clone();
        assert_ne!(copy.as_ptr(), memory);
        assert_eq!(*copy, *second);
        drop(second);
        assert!(Buffer::default().is_empty());
    }
}
