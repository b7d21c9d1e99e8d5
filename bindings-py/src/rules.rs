//! The rules of the core as functions, under their own names.

use memdir_core::conversation::Conversation;
use memdir_core::dream::LockLook;
use memdir_core::instructions::PlacesQuestion;
use memdir_core::limits::TEAM_BATCH_BYTES;
use memdir_core::lint::LintInput;
use memdir_core::memory::MemoryHeader;
use memdir_core::paths::DirectoryQuestion;
use memdir_core::session::{CompactionQuestion, NotesDue};
use memdir_core::{Error, rules};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde::Serialize;

use crate::errors::{guarded, raise};
use crate::from_python::{
    Asked, AskedWithTools, BySource, Byte, Changes, Classified, Count, Entries, Entry, Flag, Gate,
    Header, Index, Linted, Milliseconds, ModelChoice, Number, Places, PlatformName, Progress,
    Ranked, Status, Talk, Text, TimeToDream, Tool, ToolInput, TypeName, Values, text, texts,
    tool_results,
};
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

/// Name the folder of a project whose slug belongs to another project: the slug, `-`, and eight digits
/// that come from the whole path.
///
/// Source: reference facts 1.1; DESIGN, "Project slug".
#[pyfunction]
#[pyo3(signature = (path: "str") -> "str")]
pub(crate) fn injective_key(py: Python<'_>, path: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::injective_key(&path.0)))
}

/// Say what a switch in the environment says: `1 true yes on` and `0 false no off`, in any case,
/// trimmed. Anything else, None too, says nothing: None.
///
/// Source: reference facts 2.
#[pyfunction]
#[pyo3(signature = (value: "str | None") -> "bool | None")]
pub(crate) fn env_flag(py: Python<'_>, value: Option<Text>) -> PyResult<Py<PyAny>> {
    let value = text(value);
    apply(py, || Ok(rules::env_flag(value.as_deref())))
}

/// Decide whether memory is on: the first switch that says something. A project's settings come with
/// the repository, so they can switch memory off but never on.
///
/// `env` are environment variables, `settings` is `autoMemoryEnabled` of each settings file.
///
/// Source: reference facts 2; DESIGN, "Off means off".
#[pyfunction]
#[pyo3(signature = (env: "collections.abc.Mapping[str, str]", settings: "_types.EnabledSettings") -> "_types.Enabled")]
pub(crate) fn memory_enabled(
    py: Python<'_>,
    env: Entries,
    settings: BySource<Flag>,
) -> PyResult<Py<PyAny>> {
    let settings = settings.map(|Flag(enabled)| enabled);
    apply(py, || Ok(rules::memory_enabled(&env.0, &settings)))
}

/// Choose the directory of a project's store: the first of the environment's override,
/// `autoMemoryDirectory` of trusted settings, the project's folder below the config home. The first
/// setting that is there counts, so a bad one is in `refused` and not passed over for a lesser one.
///
/// `project_root` is absolute: the project's git root, or where the agent was started. `settings` is
/// `autoMemoryDirectory` of each settings file. A `home` that is not absolute counts as none.
///
/// Raises `PathError` with code `no-home` when the default place needs a home directory and there is
/// none, and those of `validate_memory_path` when the default place is not acceptable.
///
/// Source: reference facts 1.2 to 1.4; DESIGN, "Trust".
#[pyfunction]
#[pyo3(signature = (*, platform: "_types.PlatformName", home: "str | None" = None, env: "collections.abc.Mapping[str, str]", settings: "_types.DirectorySettings", project_root: "str") -> "_types.Choice")]
pub(crate) fn choose_directory(
    py: Python<'_>,
    platform: PlatformName,
    home: Option<Text>,
    env: Entries,
    settings: BySource<Text>,
    project_root: Text,
) -> PyResult<Py<PyAny>> {
    let question = DirectoryQuestion {
        platform: platform.0,
        home: text(home),
        env: env.0,
        settings: settings.map(|Text(directory)| directory),
        project_root: project_root.0,
    };
    apply(py, || rules::choose_directory(&question))
}

/// Read what a settings file says about memory. Never fails: what cannot be used is in `problems`.
///
/// Source: reference facts 1.4 and 2; DESIGN, "Trust".
#[pyfunction]
#[pyo3(signature = (text: "str") -> "_types.Settings")]
pub(crate) fn parse_settings(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::parse_settings(&text.0)))
}

/// Say how old a memory is at `now_ms`: counted from its own `modified` time when it has one that is
/// not in the future, else from the file's modification time. All in milliseconds since the epoch.
///
/// Source: reference facts 5.5; DESIGN, "Age".
#[pyfunction]
#[pyo3(signature = (*, mtime_ms: "int", modified_ms: "int | None" = None, now_ms: "int") -> "_types.MemoryAge")]
pub(crate) fn memory_age(
    py: Python<'_>,
    mtime_ms: Milliseconds,
    modified_ms: Option<Milliseconds>,
    now_ms: Milliseconds,
) -> PyResult<Py<PyAny>> {
    let modified = modified_ms.map(|Milliseconds(modified)| modified);
    apply(py, || Ok(rules::memory_age(mtime_ms.0, modified, now_ms.0)))
}

