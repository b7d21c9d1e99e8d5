//! What every test needs: a server on a free port, tokens, and a client that notices when an answer is
//! one that the API's description does not know.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use memdir_team_server::{Address, Limits, Pattern, Right, Server, commands, description};
use serde_json::Value;

use crate::postgres;

/// Where the API is.
pub const API: &str = "/api/claude_code/team_memory";

/// A temporary folder.
pub struct Folder(PathBuf);

static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A new one, with a short path, as sockets must have.
pub fn temporary() -> Folder {
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let name = format!("mts-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&path).unwrap();
    Folder(path)
}

impl Folder {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Which database a test is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

/// Makes two tests of one: with either database.
#[macro_export]
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() {
                    super::$name($crate::bed::Kind::Sqlite).await;
                }
            )*
        }
        mod postgres {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() {
                    if $crate::postgres::shared().is_some() {
                        super::$name($crate::bed::Kind::Postgres).await;
                    }
                }
            )*
        }
    };
}

/// A database, and a server over it.
pub struct Bed {
    pub server: Option<Server>,
    pub data: Address,
    pub client: Http,
    _folder: Folder,
}

/// A token, and where it is sent.
#[derive(Clone)]
pub struct User {
    pub token: String,
    pub http: Http,
}

/// A client of one server.
#[derive(Clone)]
pub struct Http {
    pub address: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// What a server said.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Bed {
    pub async fn new(kind: Kind) -> Self {
        Self::with(kind, unhurried()).await
    }

    pub async fn with(kind: Kind, limits: Limits) -> Self {
        let folder = temporary();
        let data = match kind {
            Kind::Sqlite => file(&folder.path().join("team.db")),
            Kind::Postgres => Address::Postgres(postgres::shared().unwrap().database()),
        };
        Self::over(data, folder, limits).await
    }

    pub async fn over(data: Address, folder: Folder, limits: Limits) -> Self {
        let server = Server::start(&data, "127.0.0.1:0", limits).await.unwrap();
        Self {
            client: Http::new(&server.address().to_string()),
            server: Some(server),
            data,
            _folder: folder,
        }
    }

    /// Another server over the same database.
    pub async fn replica(&self) -> (Server, Http) {
        let server = Server::start(&self.data, "127.0.0.1:0", unhurried()).await;
        let server = server.unwrap();
        let http = Http::new(&server.address().to_string());
        (server, http)
    }

    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// Ends the server and starts another one over the same data.
    pub async fn restart(&mut self, limits: Limits) {
        self.server.take().unwrap().stop().await;
        let server = Server::start(&self.data, "127.0.0.1:0", limits)
            .await
            .unwrap();
        self.client = Http::new(&server.address().to_string());
        self.server = Some(server);
    }

    /// Somebody with rights such as `write acme/app`.
    pub async fn user(&self, name: &str, rights: &[&str]) -> User {
        self.user_and_id(name, rights).await.0
    }

    pub async fn user_and_id(&self, name: &str, rights: &[&str]) -> (User, String) {
        let rights = rights.iter().map(|right| {
            let (kind, pattern) = right.split_once(' ').unwrap();
            Right {
                pattern: Pattern::parse(pattern).unwrap(),
                can_write: kind == "write",
            }
        });
        let storage = self.server().storage();
        let made = commands::create_token(storage, name, rights.collect()).await;
        let (head, token) = made.unwrap();
        let user = User {
            token: token.reveal().to_owned(),
            http: self.client.clone(),
        };
        (user, head.id)
    }
}

/// The data in a file.
pub fn file(path: &Path) -> Address {
    Address::File {
        path: path.to_path_buf(),
        max_bytes: None,
    }
}

/// The usual limits, but for the rate.
pub fn unhurried() -> Limits {
    Limits {
        rate: 1_000_000,
        burst: 1_000_000,
        ..Limits::default()
    }
}

