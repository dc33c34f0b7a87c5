//! Places in a text: line and column, as an editor counts them.

use std::ops::Range;

/// A line and a column, both from 1. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Finds the places of bytes in a text.
#[derive(Clone, Debug)]
pub struct Places<'a> {
    text: &'a str,
    /// Where each line begins, in bytes.
    starts: Vec<usize>,
}

impl<'a> Places<'a> {
    /// Reads the lines of a text once.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The place of a byte; past the end it is the end.
    #[must_use]
    pub fn place(&self, byte: usize) -> Place {
        let byte = byte.min(self.text.len());
        let line = self.line_of(byte);
        let before = self.text.get(self.starts[line]..byte).unwrap_or_default();
        Place { line: line + 1, column: before.chars().count() + 1 }
    }

    /// How many lines there are.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// The text of a line (from 1), without its end.
    #[must_use]
    pub fn line(&self, number: usize) -> &'a str {
        let range = self.line_range(number);
        self.text[range].trim_end_matches(['\n', '\r'])
    }

    /// The byte of a column (from 1, in characters) of the text from `start` on, as a
    /// tokenizer counts that begins there: its first line is the line of `start`.
    #[must_use]
    pub fn byte_at(&self, start: usize, line: u64, column: u64) -> usize {
        let (line, column) = (as_index(line), as_index(column));
        let begin = match line {
            0 | 1 => start,
            _ => self.starts.get(self.line_of(start) + line - 1).copied().unwrap_or(self.text.len()),
        };
        let rest = &self.text[begin..];
        rest.char_indices().nth(column.saturating_sub(1)).map_or(self.text.len(), |(at, _)| begin + at)
    }

    fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    fn line_range(&self, number: usize) -> Range<usize> {
        let at = |index: usize| self.starts.get(index).copied().unwrap_or(self.text.len());
        at(number.saturating_sub(1))..at(number)
    }
}

fn as_index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "a\nüb;\r\n  c";
        let places = Places::of(text);
        let of = |word: &str| places.place(text.find(word).unwrap());
        assert_eq!(of("b"), Place { line: 2, column: 2 });
        assert_eq!(of("c"), Place { line: 3, column: 3 });
        assert_eq!(places.place(999), Place { line: 3, column: 4 });
        assert_eq!((places.line(2), places.line(3), places.lines()), ("üb;", "  c", 3));
    }

    #[test]
    fn bytes_of_a_tokenizer_that_begins_inside() {
        let text = "x\nab ü;\n cd";
        let places = Places::of(text);
        let start = text.find('b').unwrap();
        assert_eq!(&text[places.byte_at(start, 1, 3)..][..2], "ü");
        assert_eq!(&text[places.byte_at(start, 2, 2)..], "cd");
        assert_eq!(places.byte_at(start, 9, 1), text.len());
    }
}