/// Say where a memory of a type belongs when nothing else is said: what is about one person stays
/// private, what is about the project goes to the team, if there is one.
///
/// Source: documents 000 §8 and 002.
#[pyfunction]
#[pyo3(signature = (r#type: "_types.MemoryType | None", *, team: "bool" = false) -> "_types.MemoryScope")]
pub(crate) fn default_scope(
    py: Python<'_>,
    r#type: Option<TypeName>,
    team: bool,
) -> PyResult<Py<PyAny>> {
    let kind = r#type.map(|TypeName(kind)| kind);
    apply(py, || Ok(rules::default_scope(kind, team)))
}

/// Say what is wrong with a store, given the texts of `MEMORY.md`, of `team/MEMORY.md` and of every
/// other memory. The findings are sorted by path, line and code.
///
/// Source: reference facts 3.3 and 15.
#[pyfunction]
#[pyo3(signature = (*, index: "str | None" = None, team_index: "str | None" = None, memories: "collections.abc.Sequence[_types.LintMemory]") -> "list[_types.Finding]")]
pub(crate) fn lint_memories(
    py: Python<'_>,
    index: Option<Text>,
    team_index: Option<Text>,
    memories: Vec<Linted>,
) -> PyResult<Py<PyAny>> {
    let given = LintInput {
        index: text(index),
        team_index: text(team_index),
        memories: memories.into_iter().map(|Linted(memory)| memory).collect(),
    };
    apply(py, || Ok(rules::lint_memories(&given)))
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

/// Name the repository that a git remote leads to, `owner/repo`, on GitLab with all groups, whatever
/// the host: `https://host/owner/repo.git`, `ssh://git@host:22/owner/repo`, `git@host:owner/repo.git`.
/// None for a local path and for what is no such address.
///
/// Source: reference facts 11.3.
#[pyfunction]
#[pyo3(signature = (remote: "str") -> "str | None")]
pub(crate) fn team_repository(py: Python<'_>, remote: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::team_repository(&remote.0)))
}

/// Say what a sync does about each entry; what is in order is left out. All four map keys to checksums
/// (`sha256:` and lower-case hex): `base` what both sides had after the last sync, `local` what is here,
/// `server` what is there, `forgotten` what was forgotten here. Whoever has not changed an entry takes
/// the other's version; when both have, it is a `conflict`.
///
/// Source: reference facts 11.4; document 002.
#[pyfunction]
#[pyo3(signature = (
    *,
    base: "collections.abc.Mapping[str, str]",
    local: "collections.abc.Mapping[str, str]",
    server: "collections.abc.Mapping[str, str]",
    forgotten: "collections.abc.Mapping[str, str]"
) -> "dict[str, _types.TeamAction]")]
pub(crate) fn team_reconcile(
    py: Python<'_>,
    base: Entries,
    local: Entries,
    server: Entries,
    forgotten: Entries,
) -> PyResult<Py<PyAny>> {
    apply(py, || {
        Ok(rules::team_reconcile(
            &base.0,
            &local.0,
            &server.0,
            &forgotten.0,
        ))
    })
}

/// Make one index of two, entry by entry: what `local` has changed since `base`, the version that both
/// had last, is applied to `server`. Without `base` nothing counts as removed. An entry is known by the
/// memory that it links to; where both have written one anew, the server's stands, and `lost` is true.
///
/// Source: reference facts 11.4; document 002.
#[pyfunction]
#[pyo3(signature = (*, base: "str | None" = None, local: "str", server: "str") -> "_types.MergedIndex")]
pub(crate) fn merge_team_index(
    py: Python<'_>,
    base: Option<Text>,
    local: Text,
    server: Text,
) -> PyResult<Py<PyAny>> {
    let base = text(base);
    apply(py, || {
        Ok(rules::merge_team_index(
            base.as_deref(),
            &local.0,
            &server.0,
        ))
    })
}

/// Say how many milliseconds to wait before another request after `retries` that failed: what the server
/// asked for in its header `retry-after`, in seconds (a date counts as none); else 500, doubled each time
/// up to 32,000, and up to a quarter more by `random` (0 to 255), so that not all come back at once.
///
/// Raises `InputError` with code `invalid-argument` for numbers out of range.
///
/// Source: reference facts 11.3.
#[pyfunction]
#[pyo3(signature = (retries: "int", *, random: "int", retry_after: "str | None" = None) -> "int")]
pub(crate) fn retry_pause_ms(
    py: Python<'_>,
    retries: Number,
    random: Byte,
    retry_after: Option<Text>,
) -> PyResult<Py<PyAny>> {
    let retry_after = text(retry_after);
    apply(py, || {
        Ok(rules::retry_pause_ms(
            retries.0,
            random.0,
            retry_after.as_deref(),
        ))
    })
}

