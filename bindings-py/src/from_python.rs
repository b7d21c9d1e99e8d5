//! What comes in from Python. A wrong type is a `TypeError` as everywhere in Python; a value of the
//! right type that makes no sense is `invalid-argument`, and text that is no text `invalid-text`.

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::memory::{MemoryHeader, MemoryType, Scope};
use memdir_core::paths::Platform;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyMapping, PyString};
use serde::de::DeserializeOwned;

use crate::errors::{check_text, input};

/// A `str` without lone surrogates.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Text(pub(crate) String);

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = value.cast::<PyString>()?;
        match text.to_str() {
            Ok(text) => Ok(Self(text.to_owned())),
            Err(failed) => Err(check_text(value.py(), failed)),
        }
    }
}

/// Any mapping of texts to texts.
pub(crate) struct Entries(pub(crate) BTreeMap<String, String>);

impl<'py> FromPyObject<'_, 'py> for Entries {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut entries = BTreeMap::new();
        for item in value.cast::<PyMapping>()?.items()?.try_iter()? {
            let (Text(key), Text(content)) = item?.extract()?;
            entries.insert(key, content);
        }
        Ok(Self(entries))
    }
}

/// An `int` that is not negative.
pub(crate) struct Count(pub(crate) u64);

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole(&value, "a number that is not negative").map(Self)
    }
}

/// An `int` within the bounds of `T`.
fn whole<'py, T>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.cast::<PyInt>()?;
    value.extract::<T>().map_err(|failed| {
        if failed.is_instance_of::<PyOverflowError>(value.py()) {
            input(
                value.py(),
                ErrorCode::InvalidArgument,
                format!("{value} is out of range; give {what}"),
            )
        } else {
            failed
        }
    })
}

/// `posix` or `windows`.
pub(crate) struct PlatformName(pub(crate) Platform);

impl<'py> FromPyObject<'_, 'py> for PlatformName {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract::<Text>()?.0.as_str() {
            "posix" => Ok(Self(Platform::Posix)),
            "windows" => Ok(Self(Platform::Windows)),
            other => Err(input(
                value.py(),
                ErrorCode::InvalidArgument,
                format!("platform must be posix or windows, not {other:?}"),
            )),
        }
    }
}

/// A `MemoryHeader` of `memdir._types`.
pub(crate) struct Header(pub(crate) MemoryHeader);

impl<'py> FromPyObject<'_, 'py> for Header {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = value.py();
        let field = |name: &str| {
            value.getattr(name).map_err(|_| {
                PyTypeError::new_err(format!(
                    "a memory must be a MemoryHeader; this {} has no {name}",
                    value.get_type()
                ))
            })
        };
        let text = |name: &str| {
            Ok::<_, PyErr>(
                field(name)?
                    .extract::<Option<Text>>()?
                    .map(|Text(text)| text),
            )
        };
        let unknown = |name: &str, value: &str| {
            input(
                py,
                ErrorCode::InvalidArgument,
                format!("{value:?} is no {name} of a memory"),
            )
        };
        // Every field is named here, so a new one in the core stops the build.
        Ok(Self(MemoryHeader {
            path: field("path")?.extract::<Text>()?.0,
            name: text("name")?,
            description: text("description")?,
            kind: match text("type")? {
                None => None,
                Some(name) => {
                    Some(MemoryType::from_name(&name).ok_or_else(|| unknown("type", &name))?)
                }
            },
            scope: match field("scope")?.extract::<Text>()?.0.as_str() {
                "private" => Scope::Private,
                "team" => Scope::Team,
                other => return Err(unknown("scope", other)),
            },
            pinned: field("pinned")?.extract()?,
            modified_ms: match field("modified_ms")? {
                value if value.is_none() => None,
                value => Some(whole(&value, "milliseconds since the epoch")?),
            },
            mtime_ms: whole(&field("mtime_ms")?, "milliseconds since the epoch")?,
            size: whole(&field("size")?, "a number of bytes")?,
        }))
    }
}

/// Open-ended data: dicts, lists, texts, bytes and numbers in the shape of the core's JSON.
pub(crate) fn structured<T: DeserializeOwned>(
    value: &Bound<'_, PyAny>,
    code: ErrorCode,
) -> PyResult<T> {
    let py = value.py();
    pythonize::depythonize(value).map_err(|failed| {
        let failed = check_text(py, failed.into());
        if failed.is_instance_of::<PyTypeError>(py)
            || failed.value(py).hasattr("code").unwrap_or(false)
        {
            return failed;
        }
        input(py, code, failed.value(py).to_string())
    })
}
