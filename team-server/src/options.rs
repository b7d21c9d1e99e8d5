//! The command line: which command, over which data, with which limits.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::prelude::{Long, Short, Value, ValueExt};

use crate::limits::Limits;
use crate::rights::{Pattern, Right};
use crate::storage::Address;

/// Where data are when nothing is said.
pub const DATA: &str = "./team.db";
/// Where it listens when nothing is said: on this machine only, as TLS is a proxy's matter.
pub const LISTEN: &str = "127.0.0.1:7711";
/// The database in the environment: an address holds a password, which others see on a command line.
pub const DATABASE: &str = "MEMDIR_TEAM_DATABASE";

/// What `--help` prints.
pub const HELP: &str = "\
The server that a team hosts to share the memories of its agents.

usage: memdir-team-server [OPTIONS]                       serve
       memdir-team-server token create --name NAME --repo PATTERN [--write] [--repo …]
       memdir-team-server token list
       memdir-team-server token revoke ID
       memdir-team-server history REPO [KEY]
       memdir-team-server restore REPO KEY VERSION
       memdir-team-server openapi                         print the description of the API

A PATTERN is owner/repo, owner/* or *. --write is about the --repo before it.
history prints version, time, author, bytes and key of every revision; with a KEY of that one alone.
restore writes what a KEY had in a VERSION as a new version.

Data, for every command:
  --data FILE                 SQLite, made when it is missing (./team.db)
  --database URL              PostgreSQL, postgres://…; or MEMDIR_TEAM_DATABASE
  --max-data-bytes N          what the file may grow to (no limit but the disk)

Serving:
  --listen ADDRESS            where (127.0.0.1:7711); TLS is a proxy's matter
  --rate N                    requests a second for a token (50)
  --burst N                   requests at once after a pause (200)
  --max-entry-bytes N         of one memory (250000)
  --max-entries N             of one repository (10000)
  --max-repository-bytes N    of all memories of one repository (50331648)
  --max-body-bytes N          of one upload (1048576)
  --max-connections N         at a time (1024)

  --help, --version
";

/// What to do.
#[derive(Clone, Debug)]
pub enum Command {
    /// Answer requests.
    Serve,
    /// Make a token.
    CreateToken {
        /// Whose it is.
        name: String,
        /// What it allows.
        rights: Vec<Right>,
    },
    /// Show all tokens.
    ListTokens,
    /// Make a token worthless.
    RevokeToken(String),
    /// Show who wrote what when.
    History {
        /// In which repository.
        repository: String,
        /// Only one entry.
        key: Option<String>,
    },
    /// Write an old content as a new version.
    Restore {
        /// In which repository.
        repository: String,
        /// Which entry.
        key: String,
        /// What it had then.
        version: i64,
    },
    /// Show the description of the API.
    OpenApi,
    /// Show how it is used.
    Help,
    /// Show the version.
    Version,
}

/// A whole command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to do.
    pub command: Command,
    /// With which data.
    pub data: Address,
    /// Where to listen.
    pub listen: String,
    /// Within which limits.
    pub limits: Limits,
}

#[derive(Default)]
struct Given {
    words: Vec<String>,
    file: Option<PathBuf>,
    database: Option<String>,
    max_data_bytes: Option<u64>,
    listen: Option<String>,
    name: Option<String>,
    rights: Vec<Right>,
    limits: Limits,
}

impl Options {
    /// Reads the arguments after the program's name, and the database in the environment.
    ///
    /// # Errors
    /// One line for a person.
    pub fn parse(
        arguments: impl IntoIterator<Item = OsString>,
        database: Option<String>,
    ) -> Result<Self, String> {
        let mut given = Given::default();
        let mut parser = lexopt::Parser::from_args(arguments);
        while let Some(argument) = parser.next().map_err(text)? {
            match argument {
                Short('h') | Long("help") => given.words = vec!["help".to_owned()],
                Short('V') | Long("version") => given.words = vec!["version".to_owned()],
                Long("data") => given.file = Some(parser.value().map_err(text)?.into()),
                Long("database") => given.database = Some(string(&mut parser)?),
                Long("listen") => given.listen = Some(string(&mut parser)?),
                Long("name") => given.name = Some(string(&mut parser)?),
                Long("repo") => {
                    let pattern = string(&mut parser)?;
                    let pattern =
                        Pattern::parse(&pattern).ok_or("--repo takes owner/repo, owner/* or *")?;
                    let can_write = false;
                    given.rights.push(Right { pattern, can_write });
                }
                Long("write") => match given.rights.last_mut() {
                    Some(right) => right.can_write = true,
                    None => return Err("--write belongs behind the --repo that it is about".into()),
                },
                Long("max-data-bytes") => given.max_data_bytes = Some(number(&mut parser)?),
                Long("max-entry-bytes") => given.limits.entry_bytes = number(&mut parser)?,
                Long("max-entries") => given.limits.entries = number(&mut parser)?,
                Long("max-repository-bytes") => {
                    given.limits.repository_bytes = number(&mut parser)?;
                }
                Long("max-body-bytes") => given.limits.body_bytes = number(&mut parser)?,
                Long("max-connections") => given.limits.connections = number(&mut parser)?,
                Long("rate") => given.limits.rate = number(&mut parser)?,
                Long("burst") => given.limits.burst = number(&mut parser)?,
                Value(word) => given.words.push(word.string().map_err(text)?),
                other => return Err(text(other.unexpected())),
            }
            if matches!(
                given.words.first().map(String::as_str),
                Some("help" | "version")
            ) {
                break;
            }
        }
        given.options(database)
    }
}

impl Given {
    fn options(self, environment: Option<String>) -> Result<Options, String> {
        let data = match (self.file, self.database) {
            (Some(_), Some(_)) => return Err("--data and --database exclude each other".into()),
            (Some(path), None) => Address::File {
                path,
                max_bytes: self.max_data_bytes,
            },
            (None, url) => match url.or(environment.filter(|url| !url.is_empty())) {
                Some(url) if is_postgres(&url) => Address::Postgres(url),
                // The address is not shown: it may hold a password.
                Some(_) => return Err("the database must be a postgres:// address".into()),
                None => Address::File {
                    path: DATA.into(),
                    max_bytes: self.max_data_bytes,
                },
            },
        };
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let command = match words.as_slice() {
            [] | ["serve"] => Command::Serve,
            ["token", "create"] => {
                let name = self.name.clone().unwrap_or_default();
                let is_name =
                    (1..=100).contains(&name.len()) && !name.chars().any(char::is_control);
                if !is_name || self.rights.is_empty() {
                    return Err("token create needs --name NAME and --repo PATTERN".into());
                }
                Command::CreateToken {
                    name,
                    rights: self.rights.clone(),
                }
            }
            ["token", "list"] => Command::ListTokens,
            ["token", "revoke", id] => Command::RevokeToken((*id).to_owned()),
            ["history", repository, key @ ..] if key.len() <= 1 => Command::History {
                repository: (*repository).to_owned(),
                key: key.first().map(|key| (*key).to_owned()),
            },
            ["restore", repository, key, version] => Command::Restore {
                repository: (*repository).to_owned(),
                key: (*key).to_owned(),
                version: version
                    .parse()
                    .map_err(|_| "a VERSION is a number, as history prints it")?,
            },
            ["openapi"] => Command::OpenApi,
            ["help"] => Command::Help,
            ["version"] => Command::Version,
            _ => return Err("this is no command; --help shows those that there are".into()),
        };
        let is_about_token = self.name.is_some() || !self.rights.is_empty();
        if is_about_token && !matches!(command, Command::CreateToken { .. }) {
            return Err("--name, --repo and --write belong to token create".into());
        }
        Ok(Options {
            command,
            data,
            listen: self.listen.unwrap_or_else(|| LISTEN.to_owned()),
            limits: self.limits,
        })
    }
}

fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

fn string(parser: &mut lexopt::Parser) -> Result<String, String> {
    let value = parser.value().map_err(text)?;
    value.string().map_err(text)
}

fn number<T: std::str::FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>>(
    parser: &mut lexopt::Parser,
) -> Result<T, String> {
    parser.value().map_err(text)?.parse().map_err(text)
}

fn text(error: lexopt::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::{Command, Options};
    use crate::storage::Address;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(Into::into), None)
    }

    #[test]
    fn nothing_is_enough() {
        let options = parse("").unwrap();
        assert!(matches!(options.command, Command::Serve));
        assert!(matches!(options.data, Address::File { path, .. } if path.ends_with("team.db")));
        assert_eq!(options.listen, "127.0.0.1:7711");
    }

    #[test]
    fn write_is_about_the_repository_before_it() {
        let line = "token create --name ada --repo acme/app --write --repo acme/* --data x";
        let Command::CreateToken { name, rights } = parse(line).unwrap().command else {
            panic!("another command");
        };
        let rights: Vec<String> = rights.iter().map(ToString::to_string).collect();
        assert_eq!(
            (name.as_str(), rights.join(", ").as_str()),
            ("ada", "write acme/app, read acme/*")
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in [
            "token create --name ada",
            "token create --repo a/b",
            "token create --name ada --write --repo a/b",
            "token create --name ada --repo app",
            "token revoke",
            "--name ada",
            "--data a --database postgres://b/c",
            "--database mysql://a:hunter2@b/c",
            "--max-entries many",
            "restore a/b c now",
            "unknown",
        ] {
            let error = parse(line).map(drop).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
