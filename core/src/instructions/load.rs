//! What loading the chain gives: the files in their order, the text that an agent is shown, and what became of every
//! file that was considered.

use serde::{Deserialize, Serialize};

use super::InstructionSource;
use crate::report::ReportCode;
use crate::text;

/// What is loaded besides what every project has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, named by the sources"
)]
pub struct InstructionsOptions {
    /// `AGENTS.md` of every folder of the project, before its `CLAUDE.md`.
    pub agents_md: bool,
    /// Whether the user's instructions are loaded.
    pub user: bool,
    /// Whether the project's are.
    pub project: bool,
    /// Whether the user's for this project are.
    pub local: bool,
    /// Folders that count like the working directory; absolute.
    pub additional_directories: Vec<String>,
    /// Globs over absolute paths of files that are not read, beside `claudeMdExcludes` of the settings.
    /// The administrator's cannot be excluded.
    pub excludes: Vec<String>,
    /// Files, and folders of files, outside of the working tree that may be imported; absolute.
    pub approved: Vec<String>,
    /// Files that the conversation has already; absolute.
    pub loaded: Vec<String>,
}

impl Default for InstructionsOptions {
    fn default() -> Self {
        Self {
            agents_md: false,
            user: true,
            project: true,
            local: true,
            additional_directories: Vec::new(),
            excludes: Vec::new(),
            approved: Vec::new(),
            loaded: Vec::new(),
        }
    }
}

/// The instructions of a chain, or those that come with one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Instructions {
    /// What an agent is shown; empty when there is nothing.
    pub text: String,
    /// What was loaded, in order: what comes later has more weight.
    pub files: Vec<InstructionFile>,
    /// What became of every file that was considered, in the same order.
    pub report: Vec<LoadEntry>,
}

/// One loaded file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstructionFile {
    /// Absolute.
    pub path: String,
    /// Whose it is.
    pub source: InstructionSource,
    /// How it came in.
    pub kind: LoadKind,
    /// What is shown of it; empty for an empty file.
    pub text: String,
    /// The file that imports it.
    pub parent: Option<String>,
    /// The patterns of the files that it is about, when it is not about all.
    pub globs: Option<Vec<String>>,
    /// Whether less is shown than stands in the file, so that it must be read before it is edited.
    pub differs: bool,
}

/// How a file comes into a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadKind {
    /// It stands at one of the places where instructions are looked for.
    File,
    /// It stands in a folder of rules.
    Rule,
    /// Another one imports it.
    Import,
    /// It is a text in the administrator's settings.
    Settings,
    /// It is the index of a memory.
    Index,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadOutcome {
    /// An agent is shown it.
    Loaded,
    /// It is not, and `code` says why.
    Skipped,
    /// It is about certain files only, and is loaded when one of them is touched.
    Conditional,
}

/// What became of one file that was considered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadEntry {
    /// Absolute.
    pub path: String,
    /// Whose it is.
    pub source: InstructionSource,
    /// How it comes in.
    pub kind: LoadKind,
    /// What became of it.
    pub outcome: LoadOutcome,
    /// Why it was skipped.
    pub code: Option<ReportCode>,
    /// Why it was skipped and what to do about it, on one line.
    pub message: Option<String>,
    /// The file that imports it.
    pub parent: Option<String>,
    /// How many imports lead to it.
    pub depth: u32,
    /// Bytes of the file, where they are known.
    pub bytes: Option<u64>,
    /// Lines of the file, where it was read.
    pub lines: Option<u64>,
    /// The patterns of the files that it is about.
    pub globs: Option<Vec<String>>,
    /// What else there is to know of one that was read.
    pub notes: Vec<LoadNote>,
}

/// Something that a person should know of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadNote {
    /// What kind of thing.
    pub code: ReportCode,
    /// One line: what, and what to do.
    pub message: String,
}

/// Everything that an agent should start with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// All parts, one after the other; empty when there is nothing.
    pub text: String,
    /// The parts that there are, in order.
    pub parts: Vec<ContextPart>,
    /// What became of every file that was considered.
    pub report: Vec<LoadEntry>,
}

/// One part of what an agent starts with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextPart {
    /// Which one.
    pub kind: ContextKind,
    /// Its text.
    pub text: String,
}

/// The parts of what an agent starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContextKind {
    /// What people wrote.
    Instructions,
    /// How memory works.
    Memory,
    /// What there is in the private memory.
    Index,
    /// What there is in that of the team.
    TeamIndex,
}

impl InstructionFile {
    /// What stands above the text of a file.
    fn heading(&self) -> String {
        let whose = match self.source {
            InstructionSource::Managed => "instructions of this machine's administrator",
            InstructionSource::User => "the user's own instructions for every project",
            InstructionSource::Local => {
                "the user's own instructions for this project, not checked in"
            }
            InstructionSource::Project => "instructions of the project, checked in with it",
            InstructionSource::Memory => "memory",
            InstructionSource::Team => "memory of the team",
        };
        let about = match &self.globs {
            Some(globs) => format!("; about files that match {}", globs.join(", ")),
            None => String::new(),
        };
        text::one_line(&format!("Contents of {} ({whose}{about}):", self.path))
    }
}

/// The text that an agent is shown (facts 10.2); empty without files.
pub(crate) fn render(files: &[InstructionFile]) -> String {
    let shown = files.iter().filter(|file| !file.text.is_empty());
    let mut text = String::new();
    for file in shown {
        if text.is_empty() {
            let long: usize = files.iter().map(|file| file.text.len()).sum();
            text.reserve(long);
            text.push_str(PREAMBLE);
        }
        text.push_str("\n\n");
        text.push_str(&file.heading());
        text.push_str("\n\n");
        text.push_str(&file.text);
    }
    text
}

const PREAMBLE: &str = "# Instructions

The people you work for have written these instructions. They override your defaults: follow them exactly as they are written. Where two of them differ, the one that stands later is nearer to the work and counts.";
