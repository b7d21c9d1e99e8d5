//! Which command line means what.

use lexopt::{Arg, Parser};
use serde::Serialize;

use crate::agents::{AgentOptions, AgentScope};
use crate::dream::DreamOptions;
use crate::error::{Error, ErrorCode};
use crate::instructions::InstructionsOptions;
use crate::memory::{MemoryType, Scope};
use crate::team::{TeamDeletions, TeamOptions};
use crate::text::{quoted, wire_name};
use crate::write::SaveOptions;

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
    /// `agent NAME`: whose memory the command is about.
    pub agent: Option<AgentOptions>,
    /// `--url`, `--repo`, `--deletions`.
    pub team: TeamOptions,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Version,
    Path,
    Scan,
    Prompt,
    /// What people have written for an agent: a table, a tree, or the text itself.
    Instructions {
        options: InstructionsOptions,
        /// The file that is touched.
        file: Option<String>,
        view: InstructionsView,
    },
    Context(InstructionsOptions),
    /// None: asks which.
    Edit {
        which: Option<String>,
    },
    Lint,
    Show {
        path: String,
    },
    Recall {
        query: String,
        limit: Option<u32>,
    },
    /// All but the body, which is read from the standard input.
    Save(SaveOptions),
    Forget {
        path: String,
        expect: Option<String>,
    },
    Undo {
        path: Option<String>,
    },
    /// What a file holds; `-` is the standard input.
    Secrets {
        file: String,
    },
    /// None: the note is read from the standard input.
    Log {
        text: Option<String>,
    },
    Team(TeamCommand),
    Inbox(InboxCommand),
    Dream(DreamOptions),
    UndoDream,
    /// What a transcript has that is worth keeping; `-` is the standard input.
    Extract {
        file: String,
        review: bool,
    },
    /// The notes of a session: brought up to date from a transcript, or without one shown.
    Session {
        id: String,
        file: Option<String>,
        force: bool,
    },
}

/// What is printed of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InstructionsView {
    Table,
    Tree,
    Text,
}

