//! The team's server and what is said to it (facts 11.2): one address, three requests, and what their
//! answers mean. Tries again what is worth it (facts 11.3); never sends a token over an open line.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::delta::checksum;
use crate::address::{base_address, is_private};
use crate::error::{Error, ErrorCode};
use crate::flow::{Bytes, Content, Failure, FailureCode, Header, Host, HttpAnswer};
use crate::limits::{RETRIES, RETRY_AFTER_MAX_MS, TEAM_ANSWER_BYTES, TEAM_API, TEAM_TIMEOUT_MS};
use crate::model::Key;
use crate::paths::{Environment, variable};
use crate::retry::pause_ms;
use crate::text::{one_line, quoted};

/// Where a team's memories are shared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TeamOptions {
    /// The server's address, without the path of the API; `https://` but for this very machine. Without
    /// it, `MEMDIR_TEAM_URL`, then `TEAM_MEMORY_SYNC_URL`.
    pub url: Option<String>,
    /// Without it, `MEMDIR_TEAM_TOKEN`.
    pub token: Option<Key>,
    /// Whether the host has a function of the caller's that gives a token, which is then asked for each
    /// operation, and once more when the server refuses it.
    pub ask_token: bool,
    /// `owner/repo`; without it, what the git remote of the project says.
    pub repository: Option<String>,
    /// What becomes of team memories that were forgotten here.
    pub deletions: TeamDeletions,
}

/// What becomes of team memories that were forgotten here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TeamDeletions {
    /// Teammates keep them.
    #[default]
    Keep,
    /// After 7 days they go from the server too, at most 10 at a time (design).
    Propagate,
}

/// How long, and how often, an answer is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// When it ends, milliseconds since the epoch.
    pub deadline_ms: Option<i64>,
    pub timeout_ms: u64,
    pub retries: u32,
}

impl Patience {
    pub const USUAL: Self = Self {
        deadline_ms: None,
        timeout_ms: TEAM_TIMEOUT_MS,
        retries: RETRIES,
    };
}

/// A server, a repository on it, and the right to speak for somebody.
#[derive(Debug)]
pub(super) struct Remote {
    url: String,
    token: Key,
    /// Every token that was used: a server may say any of them back.
    used: Vec<Key>,
    ask_token: bool,
    patience: Patience,
}

/// What the server has.
#[derive(Debug, Default)]
pub(super) struct Served {
    /// Its version; none when it has no data yet.
    pub etag: Option<String>,
    /// Key to content; empty when only checksums were asked for.
    pub entries: BTreeMap<String, String>,
    /// Key to checksum, as the server says; of what came with content, of that.
    pub checksums: BTreeMap<String, String>,
    /// Keys whose content is not what the server says it is.
    pub broken: Vec<String>,
}

/// What an upload came to.
pub(super) enum Put {
    /// The server's new version.
    Done(Option<String>),
    /// Somebody else was faster.
    Outdated,
    /// Too many entries: so many are taken at most.
    TooMany(usize),
    /// Too many bytes for something on the way.
    TooLarge,
}

impl TeamOptions {
    fn address(&self, env: &Environment) -> Result<String, Error> {
        let address = self
            .url
            .as_deref()
            .or_else(|| variable(env, "MEMDIR_TEAM_URL"))
            .or_else(|| variable(env, "TEAM_MEMORY_SYNC_URL"));
        let Some(address) = address else {
            return Err(Error::new(
                ErrorCode::NoServer,
                "no team server is known; pass its address or set MEMDIR_TEAM_URL",
            ));
        };
        let address = base_address(address, "the team server")?;
        if !is_private(&address) {
            return Err(Error::new(
                ErrorCode::InvalidArgument,
                "the address for the team server must begin with https://, or the token could be read on the way",
            ));
        }
        Ok(address)
    }

    /// Where the memories of a repository are: what a state of a sync is about.
    ///
    /// # Errors
    /// `no-server`, `invalid-argument` for an address or a repository that is none.
    pub(super) fn url(&self, env: &Environment, repository: &str) -> Result<String, Error> {
        let parts = || repository.split('/');
        let is_plain = repository
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'?' | b'#'));
        if !is_plain || parts().count() < 2 || parts().any(|part| matches!(part, "" | "." | "..")) {
            let message = format!(
                "{} is no repository; name it owner/repo",
                quoted(repository)
            );
            return Err(Error::new(ErrorCode::InvalidArgument, message));
        }
        let mut url = self.address(env)? + TEAM_API;
        for byte in repository.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                    url.push(char::from(byte));
                }
                _ => url.push_str(&format!("%{byte:02X}")),
            }
        }
        Ok(url)
    }
}

