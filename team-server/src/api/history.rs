//! What a person looks at: which repositories there are for them, and who wrote what when.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use serde::Serialize;
use utoipa::ToSchema;

use super::query::Parameters;
use crate::app::App;
use crate::caller::Caller;
use crate::limits::REVISIONS;
use crate::problem::{ErrorBody, Problem};
use crate::storage::RevisionHead;
use crate::time::iso;

#[derive(Serialize, ToSchema)]
pub(super) struct Repositories {
    /// By name.
    repositories: Vec<RepositoryHead>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RepositoryHead {
    #[schema(example = "acme/app")]
    repo: String,
    version: i64,
    entries: i64,
    bytes: i64,
    #[schema(format = DateTime)]
    last_modified: String,
}

#[derive(Serialize, ToSchema)]
pub(super) struct History {
    repo: String,
    /// The newest first.
    revisions: Vec<Revision>,
    /// Whether there are older ones.
    more: bool,
}

/// An entry as somebody wrote it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Revision {
    key: String,
    /// The version of the repository that it came with.
    version: i64,
    checksum: String,
    bytes: i64,
    /// The name of the token.
    author: String,
    #[schema(format = DateTime)]
    written_at: String,
    /// Only when one version of one key is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

/// The repositories with data that the token may read.
#[utoipa::path(
    get,
    path = "/api/repositories",
    tag = "page",
    security(("token" = [])),
    responses(
        (status = 200, description = "Those that there are.", body = Repositories),
        (status = 401, description = "There is no token, or none of this server.", body = ErrorBody),
        (status = 429, description = "The token asks too often.", body = ErrorBody),
        (status = 431, description = "There are too many headers.", body = ErrorBody),
        (status = 500, description = "The server has failed.", body = ErrorBody),
        (status = 503, description = "The database does not answer.", body = ErrorBody)
    )
)]
pub(super) async fn get_repositories(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<Repositories>, Problem> {
    let heads = app.storage.heads().await?.into_iter();
    let readable = heads.filter(|head| caller.0.may_read(&head.name));
    let repositories = readable.map(|head| RepositoryHead {
        repo: head.name,
        version: head.version,
        entries: head.entries,
        bytes: head.bytes,
        last_modified: iso(head.modified_ms),
    });
    Ok(Json(Repositories {
        repositories: repositories.collect(),
    }))
}

/// Every revision of a memory, or of all memories of a repository; at most 500 at a time.
#[utoipa::path(
    get,
    path = "/api/history",
    tag = "page",
    security(("token" = [])),
    params(
        ("repo" = String, Query, description = "`owner/repo`"),
        ("key" = Option<String>, Query, description = "One memory"),
        ("version" = Option<i64>, Query, description = "With `key`: this revision alone, with its content"),
        ("before" = Option<i64>, Query, description = "Only revisions of older versions than this one")
    ),
    responses(
        (status = 200, description = "What there is.", body = History),
        (status = 400, description = "The address cannot be read.", body = ErrorBody),
        (status = 401, description = "There is no token, or none of this server.", body = ErrorBody),
        (status = 403, description = "The token may not read it, whether it is there or not.", body = ErrorBody),
        (status = 404, description = "There is no such revision.", body = ErrorBody),
        (status = 429, description = "The token asks too often.", body = ErrorBody),
        (status = 431, description = "There are too many headers.", body = ErrorBody),
        (status = 500, description = "The server has failed.", body = ErrorBody),
        (status = 503, description = "The database does not answer.", body = ErrorBody)
    )
)]
pub(super) async fn get_history(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
) -> Result<Json<History>, Problem> {
    let parameters = Parameters::of(&uri)?;
    let repository = parameters.repository()?;
    caller.check_read(&repository)?;
    let (name, key) = (repository.name(), parameters.key()?);
    let before = parameters.version("before")?;
    let (revisions, more) = match (key, parameters.version("version")?) {
        (Some(key), Some(version)) => {
            let revision = app.storage.revision(name, key, version).await?;
            let revision = revision.ok_or_else(Problem::no_data)?;
            let content = Some(revision.content);
            (vec![Revision::of(revision.head, content)], false)
        }
        (None, Some(_)) => return Err(Problem::bad_request("`version` needs a `key`")),
        (key, None) => {
            let most = i64::try_from(REVISIONS).unwrap_or(i64::MAX);
            let wanted = most.saturating_add(1);
            let mut heads = app.storage.history(name, key, before, wanted).await?;
            let more = heads.len() > REVISIONS;
            heads.truncate(REVISIONS);
            let revisions = heads.into_iter().map(|head| Revision::of(head, None));
            (revisions.collect(), more)
        }
    };
    Ok(Json(History {
        repo: name.to_owned(),
        revisions,
        more,
    }))
}

impl Revision {
    fn of(head: RevisionHead, content: Option<String>) -> Self {
        Self {
            key: head.key,
            version: head.version,
            checksum: head.checksum,
            bytes: head.bytes,
            author: head.author,
            written_at: iso(head.written_ms),
            content,
        }
    }
}