/// Without paths, all that a proposal has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InboxCommand {
    List,
    Show {
        id: String,
    },
    Apply {
        id: String,
        paths: Option<Vec<String>>,
    },
    Drop {
        id: String,
        paths: Option<Vec<String>>,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TeamCommand {
    Pull,
    Push,
    Sync,
    Status,
    Watch,
    Conflicts,
    ShowConflict { id: String },
    RestoreConflict { id: String },
    DropConflict { id: String },
}

/// The commands that load instructions.
const CHAIN: &[&str] = &["instructions", "context"];

/// Reads the arguments; global options may stand anywhere.
pub(super) fn parse(args: Vec<String>) -> Result<Invocation, Error> {
    let mut parser = Parser::from_args(args);
    let mut words: Vec<String> = Vec::new();
    let (mut directory, mut cwd, mut model, mut limit) = (None, None, None, None);
    let (mut json, mut help, mut version, mut review) = (false, false, false, false);
    let (mut show, mut force) = (false, false);
    let (mut save, mut expect, mut undo) = (SaveOptions::default(), None, false);
    let mut scope = None;
    let mut team = TeamOptions::default();
    let mut dream = DreamOptions::default();
    let (mut instructions, mut view) = (InstructionsOptions::default(), InstructionsView::Table);
    // Options that only some commands have.
    let mut owned: Vec<(&str, &[&str])> = Vec::new();
    while let Some(arg) = parser.next().map_err(|error| usage(&error.to_string()))? {
        match arg {
            Arg::Long("dir") => directory = Some(text(parser.value())?),
            Arg::Long("cwd") => cwd = Some(text(parser.value())?),
            Arg::Long("model") => {
                model = Some(text(parser.value())?);
                owned.push(("--model", &["recall", "extract", "session", "dream"]));
            }
            Arg::Long("limit") => {
                limit = Some(number("--limit", &text(parser.value())?)?);
                owned.push(("--limit", &["recall"]));
            }
            Arg::Long("type") => {
                save.kind = Some(one_of("--type", &MemoryType::ALL, &text(parser.value())?)?);
                owned.push(("--type", &["save"]));
            }
            Arg::Long("name") => {
                save.name = Some(text(parser.value())?);
                owned.push(("--name", &["save"]));
            }
            Arg::Long("description") => {
                save.description = Some(text(parser.value())?);
                owned.push(("--description", &["save"]));
            }
            Arg::Long("scope") => {
                scope = Some(text(parser.value())?);
                owned.push(("--scope", &["save", "agent"]));
            }
            Arg::Long("path") => {
                save.path = Some(plain(&text(parser.value())?));
                owned.push(("--path", &["save"]));
            }
            Arg::Long("expect") => {
                expect = Some(text(parser.value())?);
                owned.push(("--expect", &["save", "forget"]));
            }
            Arg::Long("undo") => {
                undo = true;
                owned.push(("--undo", &["forget", "dream"]));
            }
            // Whoever asks for these does not ask whether it is time.
            Arg::Long("dry-run") => {
                (dream.force, dream.dry_run) = (true, true);
                owned.push(("--dry-run", &["dream"]));
            }
            Arg::Long("logs") => {
                (dream.force, dream.logs) = (true, true);
                owned.push(("--logs", &["dream"]));
            }
            Arg::Long("review") => {
                review = true;
                owned.push(("--review", &["extract"]));
            }
            Arg::Long("show") => {
                show = true;
                owned.push(("--show", &["session"]));
            }
            Arg::Long("force") => {
                force = true;
                dream.force = true;
                owned.push(("--force", &["session", "dream"]));
            }
            Arg::Long("url") => {
                team.url = Some(text(parser.value())?);
                owned.push(("--url", &["team"]));
            }
            Arg::Long("repo") => {
                team.repository = Some(text(parser.value())?);
                owned.push(("--repo", &["team"]));
            }
            Arg::Long("deletions") => {
                let known = [TeamDeletions::Keep, TeamDeletions::Propagate];
                team.deletions = one_of("--deletions", &known, &text(parser.value())?)?;
                owned.push(("--deletions", &["team"]));
            }
            Arg::Long("agents-md") => {
                instructions.agents_md = true;
                owned.push(("--agents-md", CHAIN));
            }
            Arg::Long("add-dir") => {
                let folder = text(parser.value())?;
                instructions.additional_directories.push(folder);
                owned.push(("--add-dir", CHAIN));
            }
            Arg::Long("approve") => {
                instructions.approved.push(text(parser.value())?);
                owned.push(("--approve", CHAIN));
            }
            Arg::Long("exclude") => {
                instructions.excludes.push(text(parser.value())?);
                owned.push(("--exclude", CHAIN));
            }
            Arg::Long("no-user") => {
                instructions.user = false;
                owned.push(("--no-user", CHAIN));
            }
            Arg::Long("no-project") => {
                instructions.project = false;
                owned.push(("--no-project", CHAIN));
            }
            Arg::Long("no-local") => {
                instructions.local = false;
                owned.push(("--no-local", CHAIN));
            }
            Arg::Long("tree") => {
                view = InstructionsView::Tree;
                owned.push(("--tree", &["instructions"]));
            }
            Arg::Long("text") => {
                view = InstructionsView::Text;
                owned.push(("--text", &["instructions"]));
            }
            Arg::Long("json") => json = true,
            Arg::Long("help") | Arg::Short('h') => help = true,
            Arg::Long("version") | Arg::Short('V') => version = true,
            Arg::Value(word) => words.push(text(Ok(word))?),
            other => return Err(usage(&other.unexpected().to_string())),
        }
    }
    let agent = agent(&mut words, &mut scope)?;
    save.scope = scope.as_deref().map(memory_scope).transpose()?;
    let name = words.first().map(String::as_str).unwrap_or_default();
    // The scope of an agent goes with every command.
    let is_taken = |(option, owners): &&(&str, &[&str])| {
        owners.contains(&name) || (agent.is_some() && *option == "--scope")
    };
    if let Some((option, owners)) = owned.iter().find(|owned| !is_taken(owned))
        && !help
        && !version
    {
        return Err(usage(&format!(
            "{option} belongs to {}",
            owners.join(" and ")
        )));
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
            ("instructions", files @ ([] | [_])) => Command::Instructions {
                options: instructions,
                file: files.first().cloned(),
                view,
            },
            ("context", []) => Command::Context(instructions),
            ("edit", files @ ([] | [_])) => Command::Edit {
                which: files.first().cloned(),
            },
            ("show", [path]) => Command::Show { path: plain(path) },
            ("save", []) => Command::Save(SaveOptions { expect, ..save }),
            ("forget", paths @ ([] | [_])) if undo => Command::Undo {
                path: paths.first().map(|path| plain(path)),
            },
            ("forget", [path]) => Command::Forget {
                path: plain(path),
                expect,
            },
            // A query need not be quoted.
            ("recall", [_, ..]) => Command::Recall {
                query: rest.join(" "),
                limit,
            },
            ("recall", []) => return Err(usage("recall needs a query")),
            ("secrets", [file]) => Command::Secrets {
                file: file.to_owned(),
            },
            ("secrets", []) => return Err(usage("secrets needs a file, or - for standard input")),
            ("dream", []) if undo && dream == DreamOptions::default() => Command::UndoDream,
            ("dream", []) if undo => {
                return Err(usage("dream --undo goes with nothing else"));
            }
            ("dream", []) => Command::Dream(dream),
            ("extract", [file]) => Command::Extract {
                file: file.to_owned(),
                review,
            },
            ("extract", []) => {
                return Err(usage("extract needs a transcript, or - for standard input"));
            }
            ("session", [id]) if force => {
                return Err(usage(&format!(
                    "--force is for an update; give the transcript of session {}",
                    quoted(id)
                )));
            }
            ("session", [id]) => Command::Session {
                id: id.to_owned(),
                file: None,
                force,
            },
            ("session", [_, _]) if show => {
                return Err(usage("session --show takes no transcript"));
            }
            ("session", [id, file]) => Command::Session {
                id: id.to_owned(),
                file: Some(file.to_owned()),
                force,
            },
            ("session", []) => return Err(usage("session needs the id of a session")),
            // Nor need a note.
            ("log", []) => Command::Log { text: None },
            ("log", note) => Command::Log {
                text: Some(note.join(" ")),
            },
            ("inbox", rest) => Command::Inbox(inbox_command(rest)?),
            ("team", rest) => Command::Team(team_command(rest)?),
            ("show" | "forget", []) => {
                return Err(usage(&format!("{name} needs the path of a memory")));
            }
            ("save", _) => {
                return Err(usage(
                    "save takes options only, and the body from standard input",
                ));
            }
            (
                "path" | "scan" | "prompt" | "instructions" | "context" | "edit" | "show" | "lint"
                | "help" | "forget" | "secrets" | "extract" | "session",
                _,
            ) => {
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
        agent,
        team,
    })
}

fn team_command(words: &[String]) -> Result<TeamCommand, Error> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let id = |id: &str| id.to_owned();
    Ok(match words.as_slice() {
        ["pull"] => TeamCommand::Pull,
        ["push"] => TeamCommand::Push,
        ["sync"] => TeamCommand::Sync,
        ["status"] => TeamCommand::Status,
        ["watch"] => TeamCommand::Watch,
        ["conflicts"] => TeamCommand::Conflicts,
        ["conflicts", "show", name] => TeamCommand::ShowConflict { id: id(name) },
        ["conflicts", "restore", name] => TeamCommand::RestoreConflict { id: id(name) },
        ["conflicts", "drop", name] => TeamCommand::DropConflict { id: id(name) },
        ["conflicts", ..] => {
            return Err(usage(
                "team conflicts takes show, restore or drop, and the name of a kept version",
            ));
        }
        _ => {
            return Err(usage(
                "team takes one of pull, push, sync, status, watch, conflicts",
            ));
        }
    })
}

