//! What the words of one program are: flags, their values, operands; and which of them name files.

use super::programs::{Operands, PROGRAMS, Program, Takes, names};
use super::{ShellStage, refuse, shown};
use crate::error::{Error, ErrorCode};
use Takes::{
    JoinedNumber, MaybeNumber, MaybeText, Nothing, Path, Pattern, PatternFile, Recursion, Text,
};

/// A program's words, looked through; `piped` when it has an input.
pub(super) fn stage(words: Vec<String>, piped: bool) -> Result<ShellStage, Error> {
    let (name, arguments) = match words.split_first() {
        Some((name, arguments)) => (name.as_str(), arguments),
        None => ("", [].as_slice()),
    };
    if is_assignment(name) {
        return refuse(
            ErrorCode::ShellAssignment,
            format!("{} sets a variable: leave it out", shown(name)),
        );
    }
    let Some(program) = PROGRAMS.iter().find(|program| program.name == name) else {
        return refuse(
            ErrorCode::ShellUnknownProgram,
            format!(
                "{} is not among the programs that only read: {}",
                shown(name),
                names()
            ),
        );
    };
    let paths = match program.operands {
        Operands::Texts => Vec::new(),
        Operands::Expression => expression(program, arguments)?,
        _ => Arguments::read(program, arguments)?.paths(piped)?,
    };
    Ok(ShellStage { argv: words, paths })
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_name) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// The words of a program that reads flags as POSIX says (Utility Syntax Guidelines) and GNU extends it.
struct Arguments<'a> {
    program: &'static Program,
    rest: std::slice::Iter<'a, String>,
    found: Vec<Found<'a>>,
    has_operand: bool,
    has_pattern: bool,
    is_recursive: bool,
}

