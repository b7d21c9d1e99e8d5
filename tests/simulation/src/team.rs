//! A team's server in memory, by its description (facts 11.2): versions, conditions, limits, and everything
//! that it ever took.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memdir_core::flow::{Bytes, Header, HttpAnswer};
use memdir_core::model::Key;
use memdir_core::store::OpenOptions;
use memdir_core::team::{TeamOptions, checksum};
use serde_json::{Value, json};

use crate::writing::STORE;
use crate::{Exchange, Folder, Network, Tree};

/// How a store is opened that shares its team folder with a [`TeamServer`].
#[must_use]
pub fn team_options() -> OpenOptions {
    OpenOptions {
        directory: Some(STORE.to_owned()),
        team: Some(TeamOptions {
            url: Some("https://team.example".to_owned()),
            token: Some(Key("t0ken".to_owned())),
            repository: Some("acme/app".to_owned()),
            ..TeamOptions::default()
        }),
        ..OpenOptions::default()
    }
}

/// What is in the team folder, by key.
#[must_use]
pub fn team_files(tree: &Tree) -> BTreeMap<String, String> {
    let files = Folder::new(tree, STORE).files().into_iter();
    let team =
        files.filter_map(|(path, text)| Some((path.strip_prefix("team/")?.to_owned(), text)));
    team.collect()
}

/// The server; clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct TeamServer(Arc<Mutex<Data>>);

#[derive(Debug, Default)]
struct Data {
    entries: BTreeMap<String, String>,
    history: Vec<(String, String)>,
    requests: Vec<String>,
    uploaded: usize,
    max_entries: Option<usize>,
    max_body: Option<usize>,
    exists: bool,
}

impl TeamServer {
    /// A server with these entries.
    #[must_use]
    pub fn with(entries: &[(&str, &str)]) -> Self {
        let server = Self::default();
        for (key, content) in entries {
            server.set(key, content);
        }
        server
    }

    fn data(&self) -> MutexGuard<'_, Data> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a teammate uploads.
    pub fn set(&self, key: &str, content: &str) {
        let mut data = self.data();
        data.exists = true;
        data.entries.insert(key.to_owned(), content.to_owned());
        data.history.push((key.to_owned(), content.to_owned()));
    }

    /// What it has now.
    #[must_use]
    pub fn entries(&self) -> BTreeMap<String, String> {
        self.data().entries.clone()
    }

    /// Whether it ever took this content under this key.
    #[must_use]
    pub fn took(&self, key: &str, content: &str) -> bool {
        self.data()
            .history
            .iter()
            .any(|(known, text)| known == key && text == content)
    }

    /// Method, query and status of every request since the last call.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.data().requests)
    }

    /// Bytes of all bodies that were uploaded.
    #[must_use]
    pub fn uploaded(&self) -> usize {
        self.data().uploaded
    }

    /// Takes no more than so many entries, and says so.
    pub fn limit_entries(&self, most: usize) {
        self.data().max_entries = Some(most);
    }

    /// A gateway before it takes no larger bodies, and does not say how large.
    pub fn limit_body(&self, most: usize) {
        self.data().max_body = Some(most);
    }

    /// A perfect line to it.
    #[must_use]
    pub fn network(&self) -> Network {
        let server = self.clone();
        Network::new(move |request| server.answer(request))
    }

    /// What it answers.
    #[must_use]
    pub fn answer(&self, request: &Exchange) -> HttpAnswer {
        let mut data = self.data();
        let (status, body) = data.answer(request);
        let query = request.url.split_once('?').map_or("", |(_, query)| query);
        data.requests
            .push(format!("{} {query} {status}", request.method));
        HttpAnswer {
            status,
            headers: Vec::new(),
            body: Bytes(body.map_or_else(Vec::new, |body| body.to_string().into_bytes())),
        }
    }
}

impl Data {
    fn version(&self) -> String {
        checksum(&format!("{:?}", self.entries))
    }

    fn checksums(&self) -> BTreeMap<&String, String> {
        let entries = self.entries.iter();
        entries.map(|(key, text)| (key, checksum(text))).collect()
    }

    fn answer(&mut self, request: &Exchange) -> (u16, Option<Value>) {
        let header = |name: &str| {
            let header = |header: &&Header| header.name == name;
            request
                .headers
                .iter()
                .find(header)
                .map(|header| header.value.clone())
        };
        if header("authorization").is_none_or(|value| value != "Bearer t0ken") {
            return (401, None);
        }
        let version = self.version();
        let quoted = format!("\"{version}\"");
        if request.method == "PUT" {
            return self.put(request, &header, &quoted);
        }
        if !self.exists {
            return (404, None);
        }
        if request.url.ends_with("&view=hashes") {
            let body = json!({ "checksum": version, "entryChecksums": self.checksums() });
            return (200, Some(body));
        }
        if header("if-none-match").is_some_and(|known| known == quoted) {
            return (304, None);
        }
        let content = json!({ "entries": self.entries, "entryChecksums": self.checksums() });
        (
            200,
            Some(json!({ "version": 1, "checksum": version, "content": content })),
        )
    }

    fn put(
        &mut self,
        request: &Exchange,
        header: &dyn Fn(&str) -> Option<String>,
        version: &str,
    ) -> (u16, Option<Value>) {
        let body = request
            .body
            .as_ref()
            .map_or(&[][..], |body| body.as_bytes());
        if self.max_body.is_some_and(|most| body.len() > most) {
            return (413, None);
        }
        let is_old = header("if-match").is_some_and(|known| known != version)
            || (header("if-none-match").as_deref() == Some("*") && self.exists);
        if is_old {
            return (412, None);
        }
        let Ok(mut bodies) =
            serde_json::from_slice::<BTreeMap<String, BTreeMap<String, String>>>(body)
        else {
            return (400, None);
        };
        let entries = bodies.remove("entries").unwrap_or_default();
        let mut after = self.entries.clone();
        after.extend(entries.clone());
        if let Some(most) = self.max_entries.filter(|most| after.len() > *most) {
            let details = json!({
                "error_code": "team_memory_too_many_entries",
                "max_entries": most,
                "received_entries": after.len(),
            });
            return (413, Some(json!({ "error": { "details": details } })));
        }
        self.uploaded += body.len();
        self.entries = after;
        self.exists = true;
        self.history.extend(entries);
        (
            200,
            Some(json!({ "checksum": self.version(), "lastModified": "2026-11-30T00:00:00Z" })),
        )
    }
}