/// Cut a text into the words that a ranking counts, in their order; what stands in any text (`the`)
/// is left out. English words are stems: what they are is not for people to read.
///
/// Source: DESIGN, "Recall".
#[pyfunction]
#[pyo3(signature = (text: "str") -> "list[_types.Word]")]
pub(crate) fn tokenize(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::tokenize(&text.0)))
}

/// Give the memories that a query finds by its words, best first, at equal scores by path; none when
/// nothing in them surely answers it. It is how a store without a model recalls.
///
/// Source: DESIGN, "Recall".
#[pyfunction]
#[pyo3(signature = (query: "str", memories: "collections.abc.Sequence[_types.RankedMemory]") -> "list[_types.Found]")]
pub(crate) fn rank_memories(
    py: Python<'_>,
    query: Text,
    memories: Vec<Ranked>,
) -> PyResult<Py<PyAny>> {
    let memories: Vec<_> = memories.into_iter().map(|Ranked(memory)| memory).collect();
    apply(py, || Ok(rules::rank_memories(&query.0, &memories)))
}

/// Cut the beginning of a memory down to 200 lines and `max_bytes` (at most 4,096) bytes of UTF-8.
/// `size` is that of the whole file in bytes, `path` what the model is to read for the rest.
///
/// Source: reference facts 5.4.
#[pyfunction]
#[pyo3(signature = (text: "str", *, size: "int", path: "str", max_bytes: "int") -> "_types.CutMemory")]
pub(crate) fn cut_memory(
    py: Python<'_>,
    text: Text,
    size: Count,
    path: Text,
    max_bytes: Count,
) -> PyResult<Py<PyAny>> {
    apply(py, || {
        Ok(rules::cut_memory(&text.0, size.0, &path.0, max_bytes.0))
    })
}

/// Say how many bytes of each of these memories a recall may show: at most five memories, 4,096
/// bytes each, 20 KB together, and 60 KB in a conversation, of which `used` are gone. 0 stands for
/// a memory that is left out, because so little is left that it would be a scrap.
///
/// Source: reference facts 5.1 and 5.4.
#[pyfunction]
#[pyo3(signature = (used: "int", sizes: "collections.abc.Sequence[int]") -> "list[int]")]
pub(crate) fn grant_bytes(py: Python<'_>, used: Count, sizes: Vec<Count>) -> PyResult<Py<PyAny>> {
    let sizes: Vec<u64> = sizes.into_iter().map(|Count(size)| size).collect();
    apply(py, || Ok(rules::grant_bytes(used.0, &sizes)))
}

/// Read which memories a model chose: the last JSON object in its answer that has a list
/// `selected_memories`, or a list by itself, whatever stands around it. Paths must be exactly those
/// of `candidates`.
///
/// Raises `ModelError` with code `model-answer` when there is no such list.
///
/// Source: reference facts 5.2.
#[pyfunction]
#[pyo3(signature = (answer: "str", candidates: "collections.abc.Sequence[str]") -> "_types.Selection")]
pub(crate) fn read_selection(
    py: Python<'_>,
    answer: Text,
    candidates: Vec<Text>,
) -> PyResult<Py<PyAny>> {
    let candidates = texts(candidates);
    apply(py, || rules::read_selection(&answer.0, &candidates))
}

/// Name the tools in use: those that succeeded and did not fail, each once, in the order in which
/// they first succeeded. `results` are those since the user's message before the last one.
///
/// Source: reference facts 5.3.
#[pyfunction]
#[pyo3(signature = (results: "collections.abc.Sequence[_types.ToolResult]") -> "list[str]")]
pub(crate) fn recent_tools(py: Python<'_>, results: Vec<Tool>) -> PyResult<Py<PyAny>> {
    let results = tool_results(results);
    apply(py, || Ok(rules::recent_tools(&results)))
}

/// Write a request as it goes over the wire to `anthropic/` or `openai/`, a POST. The environment is
/// not looked at.
///
/// Raises `InputError` with code `invalid-argument` for a name that names no model, an address that
/// is none, a provider's own address without a key, and a schema that is no JSON.
///
/// Source: the providers' documentation; DESIGN, "Models".
#[pyfunction]
#[pyo3(signature = (model: "_types.ModelOptions", request: "_types.ModelRequest") -> "_types.ModelHttp")]
pub(crate) fn encode_model_request(
    py: Python<'_>,
    model: ModelChoice,
    request: Asked,
) -> PyResult<Py<PyAny>> {
    apply(py, || rules::encode_model_request(&model.0, &request.0))
}

