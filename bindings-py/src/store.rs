//! One store; its methods give flows.

use memdir_core::ErrorCode;
use memdir_core::store::{self as core, OpenOptions, PromptOptions};
use pyo3::prelude::*;

use crate::flow::Flow;
use crate::from_python::{Text, structured};

/// A memory folder. Any number of flows may run over it, from any threads.
#[pyclass(frozen, module = "memdir._core")]
#[derive(Debug)]
pub(crate) struct Store {
    store: core::Store,
}

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (options: "dict[str, Any]", /))]
    fn new(options: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options: OpenOptions = structured(options, ErrorCode::InvalidArgument)?;
        Ok(Self {
            store: core::Store::new(options),
        })
    }

    /// Finds the store; ends with `Opened`.
    #[pyo3(signature = () -> "Flow[_types.Opened]")]
    fn open(&self) -> Flow {
        Flow::new(self.store.open())
    }

    /// Lists the memories; ends with `Scan`.
    #[pyo3(signature = () -> "Flow[_types.Scan]")]
    fn scan(&self) -> Flow {
        Flow::new(self.store.scan())
    }

    /// The memories as a model reads them; ends with a `str`.
    #[pyo3(signature = () -> "Flow[str]")]
    fn manifest(&self) -> Flow {
        Flow::new(self.store.manifest())
    }

    /// One memory, whole; ends with `MemoryFile`.
    #[pyo3(signature = (path: "str", /) -> "Flow[_types.MemoryFile]")]
    fn read(&self, path: Text) -> Flow {
        Flow::new(self.store.read(path.0))
    }

    /// What the model is told about its memory; ends with a `str`, or None when memory is off.
    #[pyo3(signature = (*, index: "bool") -> "Flow[str | None]")]
    fn prompt(&self, index: bool) -> Flow {
        Flow::new(self.store.prompt(PromptOptions { index }))
    }
}
