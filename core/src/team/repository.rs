//! Which repository a team's memories belong to: the one that the project's git remote names.

use crate::error::Error;
use crate::flow::Host;
use crate::limits::GIT_FILE_MAX_BYTES;
use crate::paths::Platform;

/// `owner/repo` (on GitLab with all groups) of the address of a git remote: `https://host/owner/repo.git`,
/// `ssh://git@host:22/owner/repo`, `git@host:owner/repo.git`; the host does not count. Null for a local path
/// and for what is no such address.
#[must_use]
pub fn team_repository(remote: &str) -> Option<String> {
    let remote = remote.trim();
    let path = match remote.split_once("://") {
        Some((scheme, rest)) => {
            let known = [
                "https",
                "http",
                "ssh",
                "git",
                "git+ssh",
                "ssh+git",
                "git+https",
            ];
            if !known.iter().any(|name| scheme.eq_ignore_ascii_case(name)) {
                return None;
            }
            let (host, path) = rest.split_once('/')?;
            (!host.is_empty()).then_some(path)?
        }
        // As git reads it: a colon before the first slash, and not after the letter of a drive.
        None => {
            let (host, path) = remote.split_once(':')?;
            let name = host.rsplit('@').next().unwrap_or_default();
            let is_host = name.len() > 1 && !host.contains(['/', '\\']);
            is_host.then_some(path.strip_prefix('/').unwrap_or(path))?
        }
    };
    let path = path.trim_end_matches('/');
    let path = path
        .strip_suffix(".git")
        .unwrap_or(path)
        .trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    let is_part = |part: &&str| {
        !matches!(*part, "" | "." | "..")
            && part.bytes().all(|byte| byte.is_ascii_graphic())
            && !part.contains(['\\', '?', '#', ':', '@'])
    };
    (parts.len() >= 2 && parts.iter().all(is_part)).then(|| path.to_owned())
}

/// The repository of the project at `root`: that of its remote `origin`, else of its only one.
///
/// # Errors
/// Only `aborted`.
pub(crate) async fn find_repository(
    host: &Host,
    platform: Platform,
    root: &str,
) -> Result<Option<String>, Error> {
    let git = platform.join(root, ".git");
    let mut folders = vec![git.clone(), root.to_owned()];
    // A submodule has its folder elsewhere, and a file that says where.
    let pointer = host.read(&git, None, GIT_FILE_MAX_BYTES).await;
    host.stop_if_cancelled()?;
    if let Ok(Ok(text)) = pointer.map(String::from_utf8)
        && let Some(folder) = text.trim().strip_prefix("gitdir:")
    {
        let folder = folder.trim();
        folders.insert(
            0,
            if platform.is_absolute(folder) {
                folder.to_owned()
            } else {
                platform.normalise(&platform.join(root, folder))
            },
        );
    }
    for folder in folders {
        let config = host
            .read(&platform.join(&folder, "config"), None, GIT_FILE_MAX_BYTES)
            .await;
        host.stop_if_cancelled()?;
        if let Ok(Ok(text)) = config.map(String::from_utf8) {
            return Ok(remote(&text).and_then(|remote| team_repository(&remote)));
        }
    }
    Ok(None)
}

/// The address of the remote that counts in a git configuration.
fn remote(config: &str) -> Option<String> {
    let mut section = None;
    let mut remotes: Vec<(String, String)> = Vec::new();
    for line in config.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let name = header.split_once('"').and_then(|(kind, rest)| {
                let (name, _) = rest.rsplit_once('"')?;
                kind.trim()
                    .eq_ignore_ascii_case("remote")
                    .then(|| name.to_owned())
            });
            section = name;
        } else if let (Some(name), Some((key, value))) = (&section, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("url")
            && !remotes.iter().any(|(known, _)| known == name)
        {
            let value = value.trim();
            let value = value
                .strip_prefix('"')
                .and_then(|value| value.strip_suffix('"'))
                .unwrap_or(value);
            remotes.push((name.clone(), value.to_owned()));
        }
    }
    match remotes.as_slice() {
        [(_, only)] => Some(only.clone()),
        many => many
            .iter()
            .find(|(name, _)| name == "origin")
            .map(|(_, url)| url.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::remote;

    #[test]
    fn the_remote_origin_counts_else_the_only_one() {
        let origin = "[core]\n\turl = no\n[remote \"up\"]\n\turl = u\n[remote \"origin\"]\n\tfetch = x\n\turl = \"o\"\n\turl = second\n";
        assert_eq!(remote(origin).as_deref(), Some("o"));
        assert_eq!(remote("[remote \"up\"]\nURL=u\n").as_deref(), Some("u"));
        assert_eq!(
            remote("[remote \"a\"]\nurl=a\n[remote \"b\"]\nurl=b\n"),
            None
        );
        assert_eq!(remote("[branch \"main\"]\nurl = x\n"), None);
    }
}
