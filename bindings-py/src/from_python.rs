//! What comes in from Python. A wrong type is a `TypeError` as everywhere in Python; a value of the
//! right type that makes no sense is `invalid-argument`, and text that is no text `invalid-text`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use memdir_core::agents::AgentOptions;
use memdir_core::conversation::{self, Conversation};
use memdir_core::dream::DreamGate;
use memdir_core::extract::{ExtractionGate, ExtractionState, RunReport};
use memdir_core::lint::LintMemory;
use memdir_core::memory::{MemoryHeader, MemoryType, Scope};
use memdir_core::model::{
    self, Key, Message, ModelOptions, ModelRequest, Role, ToolDefinition, ToolRequest, ToolTurn,
    Usage,
};
use memdir_core::paths::{MemoryPlaces, PerSource, Platform, ToolClass};
use memdir_core::recall::{RankedMemory, RecallState, ToolResult};
use memdir_core::session::{NotesState, TemplateValues};
use memdir_core::store::{Features, Strategy};
use memdir_core::team::{TeamDeletions, TeamOptions};
use memdir_core::write::{IndexEntry, MemoryChanges};
use memdir_core::{Error, ErrorCode};
use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyMapping, PyString, PyTuple};
use serde::de::value::{Error as NoSuchName, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

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

/// What several texts are to the core.
pub(crate) fn texts(values: Vec<Text>) -> Vec<String> {
    values.into_iter().map(|Text(text)| text).collect()
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

/// The status of an HTTP answer.
pub(crate) struct Status(pub(crate) u16);

impl<'py> FromPyObject<'_, 'py> for Status {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole(&value, "an HTTP status").map(Self)
    }
}

/// How many memories.
pub(crate) struct Limit(pub(crate) u32);

impl<'py> FromPyObject<'_, 'py> for Limit {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole(&value, "a number of memories").map(Self)
    }
}

/// The same in 32 bits: which of several.
pub(crate) struct Number(pub(crate) u32);

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole(&value, "a number that is not negative").map(Self)
    }
}

/// Which one of a list.
pub(crate) struct Index(pub(crate) usize);

impl<'py> FromPyObject<'_, 'py> for Index {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole(&value, "a number that is not negative").map(Self)
    }
}

/// An `int` from 0 to 255.
pub(crate) struct Byte(pub(crate) u8);

impl<'py> FromPyObject<'_, 'py> for Byte {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole(&value, "a number from 0 to 255").map(Self)
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

/// `auto`, `model` or `lexical`.
pub(crate) struct StrategyName(pub(crate) Strategy);

impl<'py> FromPyObject<'_, 'py> for StrategyName {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract::<Text>()?.0.as_str() {
            "auto" => Ok(Self(Strategy::Auto)),
            "model" => Ok(Self(Strategy::Model)),
            "lexical" => Ok(Self(Strategy::Lexical)),
            other => Err(input(
                value.py(),
                ErrorCode::InvalidArgument,
                format!("strategy must be auto, model or lexical, not {other:?}"),
            )),
        }
    }
}

/// One of a closed list of names, by the core's own list of them.
pub(crate) struct Named<T>(pub(crate) T);

impl<'py, T: DeserializeOwned> FromPyObject<'_, 'py> for Named<T> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Text(name) = value.extract()?;
        let name: StrDeserializer<'_, NoSuchName> = name.as_str().into_deserializer();
        T::deserialize(name).map(Self).map_err(|error| {
            let code = ErrorCode::InvalidArgument;
            input(value.py(), code, error.to_string())
        })
    }
}

/// JSON by Python's own encoder, which refuses what is none and what contains itself.
fn json_text(value: Borrowed<'_, '_, PyAny>, what: &str) -> PyResult<String> {
    let py = value.py();
    let text = py
        .import("memdir._check")?
        .call_method1("json_text", (value,))
        .map_err(|failed| {
            let is_data = failed.is_instance_of::<PyValueError>(py)
                || failed.is_instance_of::<PyRecursionError>(py);
            if is_data {
                no_json(py, what, &failed.value(py).to_string())
            } else {
                failed
            }
        })?;
    text.extract().map(|Text(text)| text)
}

fn no_json(py: Python<'_>, what: &str, why: &str) -> PyErr {
    let message = format!("{what} must be JSON: {why}");
    input(py, ErrorCode::InvalidArgument, message)
}