/// Give the text of a provider's answer. `name` is the model's, `body` what came with `status`.
///
/// Raises `ModelError` with code `model-auth` (401, 403), `model-not-found` (404), `model-busy` (408,
/// 409, 429, 5xx: worth another try), `model-refused` (any other status) or `model-answer` (no JSON,
/// no text in it); `InputError` with code `invalid-argument` for a name that names no model.
///
/// Source: the providers' documentation; DESIGN, "Models".
#[pyfunction]
#[pyo3(signature = (name: "str", *, status: "int", body: "str") -> "str")]
pub(crate) fn decode_model_answer(
    py: Python<'_>,
    name: Text,
    status: Status,
    body: Text,
) -> PyResult<Py<PyAny>> {
    apply(py, || {
        rules::decode_model_answer(&name.0, status.0, &body.0)
    })
}

/// Name the file of a new memory: `<type>_<slug>.md`. The slug is `name` in NFKC and lower case, with
/// `_` for what is neither letter nor digit of any script, at most 48 bytes of UTF-8 in whole
/// characters; a name that leaves nothing gives eight hex digits. `number` counts the memories whose
/// name gives the same file name, this one included; from 2 on it stands at the end.
///
/// Source: document 000 §3 and §4; reference facts 4.1 and 4.3.
#[pyfunction]
#[pyo3(signature = (r#type: "_types.MemoryType", name: "str", number: "int") -> "str")]
pub(crate) fn memory_file_name(
    py: Python<'_>,
    r#type: TypeName,
    name: Text,
    number: Number,
) -> PyResult<Py<PyAny>> {
    apply(py, || {
        Ok(rules::memory_file_name(r#type.0, &name.0, number.0))
    })
}

/// Change the text of a memory, None when there is none yet: what `changes` names is set, and every
/// other byte stays, with comments, unknown keys, line ends and a BOM.
///
/// Raises `InputError` with code `invalid-argument` (an empty name, a `modified` that is no ISO 8601
/// date-time), `invalid-text` (a NUL) or `frontmatter-invalid` (a block that cannot be changed without
/// risk); `HostError` with code `too-large` when the block would have more than 30 lines or 64 KiB
/// and so could not be read, or the file more than 4 MiB.
///
/// Source: document 000 §3 and §4; reference facts 4.1 to 4.3; DESIGN, "Frontmatter".
#[pyfunction]
#[pyo3(signature = (text: "str | None", changes: "_types.MemoryChanges") -> "_types.Edited")]
pub(crate) fn update_memory(
    py: Python<'_>,
    text: Option<Text>,
    changes: Changes,
) -> PyResult<Py<PyAny>> {
    let text = self::text(text);
    apply(py, || rules::update_memory(text.as_deref(), &changes.0))
}

/// Change the index that lies in `folder` (empty for that of the store, or `team`), None when there
/// is none yet. The line that links to the memory at `path`, relative to the store, says `entry`; with
/// None it goes; where there is none it is added at the end. It has at most 150 characters. All other
/// lines stay, and one that links to several memories is at most unlinked.
///
/// Raises `HostError` with code `too-large` when the index would have more than 4 MiB.
///
/// Source: document 000 §3 and §4; reference facts 3.
#[pyfunction]
#[pyo3(signature = (text: "str | None", *, folder: "str", path: "str", entry: "_types.IndexEntry | None") -> "_types.Edited")]
pub(crate) fn update_index(
    py: Python<'_>,
    text: Option<Text>,
    folder: Text,
    path: Text,
    entry: Option<Entry>,
) -> PyResult<Py<PyAny>> {
    let text = self::text(text);
    let entry = entry.map(|Entry(entry)| entry);
    apply(py, || {
        rules::update_index(text.as_deref(), &folder.0, &path.0, entry.as_ref())
    })
}

/// Accept the path of an entry that teammates share, relative to the team folder, with `/` between its
/// parts: what is harmless here must be harmless, and the same file, on every system. It comes back as
/// it is, of at most 1,024 bytes of UTF-8, 255 in a part; `others` are the keys that are there already.
///
/// Raises `PathError` with the first code that holds: `path-empty`, `path-nul`, `key-too-long`,
/// `key-encoded` (a separator or parent folder in percent form), `key-lookalike` (one in another
/// character), `key-separator`, `key-absolute`, `key-traversal`, `key-character`, `key-normal-form`
/// (not NFC), `key-ending`, `key-reserved` (a device on Windows, a repository of git), `key-own` or
/// `key-twin` (it differs from another only by case or spelling, or is a file where that has a folder).
///
/// Source: reference facts 11.1; document 002.
#[pyfunction]
#[pyo3(signature = (key: "str", others: "collections.abc.Sequence[str]") -> "str")]
pub(crate) fn validate_team_key(
    py: Python<'_>,
    key: Text,
    others: Vec<Text>,
) -> PyResult<Py<PyAny>> {
    let others = texts(others);
    apply(py, || rules::validate_team_key(&key.0, &others))
}

/// Say what a path is to memory: `team`, `auto` (the private store), `agent`, `session-memory`,
/// `session-transcript` or `none`, as for one that is not absolute. Nothing is looked up, so a link is
/// what its name says. `places` is `memory.opened.places`.
///
/// Source: reference facts 11.1 and 12; document 002.
#[pyfunction]
#[pyo3(signature = (path: "str", places: "_types.MemoryPlaces") -> "_types.PathKind")]
pub(crate) fn classify_path(py: Python<'_>, path: Text, places: Places) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::classify_path(&path.0, &places.0)))
}

/// Say what a call of one of Claude Code's tools has to do with memory. `input` is what the tool was
/// called with, as a mapping or as JSON text. In a shell command every absolute path counts, and the
/// first of the team decides. Unknown tools and inputs of another shape have nothing to do with it.
///
/// Raises `InputError` with code `invalid-argument` for a mapping that is no JSON.
///
/// Source: reference facts 11.1 and 12; document 002.
#[pyfunction]
#[pyo3(signature = (name: "str", input: "str | collections.abc.Mapping[str, Any]", places: "_types.MemoryPlaces") -> "_types.ToolClass")]
pub(crate) fn classify_tool_call(
    py: Python<'_>,
    name: Text,
    input: ToolInput,
    places: Places,
) -> PyResult<Py<PyAny>> {
    apply(py, || {
        Ok(rules::classify_tool_call(&name.0, &input.0, &places.0))
    })
}

/// Say whether an agent may write to a path without asking: to a Markdown file of the store, the team or
/// an agent, unless `CLAUDE_COWORK_MEMORY_PATH_OVERRIDE` has put the store elsewhere. Nothing is looked up:
/// a repository can bring links along, so give the path with links resolved.
///
/// Source: reference facts 11.1 and 12; document 002.
#[pyfunction]
#[pyo3(signature = (path: "str", places: "_types.MemoryPlaces") -> "bool")]
pub(crate) fn may_write(py: Python<'_>, path: Text, places: Places) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::may_write(&path.0, &places.0)))
}

/// Say in a few lines what calls of tools do with memory, or did when `done`: `Recalled 3 team
/// memories`. Reads, searches and writes, each without the team and then with it.
///
/// Raises `InputError` with code `invalid-argument` for a kind or an action that there is not.
///
/// Source: reference facts 12; document 002.
#[pyfunction]
#[pyo3(signature = (calls: "collections.abc.Sequence[_types.ToolClass]", done: "bool") -> "list[str]")]
pub(crate) fn summarise_tool_calls(
    py: Python<'_>,
    calls: Vec<Classified>,
    done: Flag,
) -> PyResult<Py<PyAny>> {
    let calls: Vec<_> = calls.into_iter().map(|Classified(call)| call).collect();
    apply(py, || Ok(rules::summarise_tool_calls(&calls, done.0)))
}

/// Find tokens, keys and passwords in a text: where they are and of which kind, never what they are, in
/// their order. Only what has a shape of its own is found. `start` and `end` are offsets in bytes of
/// UTF-8, `line` counts from 1.
///
/// Source: reference facts 11.2; document 002.
#[pyfunction]
#[pyo3(signature = (text: "str") -> "list[_types.SecretFinding]")]
pub(crate) fn scan_secrets(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::scan_secrets(&text.0)))
}