fn inbox_command(words: &[String]) -> Result<InboxCommand, Error> {
    let paths = |paths: &[String]| {
        let paths: Vec<String> = paths.iter().map(|path| plain(path)).collect();
        (!paths.is_empty()).then_some(paths)
    };
    let Some((verb, rest)) = words.split_first() else {
        return Ok(InboxCommand::List);
    };
    match (verb.as_str(), rest) {
        ("show", [id]) => Ok(InboxCommand::Show { id: id.clone() }),
        ("apply", [id, rest @ ..]) => Ok(InboxCommand::Apply {
            id: id.clone(),
            paths: paths(rest),
        }),
        ("drop", [id, rest @ ..]) => Ok(InboxCommand::Drop {
            id: id.clone(),
            paths: paths(rest),
        }),
        _ => Err(usage(
            "inbox takes show, apply or drop, the id of a proposal, and for the last two some of its paths",
        )),
    }
}

/// Takes `agent NAME` from the front, so that any command can follow; `path` when none does.
fn agent(
    words: &mut Vec<String>,
    scope: &mut Option<String>,
) -> Result<Option<AgentOptions>, Error> {
    if words.first().is_none_or(|word| word != "agent") {
        return Ok(None);
    }
    words.remove(0);
    if words.is_empty() {
        return Err(usage("agent needs the name of an agent"));
    }
    let name = words.remove(0);
    if words.is_empty() {
        words.push("path".to_owned());
    }
    let scope = match scope.take() {
        None => AgentScope::Project,
        Some(value) => one_of("--scope", &AgentScope::ALL, &value)?,
    };
    Ok(Some(AgentOptions { name, scope }))
}

