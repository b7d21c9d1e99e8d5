//! One store; its methods give flows.

use memdir_core::store::{self as core, OpenOptions, PromptOptions};
use pyo3::prelude::*;

use crate::flow::Flow;
use crate::from_python::{Entries, PlatformName, Switches, Text, text};

/// A memory folder. Any number of flows may run over it, from any threads.
#[pyclass(frozen, module = "memdir._core")]
#[derive(Debug)]
pub(crate) struct Store {
    store: core::Store,
}

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (
        *,
        directory: "str | None",
        cwd: "str | None",
        home: "str | None",
        env: "collections.abc.Mapping[str, str]",
        settings: "str | None",
        platform: "_types.PlatformName | None",
        features: "_types.Features"
    ))]
    fn new(
        directory: Option<Text>,
        cwd: Option<Text>,
        home: Option<Text>,
        env: Entries,
        settings: Option<Text>,
        platform: Option<PlatformName>,
        features: Switches,
    ) -> Self {
        Self {
            store: core::Store::new(OpenOptions {
                directory: text(directory),
                cwd: text(cwd),
                home: text(home),
                env: env.0,
                settings: text(settings),
                platform: platform.map(|PlatformName(platform)| platform),
                features: features.0,
            }),
        }
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
    #[pyo3(signature = (
        *,
        index: "bool",
        past_context: "bool",
        guidelines: "collections.abc.Sequence[str]"
    ) -> "Flow[str | None]")]
    fn prompt(&self, index: bool, past_context: bool, guidelines: Vec<Text>) -> Flow {
        let guidelines = guidelines.into_iter().map(|Text(text)| text).collect();
        Flow::new(self.store.prompt(PromptOptions {
            index,
            past_context,
            guidelines,
        }))
    }

    /// What is wrong with the store; ends with `Lint`.
    #[pyo3(signature = () -> "Flow[_types.Lint]")]
    fn lint(&self) -> Flow {
        Flow::new(self.store.lint())
    }

    /// Drops everything that was remembered.
    #[pyo3(signature = () -> "None")]
    fn compacted(&self, py: Python<'_>) {
        py.detach(|| self.store.compacted());
    }

    /// Makes every later flow fail with `closed`.
    #[pyo3(signature = () -> "None")]
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.store.close());
    }
}
