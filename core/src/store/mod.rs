//! One open memory folder and the flows over it.

mod read;
mod scan;

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

pub use read::MemoryFile;
pub use scan::Scan;

use crate::error::{Error, ErrorCode};
use crate::flow::{Event, Flow, Host};
use crate::limits::{FILE_MAX_BYTES, FOLDER_MODE, INDEX_NAME};
use crate::memory::format_manifest;
use crate::paths::{Platform, validate_memory_path};
use crate::prompt::{self, Index};

/// How a store is opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenOptions {
    /// The memory folder, absolute.
    pub directory: String,
}

/// What opening a store found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Opened {
    /// The memory folder: absolute, normalised, with one trailing separator.
    pub directory: String,
    /// Whether memory is on. When it is off, nothing is read, written or created.
    pub enabled: bool,
}

/// What the prompt is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PromptOptions {
    /// Whether the content of the index is part of it.
    pub index: bool,
}

impl Default for PromptOptions {
    fn default() -> Self {
        Self { index: true }
    }
}

/// A handle on one store; clones share it. It may run many flows at once.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: OpenOptions,
    /// Filled by the first flow; never locked over an await.
    place: Mutex<Option<Place>>,
}

/// Where a store is.
#[derive(Clone, Debug)]
struct Place {
    /// With one trailing separator.
    directory: String,
    platform: Platform,
}

impl Place {
    fn path(&self, relative: &str) -> String {
        self.platform.join(&self.directory, relative)
    }
}

/// Every operation twice: the flow for whoever drives it, and below it the async function that
/// other flows call.
impl Store {
    /// A store that its first flow opens.
    #[must_use]
    pub fn new(options: OpenOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                options,
                place: Mutex::new(None),
            }),
        }
    }

    /// Finds the store. Every other flow does it too when it is the first; calling it early only
    /// gives the errors early.
    ///
    /// The flow fails with the codes of [`validate_memory_path`].
    #[must_use]
    pub fn open(&self) -> Flow<Opened> {
        self.flow(|store, host| async move { store.open_in(&host).await })
    }

    /// Lists the memories, newest first, and reports every file that could not be one. Never
    /// writes.
    #[must_use]
    pub fn scan(&self) -> Flow<Scan> {
        self.flow(|store, host| async move { store.scan_in(&host).await })
    }

    /// The memories as a model reads them, one line each.
    #[must_use]
    pub fn manifest(&self) -> Flow<String> {
        self.flow(|store, host| async move {
            Ok(format_manifest(&store.scan_in(&host).await?.memories))
        })
    }

    /// One memory, whole. `path` is relative to the store, with `/`.
    ///
    /// The flow fails with the codes of [`crate::paths::check_relative`], `link-outside`,
    /// `not-text`, `too-large`, or what reading gave.
    #[must_use]
    pub fn read(&self, path: String) -> Flow<MemoryFile> {
        self.flow(|store, host| async move { store.read_in(&host, &path).await })
    }

    /// What the model is told about its memory; the folder is created if it is missing. Null when
    /// memory is off.
    #[must_use]
    pub fn prompt(&self, options: PromptOptions) -> Flow<Option<String>> {
        self.flow(move |store, host| async move { store.prompt_in(&host, options).await })
    }

    pub(crate) async fn open_in(&self, host: &Host) -> Result<Opened, Error> {
        Ok(Opened {
            directory: self.place(host).await?.directory,
            enabled: true,
        })
    }

    pub(crate) async fn scan_in(&self, host: &Host) -> Result<Scan, Error> {
        scan::scan(&self.place(host).await?, host).await
    }

    pub(crate) async fn read_in(&self, host: &Host, path: &str) -> Result<MemoryFile, Error> {
        read::read(&self.place(host).await?, host, path).await
    }

    pub(crate) async fn prompt_in(
        &self,
        host: &Host,
        options: PromptOptions,
    ) -> Result<Option<String>, Error> {
        build_prompt(&self.place(host).await?, host, options)
            .await
            .map(Some)
    }

    fn flow<T, F>(&self, body: impl FnOnce(Self, Host) -> F) -> Flow<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        Flow::new(|host| body(self.clone(), host))
    }

    async fn place(&self, host: &Host) -> Result<Place, Error> {
        if let Some(place) = self
            .shared
            .place
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
        {
            return Ok(place);
        }
        let info = host.host_info().await.map_err(|failure| {
            Error::from_failure(&failure, "asking for", "the platform of this host")
        })?;
        let directory = validate_memory_path(&self.shared.options.directory, info.platform, None)?;
        let place = Place {
            directory,
            platform: info.platform,
        };
        *self
            .shared
            .place
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(place.clone());
        Ok(place)
    }
}

async fn build_prompt(place: &Place, host: &Host, options: PromptOptions) -> Result<String, Error> {
    // The prompt says that the folder exists. When it cannot be made, the model's first write
    // shows the real error; the user hears of it now.
    if let Err(failure) = host.make_dir(&place.directory, FOLDER_MODE).await {
        stop_if_cancelled(host)?;
        host.emit(warning(
            "",
            format!(
                "the memory folder {} cannot be created: {}",
                place.directory, failure.message
            ),
        ));
    }
    let index = if options.index {
        read_index(place, host).await?
    } else {
        Index::LeftOut
    };
    Ok(prompt::single(&place.directory, &index))
}

/// The index for the prompt. What is wrong with it is said in a warning, and the prompt does not
/// claim that an index that cannot be read is empty.
async fn read_index(place: &Place, host: &Host) -> Result<Index, Error> {
    match read::read_beginning(place, host, INDEX_NAME).await {
        Ok((text, whole)) => {
            if !whole {
                host.emit(warning(INDEX_NAME, format!("the index has more than {FILE_MAX_BYTES} bytes; what follows was not looked at")));
            }
            Ok(Index::Text(text))
        }
        Err(error) if error.code == ErrorCode::NotFound => Ok(Index::Text(String::new())),
        Err(error) => {
            stop_if_cancelled(host)?;
            host.emit(warning(
                INDEX_NAME,
                format!("the index is left out of the prompt: {error}"),
            ));
            Ok(Index::Unreadable)
        }
    }
}

fn warning(path: &str, message: String) -> Event {
    Event {
        kind: "warning".to_owned(),
        path: (!path.is_empty()).then(|| path.to_owned()),
        code: None,
        message,
    }
}

/// Ends a flow that was cancelled instead of letting it take `aborted` for a failing host.
fn stop_if_cancelled(host: &Host) -> Result<(), Error> {
    if host.cancelled() {
        return Err(Error::new(
            ErrorCode::Aborted,
            "the operation was cancelled before it was done",
        ));
    }
    Ok(())
}