/// Give a text with a mark in place of each secret that `scan_secrets` finds.
///
/// Source: reference facts 11.2; document 002.
#[pyfunction]
#[pyo3(signature = (text: "str") -> "str")]
pub(crate) fn redact_secrets(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::redact_secrets(&text.0)))
}

/// Take a model's shell command apart, if it does nothing but read: the programs of its pipe, in order,
/// for whoever runs them without a shell and looks at their paths first.
///
/// Raises `InputError` with the first code `shell-…` that holds: of the whole command, then of its
/// characters in order, then of its programs in order. The message is meant for the model.
///
/// Source: reference facts 6.3.
#[pyfunction]
#[pyo3(signature = (command: "str") -> "list[_types.ShellStage]")]
pub(crate) fn read_only_command(py: Python<'_>, command: Text) -> PyResult<Py<PyAny>> {
    apply(py, || rules::read_only_command(&command.0))
}

/// Give the next request of a conversation with tools as it goes over the wire to `anthropic/` or
/// `openai/`. What `prefix` says stays as it is written, so that the provider finds it in its prompt cache,
/// but for the limit of tokens, streaming, and a choice of tools that leaves the model none.
///
/// Raises `InputError` with code `invalid-argument` for a model that is none, a prefix that is no object
/// with a list of messages or that has a member twice, and a turn whose answer is no object.
///
/// Source: reference facts 6.2 and 6.3.
#[pyfunction]
#[pyo3(signature = (model: "_types.ModelOptions", request: "_types.ToolRequest") -> "_types.ModelHttp")]
pub(crate) fn encode_tool_request(
    py: Python<'_>,
    model: ModelChoice,
    request: AskedWithTools,
) -> PyResult<Py<PyAny>> {
    apply(py, || rules::encode_tool_request(&model.0, &request.0))
}