/// What may be a path, in the order of the words.
enum Found<'a> {
    Operand(&'a str),
    /// A flag's value; `-` is the input.
    File(&'a str),
    /// A flag's value that only some systems take for a path.
    Perhaps(&'a str),
}

impl<'a> Arguments<'a> {
    fn read(program: &'static Program, words: &'a [String]) -> Result<Self, Error> {
        let mut arguments = Self {
            program,
            rest: words.iter(),
            found: Vec::new(),
            has_operand: false,
            has_pattern: false,
            is_recursive: false,
        };
        while let Some(word) = arguments.rest.next() {
            arguments.word(word)?;
        }
        Ok(arguments)
    }

    fn word(&mut self, word: &'a str) -> Result<(), Error> {
        if word == "--" {
            let operands = self.rest.by_ref().map(|word| Found::Operand(word));
            self.found.extend(operands);
            return Ok(());
        }
        if let Some(flag) = word.strip_prefix("--") {
            return self.long(flag);
        }
        match word.strip_prefix('-') {
            None | Some("") => {
                self.has_operand = true;
                self.found.push(Found::Operand(word));
                Ok(())
            }
            Some(digits) if self.takes_count(digits) => Ok(()),
            Some(letters) => self.letters(letters),
        }
    }

    /// `-5` of `head` and `tail`, which is no letter: `-5f` would follow.
    fn takes_count(&self, text: &str) -> bool {
        matches!(self.program.name, "head" | "tail") && text.chars().all(|c| c.is_ascii_digit())
    }

    /// `name` or `name=value`. Names may not be cut short: what a short one means depends on the version.
    fn long(&mut self, flag: &'a str) -> Result<(), Error> {
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        let takes = self.program.named("--", name)?;
        let written = format!("--{name}");
        match (takes, value) {
            (Nothing | Recursion, Some(_)) => self.program.refuse_flag(&written, "takes no value"),
            (Nothing | Recursion | MaybeNumber | MaybeText, None) => {
                self.is_recursive |= takes == Recursion;
                Ok(())
            }
            (_, Some(value)) => self.value(&written, takes, value),
            (JoinedNumber, None) => self
                .program
                .refuse_flag(&written, "needs its value in the same word, behind ="),
            (_, None) => self.next_value(&written, takes),
        }
    }

    /// `-la`, `-n5`, `-rne PATTERN`.
    fn letters(&mut self, letters: &'a str) -> Result<(), Error> {
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let takes = self.program.letter(letter)?;
            let written = format!("-{letter}");
            match takes {
                Nothing => {}
                Recursion => self.is_recursive = true,
                _ if rest.as_str().is_empty() => return self.next_value(&written, takes),
                _ => return self.value(&written, takes, rest.as_str()),
            }
        }
        Ok(())
    }

    fn next_value(&mut self, flag: &str, takes: Takes) -> Result<(), Error> {
        let Some(value) = self.rest.next() else {
            return self.program.refuse_flag(flag, "needs a value");
        };
        // Some systems stop looking for flags at the first operand; what follows are files to them.
        if self.has_operand && matches!(takes, Text | Pattern) {
            self.found.push(Found::Perhaps(value));
        }
        self.value(flag, takes, value)
    }

    fn value(&mut self, flag: &str, takes: Takes, value: &'a str) -> Result<(), Error> {
        self.program.check_value(flag, takes, value)?;
        self.has_pattern |= matches!(takes, Pattern | PatternFile);
        if matches!(takes, Path | PatternFile) {
            self.found.push(Found::File(value));
        }
        Ok(())
    }

    fn paths(self, piped: bool) -> Result<Vec<String>, Error> {
        let program = self.program;
        let operands = program.operands;
        let reads_input = matches!(
            operands,
            Operands::Input | Operands::PathsOrInput | Operands::PatternThenInput
        );
        let mut pattern_next = operands == Operands::PatternThenInput && !self.has_pattern;
        let mut has_file = false;
        let mut paths = Vec::new();
        for found in self.found {
            let (path, is_input) = match found {
                Found::Operand(_) if std::mem::take(&mut pattern_next) => continue,
                Found::Operand(word) if operands == Operands::None => {
                    return refuse(
                        ErrorCode::ShellOperand,
                        format!(
                            "{} takes no operand: leave {} out",
                            program.name,
                            shown(word)
                        ),
                    );
                }
                Found::Operand(word) if operands == Operands::Names && !word.contains('/') => {
                    continue;
                }
                Found::Operand(word) => {
                    has_file = true;
                    (word, reads_input && word == "-")
                }
                Found::File(value) => (value, value == "-"),
                Found::Perhaps(value) => (value, false),
            };
            match (is_input, piped) {
                (true, false) => return program.refuse_input(),
                (true, true) => {}
                (false, _) => paths.push(path.to_owned()),
            }
        }
        let wants_input = reads_input && operands != Operands::PathsOrInput;
        if wants_input && !has_file && !self.is_recursive && !piped {
            return program.refuse_input();
        }
        Ok(paths)
    }
}

/// The paths of `find`: those that it starts from, and those that its expression compares with.
fn expression(program: &Program, words: &[String]) -> Result<Vec<String>, Error> {
    let mut paths = Vec::new();
    let mut rest = words.iter().map(String::as_str).peekable();
    while rest.next_if(|word| matches!(*word, "-H" | "-P")).is_some() {}
    while let Some(path) = rest.next_if(|word| !opens_expression(word)) {
        paths.push(path.to_owned());
    }
    while let Some(word) = rest.next() {
        if !opens_expression(word) {
            return refuse(
                ErrorCode::ShellOperand,
                format!(
                    "find takes folders before its tests: move {} there",
                    shown(word)
                ),
            );
        }
        let takes = match newer(word) {
            Some(takes) => takes,
            None => program.named("", word)?,
        };
        if takes == Nothing {
            continue;
        }
        let Some(value) = rest.next() else {
            return program.refuse_flag(word, "needs a value");
        };
        // No value may pass for a test where the flag is one without a value.
        if matches!(takes, Text | Path) && value.starts_with('-') {
            return program.refuse_flag(word, "needs a value that does not begin with -");
        }
        program.check_value(word, takes, value)?;
        if takes == Path {
            paths.push(value.to_owned());
        }
    }
    Ok(paths)
}

fn opens_expression(word: &str) -> bool {
    matches!(word, "(" | ")" | "!" | ",") || (word.len() > 1 && word.starts_with('-'))
}

/// `-newerXY`: compares the time X of a file with the time Y of another; `t` is a time itself.
fn newer(word: &str) -> Option<Takes> {
    let mut kinds = word.strip_prefix("-newer")?.chars();
    match (kinds.next(), kinds.next(), kinds.next()) {
        (Some('a' | 'B' | 'c' | 'm'), Some('t'), None) => Some(Text),
        (Some('a' | 'B' | 'c' | 'm'), Some('a' | 'B' | 'c' | 'm'), None) => Some(Path),
        _ => None,
    }
}