impl Http {
    pub fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            client: Client::builder(TokioExecutor::new()).build_http(),
        }
    }

    /// One request; fails when there is no answer.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        self.try_send(method, path, headers, body).await.unwrap()
    }

    pub async fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Result<Answer, String> {
        let url = format!("http://{}{path}", self.address);
        let mut request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into())).unwrap();
        let response = self.client.request(request).await;
        let (head, body) = response.map_err(|error| error.to_string())?.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?;
        let answer = Answer {
            status: head.status,
            headers: head.headers,
            text: String::from_utf8(body.to_bytes().to_vec()).unwrap(),
        };
        answer.check(method, path);
        Ok(answer)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }
}

impl User {
    pub fn at(&self, http: &Http) -> Self {
        Self {
            token: self.token.clone(),
            http: http.clone(),
        }
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        self.try_send(method, path, headers, body).await.unwrap()
    }

    pub async fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Result<Answer, String> {
        let bearer = format!("Bearer {}", self.token);
        let mut all = vec![("authorization", bearer.as_str())];
        all.extend(headers);
        self.http.try_send(method, path, &all, body).await
    }

    /// Everything of a repository.
    pub async fn pull(&self, repo: &str) -> Answer {
        self.send("GET", &format!("{API}?repo={repo}"), &[], "")
            .await
    }

    /// The checksums alone.
    pub async fn hashes(&self, repo: &str) -> Answer {
        let path = format!("{API}?repo={repo}&view=hashes");
        self.send("GET", &path, &[], "").await
    }

    /// An upload with these headers.
    pub async fn put(
        &self,
        repo: &str,
        headers: &[(&str, &str)],
        entries: &[(&str, &str)],
    ) -> Answer {
        self.put_body(repo, headers, body(entries)).await
    }

    pub async fn put_body(
        &self,
        repo: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        self.send("PUT", &format!("{API}?repo={repo}"), headers, body)
            .await
    }

    /// An upload, whatever is there.
    pub async fn force(&self, repo: &str, entries: &[(&str, &str)]) -> Answer {
        let now = self.hashes(repo).await;
        let condition = match now.status.as_u16() {
            404 => ("if-none-match", "*".to_owned()),
            _ => ("if-match", now.header("etag").to_owned()),
        };
        self.put(repo, &[(condition.0, &condition.1)], entries)
            .await
    }
}

/// The body of an upload.
pub fn body(entries: &[(&str, &str)]) -> String {
    let entries: std::collections::BTreeMap<_, _> = entries.iter().copied().collect();
    serde_json::json!({ "entries": entries }).to_string()
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// The status, and the code of a refusal.
    #[track_caller]
    pub fn is(&self, status: u16, code: &str) {
        let found = if self.status.is_success() || self.status == StatusCode::NOT_MODIFIED {
            String::new()
        } else {
            self.json()["error"]["code"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            (self.status.as_u16(), found.as_str()),
            (status, code),
            "{}",
            self.text
        );
    }

    /// What holds for every answer.
    fn check(&self, method: &str, path: &str) {
        assert!(!self.header("x-request-id").is_empty());
        assert_eq!(self.header("x-content-type-options"), "nosniff");
        if self.status.is_client_error() || self.status.is_server_error() {
            let error = &self.json()["error"];
            assert_eq!(error["request_id"], self.header("x-request-id"), "{error}");
            assert!(!error["message"].as_str().unwrap().is_empty());
        }
        let route = path.split('?').next().unwrap();
        let method = if method == "HEAD" { "GET" } else { method };
        let operation = &openapi()["paths"][route][method.to_lowercase()];
        let status = self.status.as_str();
        let is_other = !operation.is_object() && (self.status.is_client_error() || is_page(route));
        let is_described = operation["responses"][status].is_object();
        assert!(
            is_other || is_described,
            "{method} {route} is not described to answer {status}"
        );
    }
}

fn is_page(route: &str) -> bool {
    matches!(route, "/" | "/app.js" | "/app.css")
}

/// The description of the API.
pub fn openapi() -> &'static Value {
    static DESCRIPTION: OnceLock<Value> = OnceLock::new();
    DESCRIPTION.get_or_init(|| serde_json::from_str(&description().unwrap()).unwrap())
}