/// JSON of a model: a schema, or the input of a tool.
struct Schema(serde_json::Value);

impl<'py> FromPyObject<'_, 'py> for Schema {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let what = "the schema of a model request";
        let schema = serde_json::from_str(&json_text(value, what)?);
        schema
            .map(Self)
            .map_err(|error| no_json(value.py(), what, &error.to_string()))
    }
}

/// What a tool was called with: JSON text as it is, or a mapping.
pub(crate) struct ToolInput(pub(crate) String);

impl<'py> FromPyObject<'_, 'py> for ToolInput {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        object_text(value, "the input of a tool").map(Self)
    }
}

fn object_text(value: Borrowed<'_, '_, PyAny>, what: &str) -> PyResult<String> {
    if value.is_instance_of::<PyString>() {
        return value.extract().map(|Text(text)| text);
    }
    let mapping = value.cast::<PyMapping>()?;
    let object = PyDict::new(value.py());
    object.update(&mapping)?;
    json_text(object.as_any().as_borrowed(), what)
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

/// `private` or `team`.
pub(crate) struct ScopeName(pub(crate) Scope);

impl<'py> FromPyObject<'_, 'py> for ScopeName {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract::<Text>()?.0.as_str() {
            "private" => Ok(Self(Scope::Private)),
            "team" => Ok(Self(Scope::Team)),
            other => Err(no_such(value.py(), "scope", other)),
        }
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

    fn kind(&self, name: &str) -> PyResult<Option<MemoryType>> {
        let kind: Option<TypeName> = self.get(name)?;
        Ok(kind.map(|TypeName(kind)| kind))
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
            kind: header.kind("type")?,
            scope: header.get::<ScopeName>("scope")?.0,
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

/// A `MemoryChanges`.
pub(crate) struct Changes(pub(crate) MemoryChanges);

impl<'py> FromPyObject<'_, 'py> for Changes {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let changes = Dataclass {
            value,
            expected: "changes must be a MemoryChanges",
        };
        Ok(Self(MemoryChanges {
            name: changes.text("name")?,
            description: changes.text("description")?,
            kind: changes.kind("type")?,
            modified: changes.text("modified")?,
            body: changes.text("body")?,
        }))
    }
}

/// An `IndexEntry`.
pub(crate) struct Entry(pub(crate) IndexEntry);

impl<'py> FromPyObject<'_, 'py> for Entry {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let entry = Dataclass {
            value,
            expected: "an entry must be an IndexEntry",
        };
        Ok(Self(IndexEntry {
            name: entry.get::<Text>("name")?.0,
            description: entry.text("description")?,
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
            count_uses: features.flag("count_uses")?,
        }))
    }
}

/// A `RankedMemory`.
pub(crate) struct Ranked(pub(crate) RankedMemory);

impl<'py> FromPyObject<'_, 'py> for Ranked {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let memory = Dataclass {
            value,
            expected: "a memory must be a RankedMemory",
        };
        Ok(Self(RankedMemory {
            path: memory.get::<Text>("path")?.0,
            text: memory.get::<Text>("text")?.0,
            age_days: whole(&memory.field("age_days")?, "a number of days")?,
            uses: whole(&memory.field("uses")?, "a number of uses")?,
        }))
    }
}

/// A `ToolResult`.
pub(crate) struct Tool(pub(crate) ToolResult);

impl<'py> FromPyObject<'_, 'py> for Tool {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let result = Dataclass {
            value,
            expected: "what a tool gave must be a ToolResult",
        };
        Ok(Self(ToolResult {
            tool: result.get::<Text>("tool")?.0,
            ok: result.get::<Option<Flag>>("ok")?.map(|Flag(ok)| ok),
        }))
    }
}

/// The core's form of what tools gave.
pub(crate) fn tool_results(results: Vec<Tool>) -> Vec<ToolResult> {
    results.into_iter().map(|Tool(result)| result).collect()
}

/// A `RecallState`.
#[derive(Default)]
pub(crate) struct Shown(pub(crate) RecallState);

impl<'py> FromPyObject<'_, 'py> for Shown {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let state = Dataclass {
            value,
            expected: "state must be a RecallState",
        };
        Ok(Self(RecallState {
            surfaced: texts(state.get("surfaced")?),
            bytes: whole(&state.field("bytes")?, "a number of bytes")?,
        }))
    }
}

