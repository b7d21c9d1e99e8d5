//! What both directions share: enums that have the same cases in the core and in the WIT, and a
//! macro for records that have the same fields. Both sides are matched completely, so a case or a
//! field that one of them lacks stops the build.

use std::collections::BTreeMap;

use memdir_core::agents::AgentScope;
use memdir_core::dream::{Awake, DreamOutcome};
use memdir_core::error::{ErrorCode, ErrorFamily};
use memdir_core::extract::{AgentRole, ExtractionOutcome, RunEnd, Skip, Verdict};
use memdir_core::flow::{FailureCode, FileKind, Stream};
use memdir_core::inbox::InboxChangeKind;
use memdir_core::instructions::{
    ContextKind, InstructionSource, LoadKind, LoadOutcome, PlaceKind, PlaceSkip,
};
use memdir_core::lint::Severity;
use memdir_core::memory::{MemoryType, Scope};
use memdir_core::model::Role;
use memdir_core::paths::{
    EnabledBecause, PathKind, Platform, SettingsProblemCode, Source, ToolAction,
};
use memdir_core::report::ReportCode;
use memdir_core::session::{CompactionReason, NotesOutcome, NotesSkip};
use memdir_core::store::{RecallReason, Strategy};
use memdir_core::team::{TeamAction, TeamDeletions};
use memdir_core::write::WriteOutcome;

use crate::bindings::exports::memdir::memdir::{flows, rules};

/// Implements `From` between two structs with the same field names. The value is taken apart
/// completely and the other one is put together completely; `as` names a conversion.
macro_rules! records {
    ($($from:path => $to:path { $($field:ident $(as $how:path)?),* $(,)? })*) => {$(
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                let $from { $($field),* } = value;
                Self { $($field: $crate::same::passed!($field $(, $how)?)),* }
            }
        }
    )*};
}

macro_rules! passed {
    ($field:ident) => {
        $field
    };
    ($field:ident, $how:path) => {
        $how($field)
    };
}

pub(crate) use {passed, records};

/// Converts every item.
pub fn each<T, U: From<T>>(list: Vec<T>) -> Vec<U> {
    list.into_iter().map(Into::into).collect()
}

/// Converts what is there.
pub fn maybe<T, U: From<T>>(value: Option<T>) -> Option<U> {
    value.map(Into::into)
}

/// A map from its pairs; of two pairs with one key the later counts.
pub fn pairs(list: Vec<(String, String)>) -> BTreeMap<String, String> {
    list.into_iter().collect()
}

macro_rules! same {
    ($($core:ident = $module:ident :: $wit:ident { $($case:ident)* })*) => {$(
        impl From<$core> for $module::$wit {
            fn from(value: $core) -> Self {
                match value {
                    $($core::$case => Self::$case,)*
                }
            }
        }

        impl From<$module::$wit> for $core {
            fn from(value: $module::$wit) -> Self {
                match value {
                    $($module::$wit::$case => Self::$case,)*
                }
            }
        }
    )*};
}

