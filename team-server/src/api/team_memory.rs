//! The three requests of the clients: everything, the checksums alone, and an upload.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::query::Parameters;
use crate::answers::Answer;
use crate::app::App;
use crate::caller::Caller;
use crate::problem::{ErrorBody, Problem};
use crate::rights::Repository;
use crate::storage::{Author, Contents, Hashes, Stored, Upload};
use crate::time::iso;
use crate::{body, condition, entries};

/// All that a repository has.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TeamMemory {
    /// The owner of the repository.
    #[schema(example = "acme")]
    organization_id: String,
    #[schema(example = "acme/app")]
    repo: String,
    /// Counts the uploads that changed something.
    version: i64,
    #[schema(format = DateTime)]
    last_modified: String,
    /// What `ETag` says and `If-Match` takes: of the sorted keys and the checksums of their contents.
    checksum: String,
    content: Entries,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Entries {
    /// Key to content.
    entries: BTreeMap<String, String>,
    /// Key to `sha256:` and the hexadecimal SHA-256 of the content in UTF-8.
    entry_checksums: BTreeMap<String, String>,
}

/// What `view=hashes` gives.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TeamHashes {
    version: i64,
    checksum: String,
    entry_checksums: BTreeMap<String, String>,
}

/// Either of them.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only described: each is answered by itself")]
enum Answered {
    Memory(TeamMemory),
    Hashes(TeamHashes),
}

/// Entries to add or replace; what is not named stays.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "only described: bodies are read by `crate::entries`, which is stricter"
)]
struct TeamUpload {
    entries: BTreeMap<String, String>,
}

/// What an upload came to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TeamStored {
    /// The new version, for the next `If-Match`.
    checksum: String,
    #[schema(format = DateTime)]
    last_modified: String,
}

/// The memories of a repository.
#[utoipa::path(
    get,
    path = "/api/claude_code/team_memory",
    tag = "team memory",
    security(("token" = [])),
    params(
        ("repo" = String, Query, description = "`owner/repo`"),
        ("view" = Option<String>, Query, description = "`hashes` for the checksums alone"),
        ("If-None-Match" = Option<String>, Header, description = "A version that is known already")
    ),
    responses(
        (status = 200, description = "What there is.", body = Answered,
            headers(("ETag" = String, description = "The version, quoted"))),
        (status = 304, description = "It is the version that is known."),
        (status = 400, description = "The address or a header cannot be read.", body = ErrorBody),
        (status = 401, description = "There is no token, or none of this server.", body = ErrorBody),
        (status = 403, description = "The token may not read it, whether it is there or not.", body = ErrorBody),
        (status = 404, description = "Nothing was uploaded for it yet.", body = ErrorBody),
        (status = 429, description = "The token asks too often.", body = ErrorBody),
        (status = 431, description = "There are too many headers.", body = ErrorBody),
        (status = 500, description = "The server has failed.", body = ErrorBody),
        (status = 503, description = "The database does not answer.", body = ErrorBody)
    )
)]
pub(super) async fn get_memory(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let parameters = Parameters::of(&uri)?;
    let repository = parameters.repository()?;
    caller.check_read(&repository)?;
    let is_whole = match parameters.get("view")? {
        None => true,
        Some("hashes") => false,
        Some(_) => return Err(Problem::bad_request("`view` can only be `hashes`")),
    };
    let head = app.storage.head(repository.name()).await?;
    let head = head.ok_or_else(Problem::no_data)?;
    if condition::is_known(&headers, &head.checksum)? {
        return Ok((StatusCode::NOT_MODIFIED, etag(&head.checksum)?).into_response());
    }
    if !is_whole {
        let hashes = app.storage.hashes(repository.name()).await?;
        return answer_hashes(hashes.ok_or_else(Problem::no_data)?);
    }
    if let Some(answer) = app.answers.get(&head) {
        return respond(answer.body, &answer.checksum);
    }
    let _leave = app.answers.leave().await?;
    // Another one may have made it meanwhile.
    if let Some(answer) = app.answers.get(&head) {
        return respond(answer.body, &answer.checksum);
    }
    let contents = app.storage.contents(repository.name()).await?;
    let contents = contents.ok_or_else(Problem::no_data)?;
    let name = repository.name().to_owned();
    let answer = tokio::task::spawn_blocking(move || whole(&repository, contents));
    let answer = answer.await.map_err(|_| Problem::internal())??;
    app.answers.keep(&name, answer.clone());
    respond(answer.body, &answer.checksum)
}