/// A path as people write it in a shell.
fn plain(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// The one of some values that has this name.
fn one_of<T: Copy + Serialize>(option: &str, values: &[T], value: &str) -> Result<T, Error> {
    let found = values.iter().find(|known| wire_name(*known) == value);
    found.copied().ok_or_else(|| {
        let names: Vec<String> = values.iter().map(wire_name).collect();
        usage(&format!(
            "{option} needs one of {}, not {}",
            names.join(", "),
            quoted(value)
        ))
    })
}

fn memory_scope(value: &str) -> Result<Scope, Error> {
    one_of("--scope", &[Scope::Private, Scope::Team], value)
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
    use super::{Command, InboxCommand, parse};

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
    fn what_is_saved_and_forgotten_is_read() {
        let parsed = parse(words(
            "save --type user --name Role --scope private --path ./user/role.md --expect absent",
        ));
        let Command::Save(save) = parsed.unwrap().command else {
            panic!("no save");
        };
        assert_eq!(save.name.as_deref(), Some("Role"));
        assert_eq!(save.path.as_deref(), Some("user/role.md"));
        assert_eq!(save.expect.as_deref(), Some("absent"));
        let undo = |path: Option<&str>| Command::Undo {
            path: path.map(str::to_owned),
        };
        assert_eq!(parse(words("forget --undo")).unwrap().command, undo(None));
        assert_eq!(
            parse(words("forget a.md --undo")).unwrap().command,
            undo(Some("a.md"))
        );
    }

    #[test]
    fn notes_are_shown_or_brought_up_to_date() {
        let session = |file: Option<&str>, force| Command::Session {
            id: "s-1".to_owned(),
            file: file.map(str::to_owned),
            force,
        };
        for (line, command) in [
            ("session s-1", session(None, false)),
            ("session s-1 --show", session(None, false)),
            (
                "session s-1 a.jsonl --model openai/x",
                session(Some("a.jsonl"), false),
            ),
            ("session s-1 - --force", session(Some("-"), true)),
        ] {
            assert_eq!(parse(words(line)).unwrap().command, command, "{line}");
        }
    }

    #[test]
    fn a_proposal_is_applied_as_a_whole_or_in_parts() {
        let apply = |paths: Option<&[&str]>| {
            let paths = paths.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
            Command::Inbox(InboxCommand::Apply {
                id: "1-a-000".to_owned(),
                paths,
            })
        };
        for (line, command) in [
            ("inbox", Command::Inbox(InboxCommand::List)),
            ("inbox apply 1-a-000", apply(None)),
            (
                "inbox apply 1-a-000 ./a.md team/b.md",
                apply(Some(&["a.md", "team/b.md"])),
            ),
        ] {
            assert_eq!(parse(words(line)).unwrap().command, command, "{line}");
        }
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
            ("save a.md", "standard input"),
            ("save --type note", "user, feedback, project, reference"),
            ("save --scope all", "private, team"),
            ("team", "pull"),
            ("team pull now", "pull"),
            ("team conflicts show", "show, restore or drop"),
            ("session", "id of a session"),
            ("session s a.jsonl b.jsonl", "too many"),
            ("session s a.jsonl --show", "--show"),
            ("session s --force", "transcript"),
            ("extract a.jsonl --force", "--force"),
            ("inbox show", "show, apply or drop"),
            ("inbox show 1 2", "show, apply or drop"),
            ("inbox apply", "show, apply or drop"),
            ("inbox 1", "show, apply or drop"),
            ("scan --url http://x", "--url"),
            ("team push --deletions all", "keep, propagate"),
            ("agent", "name"),
            ("agent a scan --scope team", "user, project, local"),
            ("scan --scope user", "--scope"),
            ("forget", "path"),
            ("forget a.md b.md", "too many"),
            ("show a.md --undo", "--undo"),
            ("forget a.md --name x", "--name"),
        ] {
            let error = parse(words(line)).unwrap_err();
            assert_eq!(error.code, crate::ErrorCode::Usage, "{line}");
            assert!(error.message.contains(problem), "{line}: {}", error.message);
        }
        assert_eq!(parse(words("scam --help")).unwrap().command, Command::Help);
        assert_eq!(parse(words("--version")).unwrap().command, Command::Version);
    }
}
