//! What differs between two texts, line by line, in the unified format of `diff -u` (POSIX, "Diff -u or -U
//! Output Format").

use std::fmt::Write;
use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use crate::limits::{DIFF_CONTEXT_LINES, DIFF_MAX_LINES};
use crate::text::{lines_with_ends, one_line};

/// A diff, and how many lines come and go.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Diff {
    pub text: String,
    pub added: u32,
    pub removed: u32,
}

/// The diff of a file; none is a file that is not there.
pub(super) fn unified(path: &str, old: Option<&str>, new: Option<&str>) -> Diff {
    let from: Vec<&str> = lines_with_ends(old.unwrap_or_default()).collect();
    let to: Vec<&str> = lines_with_ends(new.unwrap_or_default()).collect();
    let hunks = group_diff_ops(operations(&from, &to), DIFF_CONTEXT_LINES);
    let mut diff = Diff::default();
    for hunk in &hunks {
        if diff.text.is_empty() {
            let name = |side: &str, text: Option<&str>| match text {
                // A line break in a name would be a line of the diff.
                Some(_) => one_line(&format!("{side}/{path}")),
                None => "/dev/null".to_owned(),
            };
            let (a, b) = (name("a", old), name("b", new));
            let _ = writeln!(diff.text, "--- {a}\n+++ {b}");
        }
        diff.hunk(hunk, &from, &to);
    }
    diff
}