impl Remote {
    /// # Errors
    /// `no-server`, `no-token`, `invalid-argument`, or what asking for a token gave.
    pub async fn new(
        host: &Host,
        options: &TeamOptions,
        env: &Environment,
        repository: &str,
        patience: Patience,
    ) -> Result<Self, Error> {
        let url = options.url(env, repository)?;
        let mut remote = Self {
            url,
            token: Key(String::new()),
            used: Vec::new(),
            ask_token: options.ask_token,
            patience,
        };
        let known = options
            .token
            .clone()
            .or_else(|| variable(env, "MEMDIR_TEAM_TOKEN").map(|token| Key(token.to_owned())));
        match known {
            Some(token) if !options.ask_token => remote.set_token(token)?,
            _ if options.ask_token => remote.refresh(host).await?,
            _ => remote.set_token(Key(String::new()))?,
        }
        Ok(remote)
    }

    /// What the memories are known by in the state of a sync.
    pub fn origin(&self) -> &str {
        &self.url
    }

    fn set_token(&mut self, token: Key) -> Result<(), Error> {
        let token = token.0.trim();
        if token.is_empty() {
            return Err(Error::new(
                ErrorCode::NoToken,
                "there is no token for the team server; pass one or set MEMDIR_TEAM_TOKEN",
            ));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::new(
                ErrorCode::InvalidArgument,
                "the token for the team server holds characters that no token has; copy it again",
            ));
        }
        self.token = Key(token.to_owned());
        self.used.push(self.token.clone());
        Ok(())
    }

    async fn refresh(&mut self, host: &Host) -> Result<(), Error> {
        let limit = self.time_left(host).await?;
        let token = host.token(limit).await;
        host.stop_if_cancelled()?;
        let token = token.map_err(|failure| {
            Error::from_failure(&failure, "asking for", "a token for the team server")
        })?;
        self.set_token(Key(token))
    }

    /// All entries; none when they are still those of `etag`.
    pub async fn get(&mut self, host: &Host, etag: Option<&str>) -> Result<Option<Served>, Error> {
        let headers = etag.map(|etag| header("if-none-match", &format!("\"{etag}\"")));
        let (status, text) = self.ask(host, "GET", "", headers, None).await?;
        match status {
            304 if etag.is_some() => Ok(None),
            404 => Ok(Some(Served::default())),
            _ => served(&self.accepted(status, text)?, true).map(Some),
        }
    }

    /// Their checksums alone.
    pub async fn hashes(&mut self, host: &Host) -> Result<Served, Error> {
        let (status, text) = self.ask(host, "GET", "&view=hashes", None, None).await?;
        match status {
            404 => Ok(Served::default()),
            _ => served(&self.accepted(status, text)?, false),
        }
    }

    /// Uploads entries if the server's version is still `etag`, or if it has none.
    pub async fn put(
        &mut self,
        host: &Host,
        etag: Option<&str>,
        entries: &BTreeMap<String, String>,
    ) -> Result<Put, Error> {
        let condition = match etag {
            Some(etag) => header("if-match", &format!("\"{etag}\"")),
            None => header("if-none-match", "*"),
        };
        let body = serde_json::json!({ "entries": entries }).to_string();
        let (status, text) = self
            .ask(host, "PUT", "", Some(condition), Some(body))
            .await?;
        match status {
            412 => Ok(Put::Outdated),
            413 => Ok(max_entries(&text).map_or(Put::TooLarge, Put::TooMany)),
            _ => {
                let answered = self.accepted(status, text)?;
                let answer = json(&answered)?;
                let etag = answer.get("checksum").and_then(Value::as_str);
                Ok(Put::Done(etag.map(str::to_owned).or(answered.etag)))
            }
        }
    }

    async fn ask(
        &mut self,
        host: &Host,
        method: &str,
        view: &str,
        condition: Option<Header>,
        body: Option<String>,
    ) -> Result<(u16, Answered), Error> {
        let mut retries = 0;
        let mut refreshed = false;
        loop {
            let mut headers = vec![
                header("authorization", &format!("Bearer {}", self.token.0)),
                header("accept", "application/json"),
            ];
            headers.extend(
                body.is_some()
                    .then(|| header("content-type", "application/json")),
            );
            headers.extend(condition.clone());
            let url = format!("{}{view}", self.url);
            let content = body.clone().map(Content::Text);
            let limits = (self.time_left(host).await?, TEAM_ANSWER_BYTES);
            let answer = host.http(method, &url, headers, content, limits).await;
            // An answer that came all the same counts: the server may have taken something.
            if answer.is_err() {
                host.stop_if_cancelled()?;
            }
            let (error, headers) = match answer {
                Ok(HttpAnswer { status: 401, .. }) if self.ask_token && !refreshed => {
                    refreshed = true;
                    self.refresh(host).await?;
                    continue;
                }
                Ok(answer) if matches!(answer.status, 429 | 500..=599) => {
                    let text = String::from_utf8_lossy(&answer.body.0);
                    (self.refused(answer.status, &text), answer.headers)
                }
                Ok(HttpAnswer {
                    status,
                    headers,
                    body,
                }) => {
                    let etag = headers.into_iter().find(|header| header.name == "etag");
                    let etag = etag.map(|etag| unquoted(&etag.value));
                    let body = body.0;
                    return Ok((status, Answered { body, etag }));
                }
                Err(failure) => match failure.code {
                    FailureCode::Timeout | FailureCode::Network => {
                        (self.failed(&failure), Vec::new())
                    }
                    FailureCode::TooLarge => {
                        return Err(answer_error(&format!(
                            "has more than {TEAM_ANSWER_BYTES} bytes"
                        )));
                    }
                    _ => return Err(self.failed(&failure)),
                },
            };
            if retries >= self.patience.retries {
                return Err(error);
            }
            let pause = pause_ms(host, retries, &headers).await;
            if pause > RETRY_AFTER_MAX_MS {
                return Err(error);
            }
            retries = retries.saturating_add(1);
            // A pause that fails is a pause of no length.
            let _ = host.sleep(pause).await;
            host.stop_if_cancelled()?;
        }
    }

    /// How long the next answer may take.
    async fn time_left(&self, host: &Host) -> Result<u64, Error> {
        let Some(deadline_ms) = self.patience.deadline_ms else {
            return Ok(self.patience.timeout_ms);
        };
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let left = deadline_ms.saturating_sub(now.map_or(deadline_ms, |now| now.ms));
        match u64::try_from(left) {
            Ok(left @ 1..) => Ok(left.min(self.patience.timeout_ms)),
            _ => Err(Error::new(
                ErrorCode::Timeout,
                "there is no more time for the team server",
            )),
        }
    }

    fn failed(&self, failure: &Failure) -> Error {
        // The host's words may hold the address, never the token.
        let message = format!(
            "the team server cannot be reached: {}",
            self.hide(&failure.message)
        );
        Error::new(failure.code.into(), message)
    }

    /// The body of an answer that is what was asked for.
    fn accepted(&self, status: u16, answer: Answered) -> Result<Answered, Error> {
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        Err(self.refused(status, &String::from_utf8_lossy(&answer.body)))
    }

    fn refused(&self, status: u16, body: &str) -> Error {
        let (code, remedy) = match status {
            401 | 403 => (
                ErrorCode::TeamAuth,
                "; check the token and its rights for the repository",
            ),
            300..=399 => (
                ErrorCode::TeamRefused,
                "; it is another address, give that one",
            ),
            404 => (ErrorCode::TeamRefused, "; check the server's address"),
            409 | 429 | 500..=599 => (ErrorCode::TeamBusy, "; try again later"),
            _ => (ErrorCode::TeamRefused, ""),
        };
        let said = serde_json::from_str::<Value>(body).ok();
        let said = said.and_then(|said| {
            let message = said.pointer("/error/message")?.as_str()?;
            Some(self.hide(&one_line(message)).chars().take(200).collect())
        });
        let said = said.map_or_else(String::new, |said: String| format!(" ({said})"));
        Error::new(
            code,
            format!("the team server answered with status {status}{said}{remedy}"),
        )
    }

    fn hide(&self, text: &str) -> String {
        let used = self.used.iter();
        used.fold(text.to_owned(), |text, token| {
            text.replace(&token.0, "(token)")
        })
    }
}

