//! Which command line means what.

use lexopt::{Arg, Parser};

use crate::error::{Error, ErrorCode};
use crate::text::quoted;

/// One understood command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Invocation {
    pub command: Command,
    /// `--dir`, as given.
    pub directory: Option<String>,
    /// `--cwd`, as given.
    pub cwd: Option<String>,
    /// `--json`.
    pub json: bool,
    /// `--model`, as given.
    pub model: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Version,
    Path,
    Scan,
    Prompt,
    Lint,
    Show { path: String },
    Recall { query: String, limit: Option<u32> },
}

/// Reads the arguments; global options may stand anywhere.
pub(super) fn parse(args: Vec<String>) -> Result<Invocation, Error> {
    let mut parser = Parser::from_args(args);
    let mut words: Vec<String> = Vec::new();
    let (mut directory, mut cwd, mut model, mut limit) = (None, None, None, None);
    let (mut json, mut help, mut version) = (false, false, false);
    while let Some(arg) = parser.next().map_err(|error| usage(&error.to_string()))? {
        match arg {
            Arg::Long("dir") => directory = Some(text(parser.value())?),
            Arg::Long("cwd") => cwd = Some(text(parser.value())?),
            Arg::Long("model") => model = Some(text(parser.value())?),
            Arg::Long("limit") => limit = Some(number("--limit", &text(parser.value())?)?),
            Arg::Long("json") => json = true,
            Arg::Long("help") | Arg::Short('h') => help = true,
            Arg::Long("version") | Arg::Short('V') => version = true,
            Arg::Value(word) => words.push(text(Ok(word))?),
            other => return Err(usage(&other.unexpected().to_string())),
        }
    }
    let is_recall = words.first().is_some_and(|word| word == "recall");
    for (option, given) in [("--limit", limit.is_some()), ("--model", model.is_some())] {
        if given && !is_recall && !help && !version {
            return Err(usage(&format!("{option} belongs to recall")));
        }
    }
    let command = match words.split_first() {
        _ if help => Command::Help,
        _ if version => Command::Version,
        None => return Err(usage("no command was given")),
        Some((name, rest)) => match (name.as_str(), rest) {
            ("help", []) => Command::Help,
            ("path", []) => Command::Path,
            ("scan", []) => Command::Scan,
            ("lint", []) => Command::Lint,
            ("prompt", []) => Command::Prompt,
            ("show", [path]) => Command::Show {
                path: path.strip_prefix("./").unwrap_or(path).to_owned(),
            },
            // A query need not be quoted.
            ("recall", [_, ..]) => Command::Recall {
                query: rest.join(" "),
                limit,
            },
            ("recall", []) => return Err(usage("recall needs a query")),
            ("show", []) => return Err(usage("show needs the path of a memory")),
            ("path" | "scan" | "prompt" | "show" | "lint" | "help", _) => {
                return Err(usage(&format!("{name} was given too many arguments")));
            }
            _ => return Err(usage(&format!("there is no command {}", quoted(name)))),
        },
    };
    Ok(Invocation {
        command,
        directory,
        cwd,
        json,
        model,
    })
}

fn number(option: &str, value: &str) -> Result<u32, Error> {
    value
        .parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| {
            usage(&format!(
                "{option} needs a whole number from 1, not {}",
                quoted(value)
            ))
        })
}

fn text(value: Result<std::ffi::OsString, lexopt::Error>) -> Result<String, Error> {
    value
        .map_err(|error| usage(&error.to_string()))?
        .into_string()
        .map_err(|_| usage("an argument is not UTF-8 text"))
}

fn usage(problem: &str) -> Error {
    Error::new(ErrorCode::Usage, format!("{problem}; see memdir --help"))
}

#[cfg(test)]
mod tests {
    use super::{Command, parse};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_stand_before_or_after_the_command() {
        for line in [
            "--dir /s --json show a.md",
            "show a.md --dir /s --json",
            "show --json a.md --dir=/s",
        ] {
            let parsed = parse(words(line)).unwrap();
            assert_eq!(
                parsed.command,
                Command::Show {
                    path: "a.md".into()
                },
                "{line}"
            );
            assert_eq!(
                (parsed.directory.as_deref(), parsed.json),
                (Some("/s"), true),
                "{line}"
            );
        }
        assert_eq!(
            parse(words("show -- --odd.md")).unwrap().command,
            Command::Show {
                path: "--odd.md".into()
            }
        );
    }

    #[test]
    fn a_query_need_not_be_quoted() {
        let parsed = parse(words(
            "recall how do we --limit 3 deploy --model openai/qwen3",
        ))
        .unwrap();
        let query = "how do we deploy".to_owned();
        assert_eq!(
            parsed.command,
            Command::Recall {
                query,
                limit: Some(3)
            }
        );
        assert_eq!(parsed.model.as_deref(), Some("openai/qwen3"));
    }

    #[test]
    fn wrong_usage_is_named() {
        for (line, problem) in [
            ("", "no command"),
            ("scam", "\"scam\""),
            ("scan extra", "too many"),
            ("show", "path"),
            ("scan --jsn", "--jsn"),
            ("scan --dir", "--dir"),
            ("scan --json=1", "--json"),
            ("recall", "query"),
            ("recall --limit 0 x", "--limit"),
            ("recall --limit five x", "--limit"),
            ("scan --limit 3", "--limit"),
            ("lint --model openai/x", "--model"),
        ] {
            let error = parse(words(line)).unwrap_err();
            assert_eq!(error.code, crate::ErrorCode::Usage, "{line}");
            assert!(error.message.contains(problem), "{line}: {}", error.message);
        }
        assert_eq!(parse(words("scam --help")).unwrap().command, Command::Help);
        assert_eq!(parse(words("--version")).unwrap().command, Command::Version);
    }
}