/// A `MemoryPlaces`.
pub(crate) struct Places(pub(crate) MemoryPlaces);

impl<'py> FromPyObject<'_, 'py> for Places {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let places = Dataclass {
            value,
            expected: "places must be a MemoryPlaces",
        };
        Ok(Self(MemoryPlaces {
            platform: places.get::<PlatformName>("platform")?.0,
            store: places.text("store")?,
            config_home: places.text("config_home")?,
            agents: texts(places.get("agents")?),
            overridden: places.flag("overridden")?,
        }))
    }
}

/// A `ToolClass`.
pub(crate) struct Classified(pub(crate) ToolClass);

impl<'py> FromPyObject<'_, 'py> for Classified {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let call = Dataclass {
            value,
            expected: "a call must be a ToolClass",
        };
        Ok(Self(ToolClass {
            kind: call.get::<Named<_>>("kind")?.0,
            action: call.get::<Named<_>>("action")?.0,
            path: call.text("path")?,
        }))
    }
}

/// An `AgentOptions`.
pub(crate) struct AgentChoice(pub(crate) AgentOptions);

impl<'py> FromPyObject<'_, 'py> for AgentChoice {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let agent = Dataclass {
            value,
            expected: "an agent must be an AgentOptions",
        };
        Ok(Self(AgentOptions {
            name: agent.get::<Text>("name")?.0,
            scope: agent.get::<Named<_>>("scope")?.0,
        }))
    }
}

/// A `ModelOptions`.
pub(crate) struct ModelChoice(pub(crate) ModelOptions);

impl<'py> FromPyObject<'_, 'py> for ModelChoice {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let model = Dataclass {
            value,
            expected: "a model must be a ModelOptions",
        };
        Ok(Self(ModelOptions {
            name: model.get::<Text>("name")?.0,
            api_key: model.text("api_key")?.map(Key),
            base_url: model.text("base_url")?,
        }))
    }
}

/// A `TeamOptions`. A function that gives the token stays in Python, which answers with it.
pub(crate) struct TeamChoice(pub(crate) TeamOptions);

impl<'py> FromPyObject<'_, 'py> for TeamChoice {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let team = Dataclass {
            value,
            expected: "a team must be a TeamOptions",
        };
        let ask_token = team.field("token")?.is_callable();
        let token = if ask_token { None } else { team.text("token")? };
        Ok(Self(TeamOptions {
            url: team.text("url")?,
            token: token.map(Key),
            ask_token,
            repository: team.text("repository")?,
            deletions: team.get::<Named<TeamDeletions>>("deletions")?.0,
        }))
    }
}

/// A `ModelRequest`.
pub(crate) struct Asked(pub(crate) ModelRequest);

impl<'py> FromPyObject<'_, 'py> for Asked {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let request = Dataclass {
            value,
            expected: "a request must be a ModelRequest",
        };
        let messages: Vec<Said> = request.get("messages")?;
        Ok(Self(ModelRequest {
            purpose: request.get::<Text>("purpose")?.0,
            system: request.get::<Text>("system")?.0,
            messages: messages.into_iter().map(|Said(message)| message).collect(),
            max_tokens: whole(&request.field("max_tokens")?, "a number of tokens")?,
            schema: request
                .get::<Option<Schema>>("schema")?
                .map(|Schema(schema)| schema),
        }))
    }
}

/// A `ModelMessage`.
struct Said(Message);

impl<'py> FromPyObject<'_, 'py> for Said {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let message = Dataclass {
            value,
            expected: "a message must be a ModelMessage",
        };
        Ok(Self(Message {
            role: match message.get::<Text>("role")?.0.as_str() {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                other => {
                    let message = format!("a role must be user or assistant, not {other:?}");
                    return Err(input(value.py(), ErrorCode::InvalidArgument, message));
                }
            },
            content: message.get::<Text>("content")?.0,
        }))
    }
}

/// What was said, in the caller's own mappings: only what the core asks for is looked at.
pub(crate) struct Talk<'a, 'py> {
    messages: &'a Bound<'py, PyTuple>,
    /// What they would be continued with: JSON text as it is, or a mapping.
    request: Option<&'a Bound<'py, PyAny>>,
    /// What Python raised, which is raised again instead of the core's error.
    raised: RefCell<Option<PyErr>>,
}