/// The body of an answer and its version.
struct Answered {
    body: Vec<u8>,
    etag: Option<String>,
}

fn header(name: &str, value: &str) -> Header {
    Header {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

/// An `etag` header as a version.
fn unquoted(etag: &str) -> String {
    let etag = etag.trim();
    let etag = etag.strip_prefix("W/").unwrap_or(etag);
    etag.trim_matches('"').to_owned()
}

fn answer_error(what: &str) -> Error {
    let message = format!("the team server's answer {what}; check its address");
    Error::new(ErrorCode::TeamAnswer, message)
}

fn json(answer: &Answered) -> Result<Value, Error> {
    serde_json::from_slice(&answer.body)
        .ok()
        .filter(Value::is_object)
        .ok_or_else(|| answer_error("is no JSON object"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    checksum: Option<String>,
    entry_checksums: Option<BTreeMap<Name, String>>,
    #[serde(borrow)]
    content: Option<Entries<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entries<'a> {
    /// Each is read by itself, so that what is no text keeps no other away.
    #[serde(borrow)]
    entries: BTreeMap<Name, &'a RawValue>,
    entry_checksums: Option<BTreeMap<Name, String>>,
}

/// A key, which in JSON may hold half of a surrogate pair.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Text(String),
    /// As it can be shown.
    Broken(String),
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Bytes(bytes) = Bytes::deserialize(deserializer)?;
        Ok(String::from_utf8(bytes).map_or_else(
            |broken| Self::Broken(String::from_utf8_lossy(broken.as_bytes()).into_owned()),
            Self::Text,
        ))
    }
}

/// Those whose keys are text.
fn named(checksums: BTreeMap<Name, String>) -> BTreeMap<String, String> {
    let checksums = checksums.into_iter();
    let named = checksums.filter_map(|(key, checksum)| match key {
        Name::Text(key) => Some((key, checksum)),
        Name::Broken(_) => None,
    });
    named.collect()
}

/// What the server has, as far as it can be believed.
fn served(answer: &Answered, whole: bool) -> Result<Served, Error> {
    let body: Body = serde_json::from_slice(&answer.body)
        .map_err(|_| answer_error("is not what a team server says"))?;
    // A version that could not be sent back as a header is none.
    let is_version = |etag: &String| {
        !etag.is_empty()
            && etag
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'"')
    };
    let mut served = Served {
        etag: body
            .checksum
            .or_else(|| answer.etag.clone())
            .filter(is_version),
        ..Served::default()
    };
    if !whole {
        let checksums = body.content.and_then(|content| content.entry_checksums);
        served.checksums = body
            .entry_checksums
            .or(checksums)
            .map(named)
            .ok_or_else(|| answer_error("has no checksums"))?;
        return Ok(served);
    }
    let content = body.content.ok_or_else(|| answer_error("has no entries"))?;
    let told = named(content.entry_checksums.unwrap_or_default());
    for (key, text) in content.entries {
        let (key, text) = match (key, serde_json::from_str::<String>(text.get())) {
            (Name::Text(key), Ok(text)) => (key, text),
            (Name::Text(key) | Name::Broken(key), _) => {
                served.broken.push(key);
                continue;
            }
        };
        let found = checksum(&text);
        if told.get(&key).is_some_and(|told| *told != found) {
            served.broken.push(key);
        } else {
            served.checksums.insert(key.clone(), found);
            served.entries.insert(key, text);
        }
    }
    Ok(served)
}

/// How many entries the server takes, where a refusal says so.
fn max_entries(answer: &Answered) -> Option<usize> {
    let error = json(answer).ok()?;
    let error = error.get("error")?;
    let details = ["details", "extra_details"].map(|name| error.get(name));
    let details = details.into_iter().flatten();
    details
        .filter(|details| {
            details.get("error_code").and_then(Value::as_str)
                == Some("team_memory_too_many_entries")
        })
        .find_map(|details| details.get("max_entries")?.as_u64())
        .and_then(|most| usize::try_from(most).ok())
}
