//! How the core's errors become the exceptions of `memdir.errors`: by their family, so that no
//! list of codes exists in Python.

use std::panic::{AssertUnwindSafe, catch_unwind};

use memdir_core::error::{ErrorFamily, error_table};
use memdir_core::{Error, ErrorCode};
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::to_python::{Shape, to_python};

/// The exception of an error.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    match build(py, error) {
        Ok(exception) => PyErr::from_value(exception),
        Err(failed) => failed,
    }
}

fn build<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    static FAMILIES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let Error {
        code,
        message,
        path,
    } = error;
    // Every code has a row; a defect in that must not hide the error itself.
    let family = error_table()
        .into_iter()
        .find(|row| row.code == *code)
        .map_or(ErrorFamily::Engine, |row| row.family);
    let classes = FAMILIES.import(py, "memdir.errors", "FAMILIES")?;
    let class = classes
        .as_any()
        .get_item(to_python(py, &family, Shape::Dicts)?)?;
    let named = PyDict::new(py);
    named.set_item("code", to_python(py, code, Shape::Dicts)?)?;
    named.set_item("path", path)?;
    class.call((message,), Some(&named))
}

/// An error that is only about the call itself.
pub(crate) fn input(py: Python<'_>, code: ErrorCode, message: impl Into<String>) -> PyErr {
    raise(py, &Error::new(code, message))
}

/// Half a surrogate pair anywhere in what was passed in is `invalid-text`; every other failure of
/// a conversion stays as it is.
pub(crate) fn check_text(py: Python<'_>, failed: PyErr) -> PyErr {
    if !failed.is_instance_of::<PyUnicodeEncodeError>(py) {
        return failed;
    }
    let position = failed
        .value(py)
        .getattr("start")
        .and_then(|start| start.extract::<usize>())
        .unwrap_or_default();
    input(
        py,
        ErrorCode::InvalidText,
        format!(
            "the text holds half of a surrogate pair at position {position}; pass well-formed text"
        ),
    )
}

/// Runs `work`; a panic in it is a defect of memdir, told as such instead of as a `PanicException`
/// that no `except Exception` catches.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let what = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Err(Error::new(
            ErrorCode::Internal,
            format!("memdir panicked ({what}); this is a defect of memdir, please report it"),
        ))
    })
}
