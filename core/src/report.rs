//! What was skipped, cut or repaired: every operation that reads a store says it in a report.

use serde::{Deserialize, Serialize};

/// One thing that a user should know about one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportEntry {
    /// Relative to the store, with `/`; empty for the store itself.
    pub path: String,
    /// What kind of thing.
    pub code: ReportCode,
    /// One line: what, and what to do.
    pub message: String,
}

impl ReportEntry {
    /// One entry.
    #[must_use]
    pub fn new(path: impl Into<String>, code: ReportCode, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            code,
            message: message.into(),
        }
    }
}

/// The closed list of things that a report can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportCode {
    /// More memories than a scan reads; the oldest were left out.
    OverLimit,
    /// The folder could not be listed.
    Unlistable,
    /// The host could not list the folder to its end.
    ListingIncomplete,
    /// Folders nested too deep were not entered.
    TooDeep,
    /// A name that is not UTF-8.
    InvalidName,
    /// The file could not be read.
    Unreadable,
    /// It was there when listed and gone when read.
    Vanished,
    /// A folder, FIFO, socket or device with the name of a memory.
    NotAFile,
    /// A link whose target is outside the store.
    LinkOutside,
    /// A link to nothing.
    LinkDangling,
    /// Links that lead in a circle.
    LinkLoop,
    /// A link to a folder, which is not entered.
    LinkToFolder,
    /// The memory is not UTF-8 text.
    NotUtf8,
    /// The memory holds NUL characters.
    NulByte,
    /// The memory is empty.
    Empty,
    /// The memory is so large that it is surely no note.
    Large,
    /// The frontmatter has no closing line within its limits and counts as text.
    FrontmatterUnclosed,
    /// The frontmatter was read after quoting values.
    FrontmatterRepaired,
    /// The frontmatter is not valid YAML and counts as empty.
    FrontmatterInvalid,
    /// The frontmatter is no map and counts as empty.
    FrontmatterNotAMap,
    /// A second block follows the first and counts as text.
    SecondFrontmatter,
    /// The type is none of the four and counts as missing.
    UnknownType,
    /// The `modified` time cannot be read and counts as missing.
    BadModified,
    /// An unquoted ` #` cut the value.
    ValueCut,
    /// A name or description that is a list or a map.
    ValueIgnored,
    /// Memory is off.
    Disabled,
    /// A settings file cannot be read.
    SettingsUnreadable,
    /// A settings file is not JSON, or no object.
    SettingsInvalid,
    /// A setting has the wrong type and counts as absent.
    SettingsWrongType,
    /// Something named a memory directory and was not followed.
    DirectoryRefused,
    /// The project's usual folder belongs to another project.
    SlugCollision,
    /// The index has more lines or bytes than are loaded.
    IndexOverLimit,
    /// The index is about to.
    IndexNearLimit,
    /// The index has frontmatter.
    IndexFrontmatter,
    /// A line of the index is far too long.
    IndexLineTooLong,
    /// A line of the index is long.
    IndexLineLong,
    /// A line of the index links to nothing.
    IndexLinkBroken,
    /// Two lines of the index link to the same memory.
    IndexDuplicate,
    /// No line of an index links to the memory.
    NotIndexed,
    /// The memory has no frontmatter.
    FrontmatterMissing,
    /// The frontmatter has no name.
    NameMissing,
    /// The frontmatter has no description.
    DescriptionMissing,
    /// The frontmatter has no type.
    TypeMissing,
    /// Two memories have the same name.
    DuplicateName,
    /// A query has no words that could find anything.
    QueryEmpty,
    /// A query was looked at only in part.
    QueryCut,
    /// More memories were asked for than a recall gives.
    LimitLowered,
    /// A model could not be asked, or its answer could not be used.
    ModelFailed,
    /// Part of a model's answer was dropped.
    ModelAnswerCut,
    /// Tools were put behind those of a conversation, which moves it out of the prompt cache.
    ToolsAdded,
    /// Messages were not shown to a model.
    MessagesLeftOut,
    /// A model was not asked.
    ModelSkipped,
    /// A recalled memory is shown only in part.
    ContentCut,
    /// The conversation has been shown as much as it may be.
    SessionBudget,
    /// The file of use counts cannot be read and counts as empty.
    UsesUnreadable,
    /// A private memory holds what looks like a secret.
    SecretFound,
    /// A link in the team folder, which is neither uploaded nor written to.
    TeamLink,
    /// Too large for the team's server.
    TeamTooLarge,
    /// A name that cannot be shared.
    TeamKey,
    /// The server's content is not what its checksum says.
    TeamChecksum,
    /// Changed here and by a teammate: the server's version is in place, ours is kept.
    TeamConflict,
    /// A memory of type user in the team folder, which stays private.
    TeamPrivate,
    /// More entries than the team's server takes.
    TeamOverLimit,
    /// Not uploaded yet.
    TeamNotSent,
    /// A team memory was forgotten here only.
    TeamKeepsCopy,
    /// What background runs propose waits for a person.
    InboxWaiting,
    /// A file of the inbox is no proposal.
    InboxDamaged,
    /// Lines of a transcript that are no JSON, or no message in a known form.
    BrokenLine,
    /// Lines of a transcript that are longer than what is held.
    LineTooLong,
    /// A transcript without a message.
    NotATranscript,
    /// A memory that a dream would have removed stays.
    Kept,
    /// A comment in a file of instructions that is not closed and is shown.
    CommentUnclosed,
    /// Something in the `paths` of a rule is no text and does not count.
    PathsIgnored,
    /// Nothing is where an import leads.
    ImportMissing,
    /// An import is further away than imports are followed.
    ImportTooDeep,
    /// More imports in one file than are followed.
    ImportsOverLimit,
    /// A pattern of a rule that can match nothing.
    PatternUseless,
    /// An import of something that is no text by its name.
    NotTextType,
    /// An import leads out of the working tree, and nobody has approved that.
    NeedsApproval,
    /// A pattern excludes it.
    Excluded,
    /// The same file is there already.
    AlreadyLoaded,
    /// Something with the name of a folder of rules that is none.
    NotAFolder,
    /// The worktree that is worked in has the same file.
    NestedWorktree,
    /// More bytes than are read of one file.
    TooLarge,
    /// Characters that nobody sees were left out.
    HiddenCharacters,
    /// So much text that it costs more than it helps.
    InstructionsLarge,
}

impl ReportCode {
    /// The code as it stands in JSON.
    #[must_use]
    pub fn name(self) -> String {
        crate::text::wire_name(&self)
    }
}
