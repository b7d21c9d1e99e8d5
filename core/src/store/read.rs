//! Reads one file of a store, and only if it really lies in the store.

use serde::Serialize;

use super::{Place, heads};
use crate::error::{Error, ErrorCode};
use crate::flow::{FileKind, Host, Stat, join};
use crate::limits::FILE_MAX_BYTES;
use crate::memory::{MemoryHeader, parse_frontmatter};
use crate::paths::{check_relative, is_own};
use crate::write::hash;

/// One memory with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryFile {
    /// What a scan says of it.
    pub header: MemoryHeader,
    /// The whole text as it stands in the file, frontmatter included.
    pub content: String,
    /// The text below the frontmatter, without line ends around it: what saving takes.
    pub body: String,
    /// `sha256:` and hex of the file: what saving and forgetting can be told to expect.
    pub hash: String,
}

pub(super) async fn read(place: &Place, host: &Host, path: &str) -> Result<MemoryFile, Error> {
    let (content, stat) = read_text(place, host, path).await?;
    let frontmatter = parse_frontmatter(&content);
    let body = content.get(frontmatter.body..).unwrap_or_default();
    let body = match body.strip_prefix('\u{FEFF}') {
        Some(rest) if !frontmatter.found => rest,
        _ => body,
    };
    Ok(MemoryFile {
        body: body.trim_matches(['\r', '\n']).to_owned(),
        hash: hash(content.as_bytes()),
        header: MemoryHeader::new(path.to_owned(), &stat, frontmatter),
        content,
    })
}

/// The whole text of a file of the store.
pub(crate) async fn text_of(place: &Place, host: &Host, path: &str) -> Result<String, Error> {
    Ok(read_text(place, host, path).await?.0)
}

/// The whole text of a file of the store and its `lstat`.
async fn read_text(place: &Place, host: &Host, path: &str) -> Result<(String, Stat), Error> {
    let (file, stat) = locate(place, host, path).await?;
    let check = |size: u64| {
        if size <= FILE_MAX_BYTES {
            return Ok(());
        }
        let message = format!("{path} is larger than {FILE_MAX_BYTES} bytes; split it up");
        Err(Error::new(ErrorCode::TooLarge, message).at(path))
    };
    check(stat.size)?;
    // One byte more than allowed shows a file that has grown since.
    let bytes = read_bytes(place, host, &file, path, FILE_MAX_BYTES.saturating_add(1)).await?;
    check(bytes.len() as u64)?;
    Ok((text(bytes, path, true)?, stat))
}

/// As much text of a file as a prompt can need, and whether that is all of it.
pub(super) async fn read_beginning(
    place: &Place,
    host: &Host,
    path: &str,
) -> Result<(String, bool), Error> {
    let (file, stat) = locate(place, host, path).await?;
    let bytes = read_bytes(place, host, &file, path, FILE_MAX_BYTES).await?;
    let whole = bytes.len() as u64 >= stat.size;
    Ok((text(bytes, path, whole)?, whole))
}

async fn read_bytes(
    place: &Place,
    host: &Host,
    file: &str,
    path: &str,
    length: u64,
) -> Result<Vec<u8>, Error> {
    host.read(file, Some(&place.directory), length)
        .await
        .map_err(|failure| Error::from_failure(&failure, "reading", path))
}

fn text(bytes: Vec<u8>, path: &str, whole: bool) -> Result<String, Error> {
    heads::into_text(bytes, whole).map_err(|(_, message)| {
        Error::new(ErrorCode::NotText, format!("{path} {message}")).at(path)
    })
}

/// Where a file of the store really is, if it is in the store and a regular file.
pub(crate) async fn locate(
    place: &Place,
    host: &Host,
    path: &str,
) -> Result<(String, Stat), Error> {
    let (real, stat) = resolve(place, host, path).await?;
    let refuse = |code, what: &str| Err(Error::new(code, format!("{path} {what}")).at(path));
    match stat.kind {
        FileKind::File => Ok((place.path(&real), stat)),
        FileKind::Directory => refuse(ErrorCode::IsADirectory, "is a folder; name a file in it"),
        FileKind::Link | FileKind::Other => refuse(
            ErrorCode::Unsupported,
            "is no regular file and is not opened",
        ),
    }
}

/// Where a path of the store leads, relative to the store, if that is in the store, and what is there.
pub(crate) async fn resolve(
    place: &Place,
    host: &Host,
    path: &str,
) -> Result<(String, Stat), Error> {
    check_relative(path, place.platform)?;
    let full = place.path(path);
    let fail = |doing: &'static str| move |failure| Error::from_failure(&failure, doing, path);

    // Any part of the path may be a link, so the resolved path is what counts and what is opened.
    let (target, root) = join(host.real_path(&full), host.real_path(&place.directory)).await;
    let target = target.map_err(fail("reading"))?;
    let root = root.map_err(fail("finding the store of"))?;
    let refuse = |code, what: &str| Err(Error::new(code, format!("{path} {what}")).at(path));
    let Some(rest) = place.platform.below(&target, &root) else {
        return refuse(
            ErrorCode::LinkOutside,
            "is a link that leaves the store; keep the file itself in the store",
        );
    };
    if is_own(rest, place.platform) {
        return refuse(
            ErrorCode::PathOutsideStore,
            "leads to one of memdir's own files, which is no memory",
        );
    }
    let stat = host.lstat(&target).await.map_err(fail("reading"))?;
    let real = rest.replace(place.platform.separator(), "/");
    Ok((real, stat))
}