/// Adds and replaces memories of a repository, in one step or not at all.
#[utoipa::path(
    put,
    path = "/api/claude_code/team_memory",
    tag = "team memory",
    security(("token" = [])),
    params(
        ("repo" = String, Query, description = "`owner/repo`"),
        ("If-Match" = Option<String>, Header, description = "The version that is replaced, quoted"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: there must be no data yet")
    ),
    request_body = TeamUpload,
    responses(
        (status = 200, description = "It is on the disk.", body = TeamStored,
            headers(("ETag" = String, description = "The new version, quoted"))),
        (status = 400, description = "The address, a header or the body cannot be read.", body = ErrorBody),
        (status = 401, description = "There is no token, or none of this server.", body = ErrorBody),
        (status = 403, description = "The token may not write it, whether it is there or not.", body = ErrorBody),
        (status = 408, description = "The body did not arrive in time.", body = ErrorBody),
        (status = 412, description = "The version is another one, which `ETag` names; or there is one and none was named.", body = ErrorBody),
        (status = 413, description = "An entry, the body or the repository would be too large, or have too many entries.", body = ErrorBody),
        (status = 422, description = "A key is not allowed, or there are secrets.", body = ErrorBody),
        (status = 429, description = "The token asks too often.", body = ErrorBody),
        (status = 431, description = "There are too many headers.", body = ErrorBody),
        (status = 500, description = "The server has failed.", body = ErrorBody),
        (status = 503, description = "The database does not answer, or too much waits for it.", body = ErrorBody),
        (status = 507, description = "There is no space left.", body = ErrorBody)
    )
)]
pub(super) async fn put_memory(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let repository = Parameters::of(&uri)?.repository()?;
    caller.check_write(&repository)?;
    let condition = condition::of_upload(&headers)?;
    let body = body::read(body, &app.limits).await?;
    let limits = app.limits.clone();
    // Looking for secrets takes a while.
    let entries = tokio::task::spawn_blocking(move || entries::read(&body, &limits));
    let entries = entries.await.map_err(|_| Problem::internal())??;
    let author = Author {
        name: caller.0.name,
        token: Some(caller.0.id),
    };
    let upload = Upload {
        repository: repository.name().to_owned(),
        condition,
        entries,
        author,
    };
    let Stored {
        checksum,
        modified_ms,
        ..
    } = app.writer.put(upload, &app.limits).await?;
    let stored = TeamStored {
        last_modified: iso(modified_ms),
        checksum: checksum.clone(),
    };
    respond(json(&stored)?, &checksum)
}

fn whole(repository: &Repository, contents: Contents) -> Result<Answer, Problem> {
    let owner = repository.name().split('/').next().unwrap_or_default();
    let memory = TeamMemory {
        organization_id: owner.to_owned(),
        repo: repository.name().to_owned(),
        version: contents.version,
        last_modified: iso(contents.modified_ms),
        checksum: contents.checksum,
        content: Entries {
            entries: contents.entries,
            entry_checksums: contents.entry_checksums,
        },
    };
    Ok(Answer {
        version: memory.version,
        body: json(&memory)?,
        checksum: memory.checksum,
    })
}

fn answer_hashes(hashes: Hashes) -> Result<Response, Problem> {
    let hashes = TeamHashes {
        version: hashes.version,
        checksum: hashes.checksum,
        entry_checksums: hashes.entry_checksums,
    };
    respond(json(&hashes)?, &hashes.checksum)
}

fn json(value: &impl Serialize) -> Result<Bytes, Problem> {
    let text = serde_json::to_vec(value);
    text.map(Bytes::from).map_err(|_| Problem::internal())
}

fn respond(body: Bytes, checksum: &str) -> Result<Response, Problem> {
    let json = [(header::CONTENT_TYPE, "application/json")];
    Ok((json, etag(checksum)?, body).into_response())
}

/// The version as a header, and that nobody on the way keeps the answer.
fn etag(checksum: &str) -> Result<[(header::HeaderName, HeaderValue); 2], Problem> {
    let etag = HeaderValue::from_str(&format!("\"{checksum}\""));
    Ok([
        (header::ETAG, etag.map_err(|_| Problem::internal())?),
        (
            header::CACHE_CONTROL,
            HeaderValue::from_static("private, no-cache"),
        ),
    ])
}
