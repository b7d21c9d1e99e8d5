//! Reads one file of a store, and only if it really lies in the store.

use serde::Serialize;

use super::{Place, scan};
use crate::error::{Error, ErrorCode};
use crate::flow::{FileKind, Host, Stat, join_all};
use crate::limits::FILE_MAX_BYTES;
use crate::memory::{MemoryHeader, parse_frontmatter};
use crate::paths::check_relative;

/// One memory with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryFile {
    /// What a scan says of it.
    pub header: MemoryHeader,
    /// The whole text as it stands in the file, frontmatter included.
    pub content: String,
}

pub(super) async fn read(place: &Place, host: &Host, path: &str) -> Result<MemoryFile, Error> {
    let (content, stat) = read_text(place, host, path).await?;
    let header = MemoryHeader::new(path.to_owned(), &stat, parse_frontmatter(&content));
    Ok(MemoryFile { header, content })
}

/// The text of a file of the store and its `lstat`.
pub(super) async fn read_text(
    place: &Place,
    host: &Host,
    path: &str,
) -> Result<(String, Stat), Error> {
    check_relative(path, place.platform)?;
    let full = place.path(path);
    let fail = |doing: &'static str| move |failure| Error::from_failure(&failure, doing, path);

    // Any part of the path may be a link, so the resolved path is what counts and what is opened.
    let mut resolved = join_all([host.real_path(&full), host.real_path(&place.directory)])
        .await
        .into_iter();
    let (Some(target), Some(root)) = (resolved.next(), resolved.next()) else {
        return Err(Error::new(
            ErrorCode::Internal,
            "a joined call gave no answer",
        ));
    };
    let target = target.map_err(fail("reading"))?;
    let root = root.map_err(fail("finding the store of"))?;
    if !place.platform.is_inside(&target, &root) {
        return Err(Error::new(
            ErrorCode::LinkOutside,
            format!("{path} is a link that leaves the store; keep the file itself in the store"),
        )
        .at(path));
    }
    let stat = host.lstat(&target).await.map_err(fail("reading"))?;
    match stat.kind {
        FileKind::File => {}
        FileKind::Directory => {
            return Err(Error::new(
                ErrorCode::IsADirectory,
                format!("{path} is a folder; name a file in it"),
            )
            .at(path));
        }
        FileKind::Link | FileKind::Other => {
            return Err(Error::new(
                ErrorCode::Unsupported,
                format!("{path} is no regular file and is not opened"),
            )
            .at(path));
        }
    }
    let too_large = || {
        Error::new(
            ErrorCode::TooLarge,
            format!("{path} is larger than {FILE_MAX_BYTES} bytes; split it up"),
        )
        .at(path)
    };
    if stat.size > FILE_MAX_BYTES {
        return Err(too_large());
    }
    // One byte more than allowed shows a file that has grown since.
    let bytes = host
        .read(&target, 0, FILE_MAX_BYTES.saturating_add(1))
        .await
        .map_err(fail("reading"))?;
    if bytes.len() as u64 > FILE_MAX_BYTES {
        return Err(too_large());
    }
    let text = scan::check_text(&bytes, true).map_err(|(_, message)| {
        Error::new(ErrorCode::NotText, format!("{path} {message}")).at(path)
    })?;
    Ok((text.to_owned(), stat))
}