/// How one text becomes the other. In long texts that have little in common nothing is looked for between their
/// common beginning and end, as it could take minutes.
fn operations(from: &[&str], to: &[&str]) -> Vec<DiffOp> {
    let is_same = |(a, b): &(&&str, &&str)| a == b;
    let begin = from.iter().zip(to).take_while(is_same).count();
    let shorter = from.len().min(to.len()).saturating_sub(begin);
    let ends = from.iter().rev().zip(to.iter().rev()).take(shorter);
    let end = ends.take_while(is_same).count();
    let common = begin.saturating_add(end);
    let old_len = from.len().saturating_sub(common);
    let new_len = to.len().saturating_sub(common);
    if old_len.saturating_add(new_len) <= DIFF_MAX_LINES {
        return capture_diff_slices(Algorithm::Myers, from, to);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal {
        old_index,
        new_index,
        len,
    };
    let replace = DiffOp::Replace {
        old_index: begin,
        old_len,
        new_index: begin,
        new_len,
    };
    let last = (from.len().saturating_sub(end), to.len().saturating_sub(end));
    let mut operations = vec![equal(0, 0, begin), replace, equal(last.0, last.1, end)];
    operations.retain(|operation| !matches!(operation, DiffOp::Equal { len: 0, .. }));
    operations
}

impl Diff {
    fn hunk(&mut self, hunk: &[DiffOp], from: &[&str], to: &[&str]) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
            return;
        };
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let _ = writeln!(self.text, "@@ -{} +{} @@", range(&old), range(&new));
        for op in hunk {
            let (tag, old, new) = op.as_tag_tuple();
            let old = from.get(old).unwrap_or_default();
            if tag == DiffTag::Equal {
                self.lines(' ', old);
                continue;
            }
            let new = to.get(new).unwrap_or_default();
            self.removed = self.removed.saturating_add(count(old));
            self.added = self.added.saturating_add(count(new));
            self.lines('-', old);
            self.lines('+', new);
        }
    }

    fn lines(&mut self, sign: char, lines: &[&str]) {
        for line in lines {
            self.text.push(sign);
            self.text.push_str(line);
            if !line.ends_with('\n') {
                self.text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

fn count(lines: &[&str]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}

/// The number of the first line, from 1, and how many there are unless it is one. Of none, the number is that
/// of the line before.
fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start.saturating_add(1)),
        many => format!("{},{many}", lines.start.saturating_add(1)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Diff, unified};

    fn diff(old: &str, new: &str) -> String {
        let Diff { text, .. } = unified("n.md", Some(old), Some(new));
        text.strip_prefix("--- a/n.md\n+++ b/n.md\n")
            .unwrap_or(&text)
            .to_owned()
    }

    /// `1\n2\n…` up to this number.
    fn numbers(last: u32) -> String {
        (1..=last).map(|number| format!("{number}\n")).collect()
    }

    #[test]
    fn a_change_stands_between_three_lines() {
        let new = numbers(9).replace('5', "five");
        assert_eq!(
            unified("sub/n.md", Some(&numbers(9)), Some(&new)),
            Diff {
                text: "--- a/sub/n.md\n+++ b/sub/n.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
                    .to_owned(),
                added: 1,
                removed: 1,
            }
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_the_null_device() {
        assert_eq!(
            unified("n.md", None, Some("a\nb\n")),
            Diff {
                text: "--- /dev/null\n+++ b/n.md\n@@ -0,0 +1,2 @@\n+a\n+b\n".to_owned(),
                added: 2,
                removed: 0,
            }
        );
        assert_eq!(
            unified("n.md", Some("a\n"), None),
            Diff {
                text: "--- a/n.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n".to_owned(),
                added: 0,
                removed: 1,
            }
        );
    }

    #[test]
    fn nothing_that_differs_is_nothing() {
        for (old, new) in [
            (Some("a\n"), Some("a\n")),
            (None, Some("")),
            (Some(""), None),
        ] {
            assert_eq!(unified("n.md", old, new), Diff::default());
        }
    }

    #[test]
    fn a_line_without_end_says_so() {
        let mark = "\\ No newline at end of file\n";
        assert_eq!(diff("a", "a\n"), format!("@@ -1 +1 @@\n-a\n{mark}+a\n"));
        assert_eq!(
            diff("a\nb", "c\nb"),
            format!("@@ -1,2 +1,2 @@\n-a\n+c\n b\n{mark}")
        );
    }

    #[test]
    fn only_lf_ends_a_line() {
        assert_eq!(
            diff("a\r\nb\n", "a\nb\n"),
            "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n"
        );
        assert_eq!(diff("a\rb\n", "a\rc\n"), "@@ -1 +1 @@\n-a\rb\n+a\rc\n");
        assert_eq!(
            diff("a\r", "b\n"),
            "@@ -1 +1 @@\n-a\r\n\\ No newline at end of file\n+b\n"
        );
    }

    #[test]
    fn a_name_is_one_line() {
        let Diff { text, .. } = unified("a\nb.md", None, Some("x\n"));
        assert!(
            text.starts_with("--- /dev/null\n+++ b/a b.md\n@@ "),
            "{text}"
        );
    }

    /// Six equal lines between two changes are the context of both, seven part them.
    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let change = |last: u32| {
            let old = numbers(last);
            let new = old
                .replacen("1\n", "x\n", 1)
                .replace(&format!("\n{last}\n"), "\ny\n");
            diff(&old, &new)
        };
        assert_eq!(
            change(8),
            "@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n"
        );
        assert_eq!(
            change(9),
            "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n"
        );
    }

    /// What a diff makes of a text, by the definition of the format alone: every line that stays or goes is
    /// the next one of the old text, and the numbers say where a hunk begins in both.
    fn patched(old: &str, diff: &str) -> String {
        let mut rest = old.split_inclusive('\n');
        let (mut new, mut taken, mut given) = (String::new(), 0, 0);
        let mut lines = diff.split_inclusive('\n').skip(2).peekable();
        while let Some(line) = lines.next() {
            let (sign, text) = line.split_at(1);
            let unended = lines.next_if(|next| next.starts_with('\\')).is_some();
            let text = match unended {
                true => text.strip_suffix('\n').unwrap(),
                false => text,
            };
            match sign {
                "@" => {
                    let mut ranges = text.split(' ').skip(1).take(2);
                    let mut next = || {
                        let range = ranges.next().unwrap().get(1..).unwrap();
                        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                        let start: usize = start.parse().unwrap();
                        start - usize::from(count != "0")
                    };
                    let (from, to) = (next(), next());
                    while taken < from {
                        new.push_str(rest.next().unwrap());
                        (taken, given) = (taken + 1, given + 1);
                    }
                    assert_eq!((taken, given), (from, to), "{diff}");
                }
                "+" => {
                    new.push_str(text);
                    given += 1;
                }
                " " | "-" => {
                    assert_eq!(rest.next(), Some(text), "{diff}");
                    taken += 1;
                    if sign == " " {
                        new.push_str(text);
                        given += 1;
                    }
                }
                _ => panic!("{line:?} in {diff}"),
            }
        }
        rest.for_each(|line| new.push_str(line));
        new
    }

    fn check(old: &str, new: &str) {
        let Diff {
            text,
            added,
            removed,
        } = unified("n.md", Some(old), Some(new));
        assert_eq!(patched(old, &text), new, "{text}");
        let count = |sign: char| {
            text.lines()
                .skip(2)
                .filter(|line| line.starts_with(sign))
                .count()
        };
        assert_eq!((count('+'), count('-')), (added as usize, removed as usize));
    }

    proptest! {
        #[test]
        fn a_diff_makes_the_new_text_of_the_old_one(
            old in "([ab\\-+@\\\\\r]{0,2}\n){0,20}[ab]{0,2}",
            new in "([ab\\-+@\\\\\r]{0,2}\n){0,20}[ab]{0,2}",
        ) {
            check(&old, &new);
        }

        #[test]
        fn any_two_texts_have_a_diff(old: String, new: String) {
            check(&old, &new);
        }
    }

    #[test]
    fn a_long_text_that_is_another_one_is_replaced_between_what_is_common() {
        let lines = |letter: char| -> String {
            (0..10_001)
                .map(|number| format!("{letter}{number}\n"))
                .collect()
        };
        let old = format!("1\n2\n3\n4\n{}same\n{}9\n", lines('a'), lines('b'));
        let new = format!("1\n2\n3\n4\n{}same\n{}9\n", lines('c'), lines('d'));
        let Diff {
            text,
            added,
            removed,
        } = unified("n.md", Some(&old), Some(&new));
        assert_eq!(patched(&old, &text), new);
        assert_eq!((added, removed), (20_003, 20_003));
        assert!(text.contains("\n@@ -2,20007 +2,20007 @@\n 2\n 3\n 4\n-a0\n"));
        // One line more or less is found at any length.
        let longer = old.replace("same\n", "same\nnew\n");
        let Diff { added, removed, .. } = unified("n.md", Some(&old), Some(&longer));
        assert_eq!((added, removed), (1, 0));
        for (old, new) in [("", new.as_str()), (old.as_str(), "")] {
            let Diff { text, .. } = unified("n.md", Some(old), Some(new));
            assert_eq!(patched(old, &text), new);
        }
    }
}
