//! What comes in from Python. A wrong type is a `TypeError` as everywhere in Python; a value of the
//! right type that makes no sense is `invalid-argument`, and text that is no text `invalid-text`.

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::lint::LintMemory;
use memdir_core::memory::{MemoryHeader, MemoryType, Scope};
use memdir_core::paths::{PerSource, Platform};
use memdir_core::store::Features;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyMapping, PyString};
use serde::de::DeserializeOwned;

use crate::errors::{check_text, input};

/// A `str` without lone surrogates.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
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

/// What an optional text is to the core.
pub(crate) fn text(value: Option<Text>) -> Option<String> {
    value.map(|Text(text)| text)
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

/// A mapping from places of settings to values or None.
pub(crate) struct BySource<T>(PerSource<T>);

impl<'py, T> FromPyObject<'_, 'py> for BySource<T>
where
    T: Default + for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut found = PerSource::default();
        for item in value.cast::<PyMapping>()?.items()?.try_iter()? {
            let (Text(source), setting) = item?.extract()?;
            let place = match source.as_str() {
                "policy" => &mut found.policy,
                "flag" => &mut found.flag,
                "local" => &mut found.local,
                "project" => &mut found.project,
                "user" => &mut found.user,
                other => {
                    return Err(input(
                        value.py(),
                        ErrorCode::InvalidArgument,
                        format!(
                            "settings come from policy, flag, local, project or user, not from {other:?}"
                        ),
                    ));
                }
            };
            *place = setting;
        }
        Ok(Self(found))
    }
}

impl<T> BySource<T> {
    pub(crate) fn map<U>(self, into: impl Fn(T) -> U) -> PerSource<U> {
        let PerSource {
            policy,
            flag,
            local,
            project,
            user,
        } = self.0;
        PerSource {
            policy: policy.map(&into),
            flag: flag.map(&into),
            local: local.map(&into),
            project: project.map(&into),
            user: user.map(&into),
        }
    }
}

/// A `bool` and nothing that could be taken for one.
#[derive(Default)]
pub(crate) struct Flag(pub(crate) bool);

impl<'py> FromPyObject<'_, 'py> for Flag {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        value.extract().map(Self)
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

/// One of the four types.
pub(crate) struct TypeName(pub(crate) MemoryType);

impl<'py> FromPyObject<'_, 'py> for TypeName {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Text(name) = value.extract()?;
        MemoryType::from_name(&name)
            .map(Self)
            .ok_or_else(|| no_such(value.py(), "type", &name))
    }
}

fn no_such(py: Python<'_>, field: &str, value: &str) -> PyErr {
    input(
        py,
        ErrorCode::InvalidArgument,
        format!("{value:?} is no {field} of a memory"),
    )
}

/// An `int` that counts milliseconds, before the epoch too.
pub(crate) struct Milliseconds(pub(crate) i64);

impl<'py> FromPyObject<'_, 'py> for Milliseconds {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole(&value, "milliseconds since the epoch").map(Self)
    }
}

/// A dataclass of `memdir._types`, or whatever has its attributes.
struct Dataclass<'a, 'py> {
    value: Borrowed<'a, 'py, PyAny>,
    /// What was to be passed, for the message.
    expected: &'static str,
}

impl<'py> Dataclass<'_, 'py> {
    fn field(&self, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Self { value, expected } = self;
        value.getattr(name).map_err(|_| {
            PyTypeError::new_err(format!(
                "{expected}; this {} has no {name}",
                value.get_type()
            ))
        })
    }

    fn get<T>(&self, name: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
    {
        self.field(name)?.extract()
    }

    fn text(&self, name: &str) -> PyResult<Option<String>> {
        self.get(name).map(text)
    }

    fn flag(&self, name: &str) -> PyResult<bool> {
        self.get(name).map(|Flag(flag)| flag)
    }
}

// Every field of what follows is named, so a new one in the core stops the build.

/// A `MemoryHeader`.
pub(crate) struct Header(pub(crate) MemoryHeader);

impl<'py> FromPyObject<'_, 'py> for Header {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let header = Dataclass {
            value,
            expected: "a memory must be a MemoryHeader",
        };
        Ok(Self(MemoryHeader {
            path: header.get::<Text>("path")?.0,
            name: header.text("name")?,
            description: header.text("description")?,
            kind: header
                .get::<Option<TypeName>>("type")?
                .map(|TypeName(kind)| kind),
            scope: match header.get::<Text>("scope")?.0.as_str() {
                "private" => Scope::Private,
                "team" => Scope::Team,
                other => return Err(no_such(value.py(), "scope", other)),
            },
            pinned: header.flag("pinned")?,
            modified_ms: header
                .get::<Option<Milliseconds>>("modified_ms")?
                .map(|Milliseconds(modified)| modified),
            mtime_ms: header.get::<Milliseconds>("mtime_ms")?.0,
            size: whole(&header.field("size")?, "a number of bytes")?,
        }))
    }
}

/// A `LintMemory`.
pub(crate) struct Linted(pub(crate) LintMemory);

impl<'py> FromPyObject<'_, 'py> for Linted {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let memory = Dataclass {
            value,
            expected: "a memory must be a LintMemory",
        };
        Ok(Self(LintMemory {
            path: memory.get::<Text>("path")?.0,
            text: memory.get::<Text>("text")?.0,
        }))
    }
}

/// A `Features`.
pub(crate) struct Switches(pub(crate) Features);

impl<'py> FromPyObject<'_, 'py> for Switches {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let features = Dataclass {
            value,
            expected: "features must be a Features",
        };
        Ok(Self(Features {
            team: features.flag("team")?,
            extract: features.flag("extract")?,
            extract_non_interactive: features.flag("extract_non_interactive")?,
            one_step: features.flag("one_step")?,
            daily_log: features.flag("daily_log")?,
            dream: features.flag("dream")?,
            extract_every: whole(&features.field("extract_every")?, "a number of turns")?,
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
