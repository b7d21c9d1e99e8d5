//! memdir's own folder inside a store: made with the first thing that is kept in it.

use super::find::Found;
use crate::error::Error;
use crate::flow::{Content, Failure, FailureCode, FileKind, Host};
use crate::json::{self, Member};
use crate::limits::{
    FILE_MAX_BYTES, FILE_MODE, FOLDER_MODE, OWN_FOLDER, TEMPORARY_ENDING, TOKEN_BYTES,
};
use crate::paths::{Platform, injective_key, key_of};

const ORIGIN: &str = "origin";
const IGNORE: &str = ".gitignore";

/// One of memdir's own files.
pub(crate) fn own_path(platform: Platform, directory: &str, name: &str) -> String {
    platform.join(directory, &format!("{OWN_FOLDER}/{name}"))
}

/// Whom a store says it was made for: a project (`path`) or an agent (`agent`).
pub(crate) async fn recorded(
    host: &Host,
    platform: Platform,
    directory: &str,
    member: &str,
) -> Result<Option<String>, Error> {
    let file = own_path(platform, directory, ORIGIN);
    let bytes = host.read(&file, Some(directory), FILE_MAX_BYTES).await;
    host.stop_if_cancelled()?;
    let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let mut wanted = [(member, Member::Missing)];
    let is_record = text.is_some_and(|text| json::read_members(&text, &mut wanted).is_ok());
    Ok(match wanted {
        [(_, Member::Text(name))] if is_record => Some(name),
        _ => None,
    })
}

/// Makes the folder, if the store itself is there.
///
/// # Errors
/// Why it cannot be made; `loop` when something else has its name.
pub(crate) async fn make_folder(host: &Host, found: &Found) -> Result<(), Failure> {
    let (platform, directory) = (found.platform, &found.opened.directory);
    let folder = platform.join(directory, OWN_FOLDER);
    match host.lstat(&folder).await {
        Ok(stat) if stat.kind == FileKind::Directory => Ok(()),
        // A link would lead what is written out of the store.
        Ok(_) => {
            let message = format!("{OWN_FOLDER} is no folder of the store's own; remove it");
            Err(Failure::new(FailureCode::Loop, message))
        }
        Err(_) => host.make_dir(&folder, Some(directory), FOLDER_MODE).await,
    }
}

/// The files that the folder is to have besides: names and contents. What is there already is
/// somebody's wish.
pub(crate) fn furniture(found: &Found, has_processes: bool) -> Vec<(&'static str, String)> {
    // Some stores are committed.
    let mut files = vec![(IGNORE, "*\n".to_owned())];
    // Under WASI, which has no processes, paths are those of a sandbox and say nothing outside it.
    let project = project_of(found).filter(|_| has_processes);
    let origin = match (&found.agent, project) {
        (Some(agent), _) => Some(serde_json::json!({ "agent": agent.name })),
        (None, path) => path.map(|path| serde_json::json!({ "path": path })),
    };
    files.extend(origin.map(|origin| (ORIGIN, origin.to_string())));
    files
}

/// Makes the folder with what belongs in it, for those who write without the lock.
pub(crate) async fn prepare(host: &Host, found: &Found) -> Result<(), Failure> {
    make_folder(host, found).await?;
    let info = host.host_info().await;
    for (name, content) in furniture(found, info.is_ok_and(|info| info.pid.is_some())) {
        let file = own_path(found.platform, &found.opened.directory, name);
        let stat = host.lstat(&file).await;
        if stat.is_err_and(|failure| failure.code == FailureCode::NotFound) {
            replace(host, found, name, Content::Text(content)).await?;
        }
    }
    Ok(())
}

/// Writes one of memdir's own files, whole or not at all.
pub(crate) async fn replace(
    host: &Host,
    found: &Found,
    name: &str,
    content: Content,
) -> Result<(), Failure> {
    let directory = &found.opened.directory;
    let file = own_path(found.platform, directory, name);
    // Without a random source the name is not made when it is there already.
    let token = hex(&host.random(TOKEN_BYTES).await.unwrap_or_default());
    // Beside the lock, whoever holds it removes what was left behind.
    let last = name.rsplit('/').next().unwrap_or(name);
    let via = own_path(
        found.platform,
        directory,
        &format!("{last}.{token}{TEMPORARY_ENDING}"),
    );
    host.write(
        &file,
        Some(directory),
        content,
        Some(via),
        (FILE_MODE, true),
    )
    .await
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The project that a folder was named after, if it was.
fn project_of(found: &Found) -> Option<String> {
    let root = found.opened.project_root.clone()?;
    let key = found.opened.project_key.as_deref()?;
    (key == key_of(&root) || key == injective_key(&root)).then_some(root)
}
