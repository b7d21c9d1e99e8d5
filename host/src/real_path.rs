//! A path with every link resolved.

use memdir_core::flow::Failure;

use crate::failure::{failure, not_utf8};

/// By the system, where it can.
#[cfg(not(target_os = "wasi"))]
pub(crate) fn real_path(path: &str) -> Result<String, Failure> {
    let resolved = std::fs::canonicalize(path).map_err(|error| failure(&error))?;
    let resolved = resolved
        .into_os_string()
        .into_string()
        .map_err(|_| not_utf8())?;
    // Windows answers in its verbatim form, which no other tool shows or expects.
    Ok(match resolved.strip_prefix(r"\\?\") {
        Some(plain) if cfg!(windows) && !plain.starts_with("UNC\\") => plain.to_owned(),
        _ => resolved,
    })
}

/// Links that are followed before it counts as a circle, as in Linux.
#[cfg(target_os = "wasi")]
const MAX_LINKS: usize = 40;

/// By hand, name by name: std offers no `canonicalize` under WASI.
#[cfg(target_os = "wasi")]
pub(crate) fn real_path(path: &str) -> Result<String, Failure> {
    use memdir_core::flow::FailureCode;

    let mut resolved = String::new();
    let mut rest: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
    let mut links = 0;
    while let Some(name) = rest.pop() {
        match name.as_str() {
            "" | "." => continue,
            ".." => {
                resolved.truncate(resolved.rfind('/').unwrap_or(0));
                continue;
            }
            _ => {}
        }
        let next = format!("{resolved}/{name}");
        match std::fs::symlink_metadata(&next) {
            Ok(metadata) if metadata.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Failure::new(
                        FailureCode::Loop,
                        "Too many levels of symbolic links",
                    ));
                }
                let target = std::fs::read_link(&next).map_err(|error| failure(&error))?;
                let target = target
                    .into_os_string()
                    .into_string()
                    .map_err(|_| not_utf8())?;
                if target.starts_with('/') {
                    resolved.clear();
                }
                rest.extend(target.split('/').rev().map(str::to_owned));
            }
            Ok(metadata) if metadata.is_dir() || rest.iter().all(|name| name.is_empty()) => {
                resolved = next
            }
            Ok(_) => return Err(Failure::new(FailureCode::NotADirectory, "Not a directory")),
            // The folders above a preopened one cannot be asked about, and are no links.
            Err(_) if !rest.is_empty() => resolved = next,
            Err(error) => return Err(failure(&error)),
        }
    }
    if resolved.is_empty() {
        Ok("/".to_owned())
    } else {
        Ok(resolved)
    }
}