/// Give what a model with tools answered, by what its provider sent. `name` is the model's as in
/// `ModelOptions`, `status` the HTTP status, `body` what came with it.
///
/// Raises as `decode_model_answer`; but an answer without text is none of its errors.
///
/// Source: reference facts 6.2.
#[pyfunction]
#[pyo3(signature = (name: "str", status: "int", body: "str") -> "_types.ToolAnswer")]
pub(crate) fn decode_tool_answer(
    py: Python<'_>,
    name: Text,
    status: Status,
    body: Text,
) -> PyResult<Py<PyAny>> {
    apply(py, || rules::decode_tool_answer(&name.0, status.0, &body.0))
}

/// Give a conversation as it is shown to a model that has not taken part in it: who said what, calls of
/// tools and their results cut to 2,000 bytes each, the newest 120,000 bytes of all. What the agent's program
/// has put in (`isMeta`), thinking and images are left out.
///
/// Raises `InputError` with code `invalid-argument` for what is no message, or JSON.
///
/// Source: reference facts 6.4.
#[pyfunction]
#[pyo3(signature = (
    messages: "collections.abc.Sequence[_types.Message | collections.abc.Mapping[str, Any]]"
) -> "str")]
pub(crate) fn conversation_text(
    py: Python<'_>,
    messages: Vec<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let messages = PyTuple::new(py, messages)?;
    let messages = Talk::new(&messages, None);
    let text = guarded(|| rules::conversation_text(&messages));
    messages.end()?;
    text.map_err(|error| raise(py, &error))
}

/// Decide at the end of a turn whether it is time to extract memories. Cheap reasons against it come
/// first; what the agent has written itself is looked for before the throttle, so that it uses up no turn.
///
/// Raises `InputError` with code `invalid-argument` for what is no message, or JSON.
///
/// Source: reference facts 6.1.
#[pyfunction]
#[pyo3(signature = (
    messages: "collections.abc.Sequence[_types.Message | collections.abc.Mapping[str, Any]]",
    state: "_types.ExtractionState",
    gate: "_types.ExtractionGate"
) -> "_types.ExtractionDecision")]
pub(crate) fn decide_extraction(
    py: Python<'_>,
    messages: Vec<Bound<'_, PyAny>>,
    state: Progress,
    gate: Gate,
) -> PyResult<Py<PyAny>> {
    let messages = PyTuple::new(py, messages)?;
    let messages = Talk::new(&messages, None);
    let decision = guarded(|| rules::decide_extraction(&messages, &state.0, &gate.0));
    messages.end()?;
    let decision = decision.map_err(|error| raise(py, &error))?;
    Ok(to_python(py, &decision, Shape::Classes)?.unbind())
}

/// Read what was said from a transcript: a session of Claude Code (an object a line), messages one a line,
/// or an array of messages. Never fails: what is no message is skipped, and counted in the report.
///
/// Messages of sub agents are left out, and of a conversation that was taken up again at an earlier message
/// only the last branch is kept; of all, the newest messages.
///
/// Source: reference facts 6.1; document 000.
#[pyfunction]
#[pyo3(signature = (text: "str") -> "_types.Transcript")]
pub(crate) fn parse_transcript(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::parse_transcript(&text.0)))
}

/// Say why it is not the time to dream; None when it is. What has not been counted or seen yet is None: ask
/// first without the sessions, and count them when the answer is None. A time that lies ahead says nothing.
///
/// Source: reference facts 7.1.
#[pyfunction]
#[pyo3(signature = (gate: "_types.DreamGate") -> "_types.Awake | None")]
pub(crate) fn decide_dream(py: Python<'_>, gate: TimeToDream) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::decide_dream(&gate.0)))
}

/// Say whether somebody dreams, by the lock file in the store: it is younger than an hour, names a process,
/// and that lives; where nobody can tell (None), it is held to live.
///
/// Source: reference facts 7.2.
#[pyfunction]
#[pyo3(signature = (
    *,
    now_ms: "int",
    mtime_ms: "int",
    body: "str",
    alive: "bool | None" = None
) -> "bool")]
pub(crate) fn lock_is_held(
    py: Python<'_>,
    now_ms: Milliseconds,
    mtime_ms: Milliseconds,
    body: Text,
    alive: Option<Flag>,
) -> PyResult<Py<PyAny>> {
    let look = LockLook {
        now_ms: now_ms.0,
        mtime_ms: mtime_ms.0,
        body: body.0,
        alive: alive.map(|Flag(alive)| alive),
    };
    apply(py, || Ok(rules::lock_is_held(&look)))
}