impl<'a, 'py> Talk<'a, 'py> {
    pub(crate) fn new(
        messages: &'a Bound<'py, PyTuple>,
        request: Option<&'a Bound<'py, PyAny>>,
    ) -> Self {
        Self {
            messages,
            request,
            raised: RefCell::new(None),
        }
    }

    /// The exception that reading ended with, if it was one.
    pub(crate) fn end(self) -> PyResult<()> {
        self.raised.into_inner().map_or(Ok(()), Err)
    }

    fn mapping(&self, at: usize) -> PyResult<Bound<'py, PyMapping>> {
        let message = self.messages.get_item(at)?;
        message.cast_into::<PyMapping>().map_err(|error| {
            let kind = error.into_inner().get_type();
            PyTypeError::new_err(format!("a message must be a mapping; this is a {kind}"))
        })
    }

    fn kept<T>(&self, found: PyResult<T>) -> Result<T, Error> {
        found.map_err(|raised| {
            self.raised.replace(Some(raised));
            Error::new(ErrorCode::InvalidArgument, "there is no such message")
        })
    }
}

impl Conversation for Talk<'_, '_> {
    fn len(&self) -> usize {
        self.messages.len()
    }

    fn id(&self, at: usize) -> Result<Option<String>, Error> {
        let id = || {
            let message = self.mapping(at)?;
            let id: Option<Text> = message.call_method1("get", ("id",))?.extract()?;
            Ok(text(id))
        };
        self.kept(id())
    }

    fn message(&self, at: usize) -> Result<conversation::Message, Error> {
        let json = || {
            let fields = PyDict::new(self.messages.py());
            fields.update(&self.mapping(at)?)?;
            json_text(fields.as_any().as_borrowed(), "a message")
        };
        let json = self.kept(json())?;
        serde_json::from_str(&json).map_err(|error| {
            let message = format!("message {at} of the conversation is none: {error}");
            Error::new(ErrorCode::InvalidArgument, message)
        })
    }

    fn request(&self) -> Result<Option<String>, Error> {
        let request = self
            .request
            .map(|request| object_text(request.as_borrowed(), "request"));
        self.kept(request.transpose())
    }
}

/// An `ExtractionState`.
pub(crate) struct Progress(pub(crate) ExtractionState);

impl<'py> FromPyObject<'_, 'py> for Progress {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let state = Dataclass {
            value,
            expected: "state must be an ExtractionState",
        };
        Ok(Self(ExtractionState {
            cursor: state.text("cursor")?,
            turns: whole(&state.field("turns")?, "a number of turns")?,
        }))
    }
}

/// An `ExtractionGate`.
pub(crate) struct Gate(pub(crate) ExtractionGate);

impl<'py> FromPyObject<'_, 'py> for Gate {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let gate = Dataclass {
            value,
            expected: "gate must be an ExtractionGate",
        };
        let places: Option<Places> = gate.get("places")?;
        Ok(Self(ExtractionGate {
            agent: gate.get::<Named<_>>("agent")?.0,
            interactive: gate.flag("interactive")?,
            remote: gate.flag("remote")?,
            extract: gate.flag("extract")?,
            extract_non_interactive: gate.flag("extract_non_interactive")?,
            every: whole(&gate.field("every")?, "a number of turns")?,
            running: gate.flag("running")?,
            trailing: gate.flag("trailing")?,
            places: places.map(|Places(places)| places),
        }))
    }
}

/// A `NotesState`.
pub(crate) struct NotesProgress(pub(crate) NotesState);

impl<'py> FromPyObject<'_, 'py> for NotesProgress {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let state = Dataclass {
            value,
            expected: "the state of notes must be a NotesState",
        };
        let last_tokens: Option<Count> = state.get("last_tokens")?;
        Ok(Self(NotesState {
            last_tokens: last_tokens.map(|Count(tokens)| tokens),
            cursor: state.text("cursor")?,
            last_summarised: state.text("last_summarised")?,
        }))
    }
}

/// A `TemplateValues`.
pub(crate) struct Values(pub(crate) TemplateValues);

impl<'py> FromPyObject<'_, 'py> for Values {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let values = Dataclass {
            value,
            expected: "values must be a TemplateValues",
        };
        Ok(Self(TemplateValues {
            current_notes: values.get::<Text>("current_notes")?.0,
            notes_path: values.get::<Text>("notes_path")?.0,
        }))
    }
}

