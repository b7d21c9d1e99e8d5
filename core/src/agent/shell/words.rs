//! How a command is cut into words and programs (POSIX, Shell Command Language, 2.2 and 2.3), and what is
//! refused because a shell would do more with it.

use super::programs::names;
use super::refuse;
use crate::error::{Error, ErrorCode};

/// The words of each program, in the order of the pipe.
pub(super) fn split(command: &str) -> Result<Vec<Vec<String>>, Error> {
    let mut splitter = Splitter {
        rest: command.trim_start_matches([' ', '\t', '\n']),
        word: None,
        opens_tilde: true,
        words: Vec::new(),
        pipe: Vec::new(),
    };
    while let Some(c) = splitter.take() {
        splitter.unquoted(c)?;
    }
    splitter.end_program()?;
    Ok(splitter.pipe)
}

/// A command that is read character by character.
struct Splitter<'a> {
    rest: &'a str,
    /// The word that is being read; an empty one may have been quoted.
    word: Option<String>,
    /// Whether a shell would take `~` here for a home: where a word begins, and behind `=` and `:`.
    opens_tilde: bool,
    words: Vec<String>,
    pipe: Vec<Vec<String>>,
}

impl Splitter<'_> {
    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn next(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_program(&mut self) -> Result<(), Error> {
        self.end_word();
        if self.words.is_empty() {
            return refuse(
                ErrorCode::ShellEmpty,
                format!(
                    "give a command, and one on each side of a pipe: {}",
                    names()
                ),
            );
        }
        self.pipe.push(std::mem::take(&mut self.words));
        Ok(())
    }

    /// One character outside quotes.
    fn unquoted(&mut self, c: char) -> Result<(), Error> {
        let tilde = std::mem::replace(
            &mut self.opens_tilde,
            matches!(c, ' ' | '\t' | '|' | '=' | ':'),
        );
        match c {
            ' ' | '\t' => self.end_word(),
            '\n' => return self.line_end(),
            '\'' => return self.single_quoted(),
            '"' => return self.double_quoted(),
            '\\' => return self.escaped(),
            '|' => return self.bar(),
            '&' => return self.ampersand(),
            ';' => return separator(";"),
            '<' | '>' if self.next() == Some('(') => return substitution("<( or >("),
            '<' | '>' => return redirection(c),
            '`' => return substitution("a backtick"),
            '$' => return self.dollar(false),
            '(' | ')' => {
                return refuse(
                    ErrorCode::ShellSubshell,
                    "no shell is here to start another in parentheses: quote them, or leave them out",
                );
            }
            // No shell expands empty braces, and `find -exec` has a better answer.
            '{' if self.next() == Some('}') => {
                self.take();
                self.push('{');
                self.push('}');
            }
            '{' | '}' => return expansion("braces", "write each word out"),
            '~' if tilde => return expansion("~", "write the folder out"),
            '!' if !matches!(self.next(), None | Some(' ' | '\t' | '\n')) => {
                return expansion("!", "quote it");
            }
            '#' if self.word.is_none() => {
                return refuse(
                    ErrorCode::ShellComment,
                    "leave the comment out, or quote the #",
                );
            }
            '*' | '?' | '[' if !self.is_value() => {
                return refuse(
                    ErrorCode::ShellGlob,
                    format!(
                        "no shell expands {c} here: quote a pattern; else name the files, or find them first"
                    ),
                );
            }
            _ => self.push(c),
        }
        Ok(())
    }

    /// Whether the word is `--name=…`: a shell leaves wildcards in it alone, as no file is named so.
    fn is_value(&self) -> bool {
        let word = self.word.as_deref().unwrap_or_default();
        word.starts_with("--") && word.contains('=')
    }

    fn line_end(&mut self) -> Result<(), Error> {
        if self.rest.trim_start_matches([' ', '\t', '\n']).is_empty() {
            self.end_word();
            return Ok(());
        }
        separator("a line break")
    }

    fn bar(&mut self) -> Result<(), Error> {
        match self.next() {
            Some('|') => separator("||"),
            Some('&') => redirection('&'),
            _ => self.end_program(),
        }
    }

    fn ampersand(&self) -> Result<(), Error> {
        match self.next() {
            Some('&') => separator("&&"),
            Some('>') => redirection('>'),
            _ => refuse(
                ErrorCode::ShellBackground,
                "& runs a command in the background: leave it out, or quote it",
            ),
        }
    }

    fn escaped(&mut self) -> Result<(), Error> {
        match self.take() {
            None => refuse(
                ErrorCode::ShellQuote,
                "the command ends with a backslash: leave it out, or quote it",
            ),
            Some('\n') => separator("a line break"),
            Some(c) => {
                self.push(c);
                Ok(())
            }
        }
    }

    fn single_quoted(&mut self) -> Result<(), Error> {
        self.word.get_or_insert_default();
        loop {
            match self.take() {
                None => return open_quote('\''),
                Some('\'') => return Ok(()),
                Some('\n') => return line_break(),
                Some(c) => self.push(c),
            }
        }
    }

    fn double_quoted(&mut self) -> Result<(), Error> {
        self.word.get_or_insert_default();
        loop {
            match self.take() {
                None => return open_quote('"'),
                Some('"') => return Ok(()),
                Some('\n') => return line_break(),
                Some('`') => return substitution("a backtick"),
                Some('$') => self.dollar(true)?,
                Some('\\') => match self.next() {
                    Some(c @ ('$' | '`' | '"' | '\\')) => {
                        self.take();
                        self.push(c);
                    }
                    // Before anything else a backslash stands for itself.
                    _ => self.push('\\'),
                },
                Some(c) => self.push(c),
            }
        }
    }

    /// `$` is a plain character only before what cannot be a name in any shell, as in `"a$|b$"`.
    fn dollar(&mut self, in_quotes: bool) -> Result<(), Error> {
        match self.next() {
            None | Some(' ' | '\t' | '\n' | '|' | ')' | '/' | '\\') => {
                self.push('$');
                Ok(())
            }
            Some('"') if in_quotes => {
                self.push('$');
                Ok(())
            }
            Some('(') if !self.rest.starts_with("((") => substitution("$("),
            _ => expansion("$", "write the value out, or put the text in single quotes"),
        }
    }
}

fn separator<T>(what: &str) -> Result<T, Error> {
    refuse(
        ErrorCode::ShellSeparator,
        format!("{what} separates commands: run one at a time; only | joins them"),
    )
}

fn redirection<T>(sign: char) -> Result<T, Error> {
    refuse(
        ErrorCode::ShellRedirection,
        format!(
            "no shell redirects with {sign} here: leave that out (2>/dev/null, too), or quote the sign"
        ),
    )
}

fn substitution<T>(what: &str) -> Result<T, Error> {
    refuse(
        ErrorCode::ShellSubstitution,
        format!("{what} runs a command for its output: run it by itself, or use single quotes"),
    )
}

fn expansion<T>(what: &str, remedy: &str) -> Result<T, Error> {
    refuse(
        ErrorCode::ShellExpansion,
        format!("no shell expands {what} here: {remedy}"),
    )
}

fn open_quote<T>(quote: char) -> Result<T, Error> {
    refuse(
        ErrorCode::ShellQuote,
        format!("a {quote} is not closed: close it, or write it with a backslash outside quotes"),
    )
}

fn line_break<T>() -> Result<T, Error> {
    refuse(
        ErrorCode::ShellControl,
        "a text in quotes has a line break: write it in one line",
    )
}