/// Say whether it is time to bring the notes of a session up to date: at least 10,000 tokens in all, 5,000
/// more than at the last update, and three calls of tools since; with `natural_break`, in place of the
/// calls also a last turn that calls none.
///
/// Source: reference facts 8.1.
#[pyfunction]
#[pyo3(signature = (
    *,
    tokens: "int",
    last_tokens: "int | None" = None,
    tool_calls: "int",
    natural_break: "bool" = false,
    last_turn_calls: "bool" = false
) -> "bool")]
pub(crate) fn session_notes_due(
    py: Python<'_>,
    tokens: Count,
    last_tokens: Option<Count>,
    tool_calls: Count,
    natural_break: bool,
    last_turn_calls: bool,
) -> PyResult<Py<PyAny>> {
    let question = NotesDue {
        tokens: tokens.0,
        last_tokens: last_tokens.map(|Count(tokens)| tokens),
        tool_calls: tool_calls.0,
        natural_break,
        last_turn_calls,
    };
    apply(py, || Ok(rules::session_notes_due(&question)))
}

/// Say how long notes are, and which of their sections are too long. Sections begin at headings of the first
/// level outside code.
///
/// Source: reference facts 8.3.
#[pyfunction]
#[pyo3(signature = (text: "str") -> "_types.NotesMeasure")]
pub(crate) fn measure_notes(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::measure_notes(&text.0)))
}

/// Say whether nothing was noted yet: every line is blank, a heading of the first level, a line in italics,
/// or a line of `template`, which the notes began as.
///
/// Source: reference facts 8.4.
#[pyfunction]
#[pyo3(signature = (text: "str", template: "str") -> "bool")]
pub(crate) fn notes_are_empty(py: Python<'_>, text: Text, template: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::notes_are_empty(&text.0, &template.0)))
}

/// Say about how many tokens a text takes, without a tokenizer: as a mean 4 to 7% off for prose and code, and
/// 13 to 16% for other languages. Single pieces can be off by half, such as tables and encoded data.
///
/// Source: measured against the tokenizers o200k_base and cl100k_base.
#[pyfunction]
#[pyo3(signature = (text: "str") -> "int")]
pub(crate) fn estimate_tokens(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::estimate_tokens(&text.0)))
}

/// Put notes in place of the messages that they cover. What came after `last_summarised`, the last message that
/// they have, is kept, and before it so much that there are 10,000 tokens and five messages with text, but no
/// more once there are 40,000 tokens. A result of a tool is kept with its call, and the parts of an answer
/// together. None means that it is not known what the notes cover, and so they cannot be used. `template` is
/// what the notes began as, `boundary` the index of the message that the last compaction has put in place of
/// others: what is kept reaches back to the one behind it at most, and to it when the notes end before it.
///
/// Raises `InputError` with code `invalid-argument` for what is no message.
///
/// Source: reference facts 8.4.
#[pyfunction]
#[pyo3(signature = (
    messages: "collections.abc.Sequence[_types.Message | collections.abc.Mapping[str, Any]]",
    *,
    template: "str",
    notes: "str | None" = None,
    last_summarised: "str | None" = None,
    boundary: "int | None" = None
) -> "_types.Compaction")]
pub(crate) fn compaction_cut(
    py: Python<'_>,
    messages: Vec<Bound<'_, PyAny>>,
    template: Text,
    notes: Option<Text>,
    last_summarised: Option<Text>,
    boundary: Option<Index>,
) -> PyResult<Py<PyAny>> {
    let messages = PyTuple::new(py, messages)?;
    let talk = Talk::new(&messages, None);
    let all: Result<Vec<_>, _> = (0..talk.len()).map(|at| talk.message(at)).collect();
    talk.end()?;
    let question = CompactionQuestion {
        messages: all.map_err(|error| raise(py, &error))?,
        last_summarised: text(last_summarised),
        notes: text(notes),
        template: template.0,
        boundary: boundary.map(|Index(boundary)| boundary),
    };
    apply(py, || rules::compaction_cut(&question))
}

/// Put values in place of `{{currentNotes}}` and `{{notesPath}}` in a text. Other words in double braces stay as
/// they are, and what is put in is not looked at again.
///
/// Source: reference facts 8.2.
#[pyfunction]
#[pyo3(signature = (text: "str", values: "_types.TemplateValues") -> "str")]
pub(crate) fn fill_template(py: Python<'_>, text: Text, values: Values) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::fill_template(&text.0, &values.0)))
}

/// Read a Markdown file of instructions. `text` is what an agent is shown of it: without front matter and
/// without comments that stand by themselves, trimmed. `imports` are the files that it names with `@` in
/// prose, each once, and `paths` the patterns of the files that it is about, None when it is about all.
///
/// Never fails: what cannot be read stays as text, and `problems` has a code of reports for it, such as
/// `frontmatter-unclosed`.
///
/// Source: reference facts 10.3 and 10.4; document 001 §2.
#[pyfunction]
#[pyo3(signature = (text: "str") -> "_types.ParsedInstructions")]
pub(crate) fn parse_instructions(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::parse_instructions(&text.0)))
}