/// A `DreamGate`.
pub(crate) struct TimeToDream(pub(crate) DreamGate);

impl<'py> FromPyObject<'_, 'py> for TimeToDream {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let gate = Dataclass {
            value,
            expected: "gate must be a DreamGate",
        };
        let time = |name| {
            let time: Option<Milliseconds> = gate.get(name)?;
            Ok::<_, PyErr>(time.map(|Milliseconds(ms)| ms))
        };
        let sessions: Option<Number> = gate.get("sessions")?;
        Ok(Self(DreamGate {
            dream: gate.flag("dream")?,
            enabled: gate.flag("enabled")?,
            remote: gate.flag("remote")?,
            daily_log: gate.flag("daily_log")?,
            now_ms: gate.get::<Milliseconds>("now_ms")?.0,
            last_ms: time("last_ms")?,
            counted_ms: time("counted_ms")?,
            sessions: sessions.map(|Number(count)| count),
        }))
    }
}

/// A `RunReport`.
pub(crate) struct Reported(pub(crate) RunReport);

impl<'py> FromPyObject<'_, 'py> for Reported {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let report = Dataclass {
            value,
            expected: "the report of a run must be a RunReport",
        };
        Ok(Self(RunReport {
            error: report.text("error")?,
            turns: whole(&report.field("turns")?, "a number of turns")?,
            usage: report.get::<Used>("usage")?.0,
        }))
    }
}

/// A `Usage`.
struct Used(Usage);

impl<'py> FromPyObject<'_, 'py> for Used {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let usage = Dataclass {
            value,
            expected: "usage must be a Usage",
        };
        let tokens = |name| Ok::<_, PyErr>(usage.get::<Count>(name)?.0);
        Ok(Self(Usage {
            input: tokens("input")?,
            output: tokens("output")?,
            cached: tokens("cached")?,
            written: tokens("written")?,
        }))
    }
}

/// A `ToolRequest`.
pub(crate) struct AskedWithTools(pub(crate) ToolRequest);

impl<'py> FromPyObject<'_, 'py> for AskedWithTools {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let request = Dataclass {
            value,
            expected: "a request must be a ToolRequest",
        };
        let tools: Vec<Offered> = request.get("tools")?;
        let turns: Vec<Turn> = request.get("turns")?;
        Ok(Self(ToolRequest {
            purpose: request.get::<Text>("purpose")?.0,
            prefix: request.text("prefix")?,
            system: request.get::<Text>("system")?.0,
            tools: tools.into_iter().map(|Offered(tool)| tool).collect(),
            prompt: request.get::<Text>("prompt")?.0,
            turns: turns.into_iter().map(|Turn(turn)| turn).collect(),
            max_tokens: whole(&request.field("max_tokens")?, "a number of tokens")?,
        }))
    }
}

/// A `ToolDefinition`.
struct Offered(ToolDefinition);

impl<'py> FromPyObject<'_, 'py> for Offered {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let tool = Dataclass {
            value,
            expected: "a tool must be a ToolDefinition",
        };
        Ok(Self(ToolDefinition {
            name: tool.get::<Text>("name")?.0,
            description: tool.get::<Text>("description")?.0,
            input_schema: tool.get::<Schema>("input_schema")?.0,
        }))
    }
}

/// A `ToolTurn`.
struct Turn(ToolTurn);

impl<'py> FromPyObject<'_, 'py> for Turn {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let turn = Dataclass {
            value,
            expected: "a turn must be a ToolTurn",
        };
        let results: Vec<Answered> = turn.get("results")?;
        Ok(Self(ToolTurn {
            answer: turn.get::<Text>("answer")?.0,
            results: results.into_iter().map(|Answered(result)| result).collect(),
        }))
    }
}

/// A `CallResult`.
struct Answered(model::ToolResult);

impl<'py> FromPyObject<'_, 'py> for Answered {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let result = Dataclass {
            value,
            expected: "what a call gave must be a CallResult",
        };
        Ok(Self(model::ToolResult {
            id: result.get::<Text>("id")?.0,
            name: result.get::<Text>("name")?.0,
            content: result.get::<Text>("content")?.0,
            is_error: result.flag("is_error")?,
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
