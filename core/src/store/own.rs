//! memdir's own folder inside a store: made with the first thing that is kept in it.

use super::find::Found;
use crate::error::Error;
use crate::flow::{Content, FailureCode, FileKind, Host};
use crate::json::{self, Member};
use crate::limits::{FILE_MAX_BYTES, FILE_MODE, FOLDER_MODE, OWN_FOLDER, TEMPORARY_ENDING};
use crate::paths::{Platform, injective_key, key_of};

const ORIGIN: &str = "origin";
const IGNORE: &str = ".gitignore";

/// One of memdir's own files.
pub(super) fn own_path(platform: Platform, directory: &str, name: &str) -> String {
    platform.join(directory, &format!("{OWN_FOLDER}/{name}"))
}

/// The project that a store says it was made for.
pub(super) async fn origin(
    host: &Host,
    platform: Platform,
    directory: &str,
) -> Result<Option<String>, Error> {
    let file = own_path(platform, directory, ORIGIN);
    let bytes = host.read(&file, Some(directory), FILE_MAX_BYTES).await;
    host.stop_if_cancelled()?;
    let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let mut wanted = [("path", Member::Missing)];
    let is_record = text.is_some_and(|text| json::read_members(&text, &mut wanted).is_ok());
    Ok(match wanted {
        [(_, Member::Text(path))] if is_record => Some(path),
        _ => None,
    })
}

/// Makes the folder with what belongs in it, if the store itself is there. False when it cannot be
/// made, or is no folder of the store's own.
pub(super) async fn prepare(host: &Host, found: &Found) -> bool {
    let (platform, directory) = (found.platform, &found.opened.directory);
    let folder = platform.join(directory, OWN_FOLDER);
    let made = match host.lstat(&folder).await {
        // A link would lead what is written out of the store.
        Ok(stat) => stat.kind == FileKind::Directory,
        Err(_) => host
            .make_dir(&folder, Some(directory), FOLDER_MODE)
            .await
            .is_ok(),
    };
    if !made {
        return false;
    }
    // Some stores are committed. What is there already is somebody's wish.
    if is_missing(host, found, IGNORE).await
        && !replace(host, found, IGNORE, Content::Text("*\n".to_owned())).await
    {
        return false;
    }
    if let Some(path) = project_of(found)
        && is_missing(host, found, ORIGIN).await
        && has_processes(host).await
    {
        let origin = serde_json::json!({ "path": path }).to_string();
        replace(host, found, ORIGIN, Content::Text(origin)).await;
    }
    true
}

async fn is_missing(host: &Host, found: &Found, name: &str) -> bool {
    let file = own_path(found.platform, &found.opened.directory, name);
    let stat = host.lstat(&file).await;
    stat.is_err_and(|failure| failure.code == FailureCode::NotFound)
}

/// Writes one of memdir's own files, whole or not at all; says whether it could be written.
pub(super) async fn replace(host: &Host, found: &Found, name: &str, content: Content) -> bool {
    let directory = &found.opened.directory;
    let file = own_path(found.platform, directory, name);
    let token = host.random(8).await.unwrap_or_default();
    let token: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
    let via = format!("{file}.{token}{TEMPORARY_ENDING}");
    host.write(&file, Some(directory), content, Some(via), FILE_MODE)
        .await
        .is_ok()
}

/// The project that a folder was named after, if it was.
fn project_of(found: &Found) -> Option<String> {
    let root = found.opened.project_root.clone()?;
    let key = found.opened.project_key.as_deref()?;
    (key == key_of(&root) || key == injective_key(&root)).then_some(root)
}

/// Under WASI, which has none, paths are those of a sandbox and say nothing outside it.
async fn has_processes(host: &Host) -> bool {
    host.host_info().await.is_ok_and(|info| info.pid.is_some())
}
