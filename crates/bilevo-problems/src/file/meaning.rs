//! A hash of what a problem file means, the same on every machine. Comments, blanks, the order of keys, the notation
//! of numbers, and keys for human readers do not affect it; the values of all other keys, the tables, and the files
//! of a program do.

use super::UNITS;
use super::reader::{Field, fields, plain_number};
use super::tables::NOTES;
use std::io::{self, Read};
use toml::de::{DeTable, DeValue};

/// How long to wait for a program does not affect what it computes.
const PATIENCE: [&str; 4] = ["timeout", "start_timeout", "max_failures", "memory_mb"];

/// FNV-1a, 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct Hash(u64);

impl Hash {
    /// The hash of a document. The name is compared separately, and a file without one is named after itself.
    pub(crate) fn new(document: &DeTable) -> Self {
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        let silent = |key: &str| ["name", UNITS].contains(&key) || NOTES.contains(&key) || PATIENCE.contains(&key);
        let mut top = fields("", document);
        top.retain(|field| !silent(&field.key));
        hash.fields(top, false);
        hash
    }

    /// Adds a table by the name written in the file; lines that are empty or a comment do not count.
    pub(crate) fn table(&mut self, name: &str, text: &str) {
        self.text(name);
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .for_each(|l| self.text(l));
        self.bytes(b"!");
    }

    /// Adds the content of a file by the name written in the problem file.
    pub(crate) fn file(&mut self, name: &str, mut content: impl Read) -> io::Result<()> {
        self.text(name);
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match content.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => self.bytes(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.bytes(b"!");
        Ok(())
    }

    /// Sixteen digits.
    pub(crate) fn digits(&self) -> String {
        format!("{:016x}", self.0)
    }

    /// The order of variables and of a table's columns matters; that of other keys does not.
    fn fields(&mut self, mut all: Vec<Field>, in_order: bool) {
        if !in_order {
            all.sort_by(|one, other| one.key.cmp(&other.key));
        }
        self.bytes(b"{");
        for Field { key, value, .. } in &all {
            self.text(key);
            self.value(value, in_order || matches!(key.as_str(), "variables" | "data"));
        }
        self.bytes(b"}");
    }

    fn value(&mut self, value: &DeValue, in_order: bool) {
        match value {
            DeValue::String(text) => {
                self.bytes(b"s");
                self.text(text);
            }
            DeValue::Integer(_) | DeValue::Float(_) => {
                self.bytes(b"n");
                self.bytes(&plain_number(value).unwrap_or(f64::NAN).to_bits().to_le_bytes());
            }
            DeValue::Boolean(yes) => self.bytes(&[b'b', u8::from(*yes)]),
            DeValue::Datetime(date) => self.text(&date.to_string()),
            DeValue::Array(list) => {
                self.bytes(b"[");
                list.iter().for_each(|one| self.value(one.get_ref(), in_order));
                self.bytes(b"]");
            }
            DeValue::Table(table) => self.fields(fields("", table), in_order),
        }
    }

    /// The terminator of a text cannot be part of a text.
    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