same! {
    ErrorCode = rules::ErrorCode {
        Aborted Protocol Internal InvalidText InvalidArgument Usage Disabled Closed
        FrontmatterInvalid UserPrivate SecretFound NotText ShellAssignment ShellBackground ShellComment
        ShellControl ShellEmpty ShellExpansion ShellFlag ShellGlob ShellOperand ShellQuote
        ShellRedirection ShellSeparator ShellStdin ShellSubshell ShellSubstitution ShellTooLong
        ShellUnknownProgram PathEmpty PathNul
        PathHome PathHomeParent PathOutsideHome PathUnc PathDriveRoot PathRelative PathRoot
        PathTooShort PathOutsideStore KeyTooLong KeyEncoded KeyLookalike KeySeparator KeyAbsolute
        KeyTraversal KeyCharacter KeyNormalForm KeyEnding KeyReserved KeyOwn KeyTwin
        NoHome NotTrusted NeedsConfigDir LinkOutside NotFound Exists Permission ReadOnly NoSpace
        NotADirectory IsADirectory NotEmpty Loop NameTooLong InvalidName TooLarge TooManyOpen
        CrossDevice Busy Unsupported Timeout Network NoModel ModelAuth ModelNotFound ModelBusy
        ModelRefused ModelAnswer NoServer NoToken NoRepository TeamAuth TeamBusy TeamRefused
        TeamAnswer TeamConflict Other
    }
    ErrorFamily = rules::ErrorFamily { Engine Input Path Host Model Team }
    ReportCode = rules::ReportCode {
        OverLimit Unlistable ListingIncomplete TooDeep InvalidName Unreadable Vanished NotAFile
        LinkOutside LinkDangling LinkLoop LinkToFolder NotUtf8 NulByte Empty Large
        FrontmatterUnclosed FrontmatterRepaired FrontmatterInvalid FrontmatterNotAMap
        SecondFrontmatter UnknownType BadModified ValueCut ValueIgnored Disabled
        SettingsUnreadable SettingsInvalid SettingsWrongType DirectoryRefused SlugCollision
        IndexOverLimit IndexNearLimit IndexFrontmatter IndexLineTooLong IndexLineLong
        IndexLinkBroken IndexDuplicate NotIndexed FrontmatterMissing NameMissing
        DescriptionMissing TypeMissing DuplicateName QueryEmpty QueryCut LimitLowered ModelFailed
        ModelAnswerCut ToolsAdded MessagesLeftOut ModelSkipped ContentCut SessionBudget UsesUnreadable SecretFound
        TeamLink TeamTooLarge TeamKey TeamChecksum TeamConflict TeamPrivate TeamOverLimit
        TeamNotSent TeamKeepsCopy InboxWaiting InboxDamaged BrokenLine LineTooLong NotATranscript
        Kept CommentUnclosed PathsIgnored ImportMissing ImportTooDeep ImportsOverLimit PatternUseless
        NotTextType NeedsApproval Excluded AlreadyLoaded NotAFolder NestedWorktree TooLarge
        HiddenCharacters InstructionsLarge
    }
    MemoryType = rules::MemoryType { User Feedback Project Reference }
    Scope = rules::Scope { Private Team }
    Platform = rules::Platform { Posix Windows }
    EnabledBecause = rules::EnabledBecause {
        EnvDisabled EnvForced SimpleMode SafeMode RemoteWithoutFolder SettingsPolicy SettingsFlag
        SettingsLocal SettingsProject SettingsUser Default
    }
    Source = rules::Source {
        Option Agent Env SettingsPolicy SettingsFlag SettingsLocal SettingsProject SettingsUser
        EnvProjectDirName Default
    }
    AgentScope = rules::AgentScope { User Project Local }
    PathKind = rules::PathKind { Team Auto Agent SessionMemory SessionTranscript None }
    ToolAction = rules::ToolAction { Read Write Search Run None }
    SettingsProblemCode = rules::SettingsProblemCode { NotJson NotAnObject WrongType }
    Severity = rules::Severity { Error Warning }
    Role = rules::Role { User Assistant }
    AgentRole = rules::AgentRole { Main Sub }
    Verdict = rules::Verdict { Run Queue Skip }
    Skip = rules::Skip {
        SubAgent Off Disabled NotInteractive Remote NotFinal NothingNew DirectWrite TooLittle
        Throttled Paused
    }
    ExtractionOutcome = flows::ExtractionOutcome { Done Skipped Queued Failed }
    RunEnd = flows::RunEnd { Answered Turns Tokens Stopped }
    CompactionReason = rules::CompactionReason { Off NoNotes EmptyNotes Unreadable UnknownMessage }
    NotesOutcome = flows::NotesOutcome { Done Skipped Failed }
    NotesSkip = flows::NotesSkip { Disabled NothingNew NotDue Running Paused Closed }
    Awake = rules::Awake {
        SubAgent Off Disabled Remote DailyLog TooSoon Counted FewSessions Locked Closed
    }
    InstructionSource = rules::InstructionSource { Managed User Project Local Memory Team }
    PlaceKind = rules::PlaceKind { File Rules }
    PlaceSkip = rules::PlaceSkip { Off Worktree }
    LoadKind = flows::LoadKind { File Rule Import Settings Index }
    LoadOutcome = flows::LoadOutcome { Loaded Skipped Conditional }
    ContextKind = flows::ContextKind { Instructions Memory Index TeamIndex }
    DreamOutcome = flows::DreamOutcome { Done Skipped Failed }
    InboxChangeKind = flows::InboxChangeKind { Created Changed Deleted }
    TeamAction = rules::TeamAction { Receive Remove Send Conflict Forgotten }
    TeamDeletions = flows::TeamDeletions { Keep Propagate }
    Strategy = flows::Strategy { Auto Model Lexical }
    RecallReason = flows::RecallReason { Model Lexical }
    WriteOutcome = flows::WriteOutcome { Written Unchanged Conflict Refused }
    Stream = flows::OutputStream { Stdout Stderr }
    FailureCode = flows::FailureCode {
        NotFound Exists Permission ReadOnly NoSpace NotADirectory IsADirectory NotEmpty Loop
        NameTooLong InvalidName TooLarge TooManyOpen CrossDevice Busy Unsupported Timeout Network
        Aborted Other
    }
    FileKind = flows::FileKind { File Directory Link Other }
}
