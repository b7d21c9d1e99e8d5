//! Finds the root of a project (facts 1.3): all worktrees and subfolders of a repository share one
//! store, a submodule has its own, and a forged `.git` file cannot point anywhere else.

use super::Platform;
use crate::error::Error;
use crate::flow::{FailureCode, FileKind, Host};
use crate::limits::{GIT_FILE_MAX_BYTES, GIT_MAX_PARENTS};

/// What was found above a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectRoot {
    /// The folder that the project is named after: the main repository's for a worktree.
    pub canonical: String,
    /// The nearest folder with a `.git`, where the project's settings are; the start without one.
    pub checkout: String,
    /// What could not be looked at on the way up, so that another root may have been found.
    pub doubts: Vec<String>,
}

/// Walks up from `start`, which is absolute. Whatever cannot be read counts as not there; nothing
/// here fails but a cancellation.
pub(crate) async fn project_root(
    host: &Host,
    platform: Platform,
    start: &str,
) -> Result<ProjectRoot, Error> {
    let start = platform.normalise(start);
    let mut folder = start.clone();
    let mut doubts = Vec::new();
    for _ in 0..GIT_MAX_PARENTS {
        // As git does, through a link: some tools keep the folder elsewhere.
        let stat = host.stat(&platform.join(&folder, ".git")).await;
        host.stop_if_cancelled()?;
        match stat.map(|stat| stat.kind) {
            Ok(FileKind::Directory) => {
                return Ok(ProjectRoot {
                    canonical: folder.clone(),
                    checkout: folder,
                    doubts,
                });
            }
            Ok(FileKind::File) => {
                let main = main_repository(host, platform, &folder).await;
                host.stop_if_cancelled()?;
                return Ok(ProjectRoot {
                    canonical: main.unwrap_or_else(|| folder.clone()),
                    checkout: folder,
                    doubts,
                });
            }
            Ok(FileKind::Link | FileKind::Other) => {}
            Err(failure) => match failure.code {
                FailureCode::NotFound | FailureCode::NotADirectory | FailureCode::Loop => {}
                _ => doubts.push(format!(
                    "whether {folder} is a repository cannot be told: {}; if it is, memories of another project are used",
                    failure.message
                )),
            },
        }
        let Some(parent) = platform.parent(&folder) else {
            break;
        };
        folder = parent;
    }
    Ok(ProjectRoot {
        canonical: start.clone(),
        checkout: start,
        doubts,
    })
}

/// The folder of the repository that the worktree at `folder` belongs to; none for a submodule,
/// and none when either guard fails: the administrative folder must lie in the repository's
/// `worktrees`, and it must point back at this very worktree.
async fn main_repository(host: &Host, platform: Platform, folder: &str) -> Option<String> {
    let pointer = platform.join(folder, ".git");
    let pointed = read_line(host, &pointer).await?;
    let admin = resolve(platform, folder, pointed.strip_prefix("gitdir:")?.trim());
    let common = resolve(
        platform,
        &admin,
        &read_line(host, &platform.join(&admin, "commondir")).await?,
    );
    if platform.parent(&admin)? != platform.join(&common, "worktrees") {
        return None;
    }
    let back = resolve(
        platform,
        &admin,
        &read_line(host, &platform.join(&admin, "gitdir")).await?,
    );
    let back = host.real_path(&back).await.ok()?;
    let here = host.real_path(folder).await.ok()?;
    if back != platform.join(&here, ".git") {
        return None;
    }
    match platform.file_name(&common) {
        ".git" => platform.parent(&common),
        _ => Some(common),
    }
}

/// `path`, from `folder` when it is relative; git writes either since version 2.48.
fn resolve(platform: Platform, folder: &str, path: &str) -> String {
    if platform.is_absolute(path) {
        platform.normalise(path)
    } else {
        platform.normalise(&format!("{folder}{}{path}", platform.separator()))
    }
}

/// The first line of a small file.
async fn read_line(host: &Host, path: &str) -> Option<String> {
    let bytes = host.read(path, None, GIT_FILE_MAX_BYTES).await.ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let line = text.lines().next()?.trim().to_owned();
    (!line.is_empty() && !line.contains('\0')).then_some(line)
}