/// Say which file an import leads to: an absolute one, one below `home` (`~/`), else one relative to the
/// folder of `file`, the absolute path of the file that imports. `target` is one that `parse_instructions`
/// gives. Nothing is looked up; `is_text` is said of the name alone.
///
/// None where it can lead to no file: without the home that it needs, with a NUL, and for network and device
/// paths of Windows.
///
/// Source: reference facts 10.3.
#[pyfunction]
#[pyo3(signature = (target: "str", *, file: "str", home: "str | None" = None, platform: "_types.PlatformName") -> "_types.ResolvedImport | None")]
pub(crate) fn resolve_import(
    py: Python<'_>,
    target: Text,
    file: Text,
    home: Option<Text>,
    platform: PlatformName,
) -> PyResult<Py<PyAny>> {
    let home = text(home);
    apply(py, || {
        Ok(rules::resolve_import(
            &target.0,
            &file.0,
            home.as_deref(),
            platform.0,
        ))
    })
}

/// Say whether a rule is about a file, by the `paths` of the rule. `path` is relative to the folder that
/// holds the rule's `.claude`, with `/`; outside of that folder no rule applies.
///
/// Patterns mean what they mean in a .gitignore, and the last that matches decides. Braces are expanded
/// before, to at most 1,000 patterns and 4 MiB; a pattern beyond that, or with a `[` that is not closed,
/// matches nothing and does not keep the others from it.
///
/// Source: reference facts 10.4.
#[pyfunction]
#[pyo3(signature = (patterns: "collections.abc.Sequence[str]", path: "str") -> "bool")]
pub(crate) fn rule_applies(py: Python<'_>, patterns: Vec<Text>, path: Text) -> PyResult<Py<PyAny>> {
    let patterns = texts(patterns);
    apply(py, || Ok(rules::rule_applies(&patterns, &path.0)))
}

/// List every place where instructions are looked for, in the order in which they are loaded; what comes
/// later is nearer to the work. First come the administrator's folders (`managed`), then the user's
/// (`config_home`), then each folder from below the root down to `cwd`, then those in `additional`, without
/// what lies above them. All folders are absolute, and nothing is looked up.
///
/// `checkout` is the root of the working tree and `canonical` that of its main repository; where the first
/// lies inside the second, the project's files around it are skipped (`worktree`). With `agents_md` there is
/// AGENTS.md in each folder, too. `user`, `project` and `local` say whose are loaded; those of others stay in
/// the list (`off`).
///
/// Source: reference facts 10.1; document 001 §2.
#[pyfunction]
#[pyo3(signature = (
    *,
    platform: "_types.PlatformName",
    cwd: "str | None" = None,
    config_home: "str | None" = None,
    managed: "collections.abc.Sequence[str]" = Vec::new(),
    checkout: "str | None" = None,
    canonical: "str | None" = None,
    additional: "collections.abc.Sequence[str]" = Vec::new(),
    agents_md: "bool" = false,
    user: "bool" = true,
    project: "bool" = true,
    local: "bool" = true
) -> "list[_types.InstructionPlace]")]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn instruction_places(
    py: Python<'_>,
    platform: PlatformName,
    cwd: Option<Text>,
    config_home: Option<Text>,
    managed: Vec<Text>,
    checkout: Option<Text>,
    canonical: Option<Text>,
    additional: Vec<Text>,
    agents_md: bool,
    user: bool,
    project: bool,
    local: bool,
) -> PyResult<Py<PyAny>> {
    let question = PlacesQuestion {
        platform: platform.0,
        cwd: text(cwd),
        config_home: text(config_home),
        managed: texts(managed),
        checkout: text(checkout),
        canonical: text(canonical),
        additional: texts(additional),
        agents_md,
        user,
        project,
        local,
    };
    apply(py, || Ok(rules::instruction_places(&question)))
}

/// Say whether a file of instructions is excluded: a glob of `patterns` matches one of its `paths` (as it was
/// found, and with links resolved) from beginning to end. `**` crosses folders, `*` and `?` do not; `!` in
/// front turns one pattern round. Case counts but on Windows. What is no glob matches nothing.
///
/// Source: reference facts 10.4.
#[pyfunction]
#[pyo3(signature = (patterns: "collections.abc.Sequence[str]", paths: "collections.abc.Sequence[str]", *, platform: "_types.PlatformName") -> "bool")]
pub(crate) fn instructions_excluded(
    py: Python<'_>,
    patterns: Vec<Text>,
    paths: Vec<Text>,
    platform: PlatformName,
) -> PyResult<Py<PyAny>> {
    let (patterns, paths) = (texts(patterns), texts(paths));
    apply(py, || {
        Ok(rules::instructions_excluded(&patterns, &paths, platform.0))
    })
}

/// List every error code with its family and a typical message, in a fixed order.
#[pyfunction]
#[pyo3(signature = () -> "list[_types.ErrorInfo]")]
pub(crate) fn error_table(py: Python<'_>) -> PyResult<Py<PyAny>> {
    apply(py, || Ok(rules::error_table()))
}
