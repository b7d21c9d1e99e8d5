//! The rules of the core as functions, under their own names.

use memdir_core::limits::TEAM_BATCH_BYTES;
use memdir_core::memory::MemoryHeader;
use memdir_core::{Error, rules};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::{guarded, raise};
use crate::from_python::{Count, Entries, Header, PlatformName, Text};
use crate::to_python::{Shape, to_python};

/// Runs a rule without the GIL and gives its result to Python.
fn apply<T: Serialize + Send>(
    py: Python<'_>,
    rule: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<Py<PyAny>> {
    let value = py
        .detach(|| guarded(rule))
        .map_err(|error| raise(py, &error))?;
    Ok(to_python(py, &value, Shape::Classes)?.unbind())
}

/// Cut an index (MEMORY.md) to what reaches the prompt: 200 lines and 25,000 bytes of UTF-8, comments
/// and frontmatter counted, of the trimmed text.
///
/// A cut is made at a line end, or between characters in a single longer line. Both flags are judged
/// on the whole trimmed text; `lost` names the entries that are not wholly in `content`, which is
/// always a prefix of the trimmed text.
///
/// Source: reference facts 3.1 and 3.2; DESIGN, "Units".
#[pyfunction]
#[pyo3(signature = (text: "str") -> "_types.Truncation")]
pub(crate) fn truncate_index(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::truncate_index(&text.0)))
}

/// Read the block at the top of a memory, or of the head of one.
///
/// Never fails: what is broken counts as text or as missing, and `problems` says so. `body` is an
/// offset in bytes of UTF-8: `text.encode()[body:]` is the body. `modified_ms` is in milliseconds
/// since the epoch.
///
/// Source: reference facts 4.1 to 4.3; DESIGN, "Frontmatter".
#[pyfunction]
#[pyo3(signature = (text: "str") -> "_types.Frontmatter")]
pub(crate) fn parse_frontmatter(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::parse_frontmatter(&text.0)))
}

/// List memories as a model reads them, one inert line each, in the given order:
/// `- [type] path (time): description`, joined by LF. The time is `mtime_ms` in UTC.
///
/// Source: reference facts 4.5; DESIGN, "Untrusted text".
#[pyfunction]
#[pyo3(signature = (memories: "collections.abc.Sequence[_types.MemoryHeader]") -> "str")]
pub(crate) fn format_manifest(py: Python<'_>, memories: Vec<Header>) -> PyResult<Py<PyAny>> {
    let memories: Vec<MemoryHeader> = memories.into_iter().map(|Header(header)| header).collect();
    apply(py, || Ok(rules::format_manifest(&memories)))
}

/// Name the folder of a project: every UTF-16 unit of its absolute path that is no ASCII letter or
/// digit becomes `-`; beyond 200 units the name is cut and a hash of the whole path follows.
///
/// Source: reference facts 1.1.
#[pyfunction]
#[pyo3(signature = (path: "str") -> "str")]
pub(crate) fn project_slug(py: Python<'_>, path: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::project_slug(&path.0)))
}

/// Give a memory directory in its canonical form: absolute, normalised, NFC, with one trailing
/// separator. With `home`, a leading `~/` stands for it.
///
/// Raises `PathError` with code `path-empty`, `path-nul`, `path-home`, `path-home-parent`,
/// `path-outside-home`, `path-unc`, `path-drive-root`, `path-relative`, `path-root` or
/// `path-too-short`.
///
/// Source: reference facts 1.5.
#[pyfunction]
#[pyo3(signature = (path: "str", *, platform: "_types.PlatformName", home: "str | None" = None) -> "str")]
pub(crate) fn validate_memory_path(
    py: Python<'_>,
    path: Text,
    platform: PlatformName,
    home: Option<Text>,
) -> PyResult<Py<PyAny>> {
    apply(py, || {
        rules::validate_memory_path(
            &path.0,
            platform.0,
            home.as_ref().map(|home| home.0.as_str()),
        )
    })
}

/// Give the local entries (key to content) that the server lacks or holds with another checksum;
/// `server` maps keys to `sha256:` and lower-case hex. Deletions are never part of it.
///
/// Source: reference facts 11.4.
#[pyfunction]
#[pyo3(signature = (local: "collections.abc.Mapping[str, str]", server: "collections.abc.Mapping[str, str]") -> "dict[str, str]")]
pub(crate) fn team_delta(py: Python<'_>, local: Entries, server: Entries) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::team_delta(local.0, &server.0)))
}

/// Split entries (key to content) into uploads of at most `max_bytes` bytes of compact JSON each,
/// the envelope counted (None: 200,000): keys in byte order, greedily. An entry that alone is larger
/// stands alone; nothing is lost.
///
/// Source: reference facts 11.3 and 11.4.
#[pyfunction]
#[pyo3(signature = (entries: "collections.abc.Mapping[str, str]", *, max_bytes: "int | None" = None) -> "list[dict[str, str]]")]
pub(crate) fn batch_entries(
    py: Python<'_>,
    entries: Entries,
    max_bytes: Option<Count>,
) -> PyResult<Py<PyAny>> {
    let max_bytes = max_bytes.map_or(TEAM_BATCH_BYTES, |Count(count)| {
        usize::try_from(count).unwrap_or(usize::MAX)
    });
    apply(py, || Ok(rules::batch_entries(entries.0, max_bytes)))
}

/// List every error code with its family and a typical message, in a fixed order.
#[pyfunction]
#[pyo3(signature = () -> "list[_types.ErrorInfo]")]
pub(crate) fn error_table(py: Python<'_>) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::error_table()))
}
