//! The one error type and its closed table of codes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::flow::{Failure, FailureCode};

/// Why an operation failed. The message names the thing, the rule and the remedy; it never holds
/// a secret's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Stable; what programs decide by.
    pub code: ErrorCode,
    /// One line for a person.
    pub message: String,
    /// The file or folder it is about, if it is about one.
    pub path: Option<String>,
}

impl Error {
    /// An error that is not about one path.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            path: None,
        }
    }

    /// The same error, about `path`.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The driver of a flow broke the engine's contract.
    #[must_use]
    pub fn protocol(message: impl fmt::Display) -> Self {
        Self::new(
            ErrorCode::Protocol,
            format!("{message}; answer every effect of a step exactly once before the next resume"),
        )
    }

    /// A failed effect that an operation cannot do without: `doing` says what was tried.
    #[must_use]
    pub fn from_failure(failure: &Failure, doing: &str, path: &str) -> Self {
        Self::new(
            failure.code.into(),
            format!("{doing} {path} failed: {}", failure.message),
        )
        .at(path)
    }
}

impl ErrorCode {
    /// Whether a path is to blame by itself, and not the disk or the moment.
    pub(crate) fn is_of_path(self) -> bool {
        matches!(
            self,
            Self::NameTooLong
                | Self::InvalidName
                | Self::NotADirectory
                | Self::IsADirectory
                | Self::LinkOutside
        )
    }

    /// The code as it stands in JSON.
    #[must_use]
    pub fn name(self) -> String {
        crate::text::wire_name(&self)
    }
}

/// Which group of codes an error belongs to: the faces make one exception class of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorFamily {
    /// How the operation was driven: cancelled, broken contract, defect.
    Engine,
    /// What the caller passed in.
    Input,
    /// A path that a rule refuses.
    Path,
    /// What the operating system or the network answered.
    Host,
    /// What a language model, or its provider, answered.
    Model,
    /// What the team's server answered, or what is missing to ask it.
    Team,
}

/// One row of [`error_table`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorInfo {
    /// The code.
    pub code: ErrorCode,
    /// Its group.
    pub family: ErrorFamily,
    /// A typical message.
    pub example: &'static str,
}

/// Declares the codes once: the enum, its family, an example, the way from a failed effect.
macro_rules! error_codes {
    ($($variant:ident $family:ident $example:literal;)*) => {
        /// Every code there is. Kebab-case on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[expect(missing_docs, reason = "the table has an example of each")]
        pub enum ErrorCode {
            $($variant,)*
        }

        /// Every code with its family and an example, in a fixed order.
        #[must_use]
        pub fn error_table() -> Vec<ErrorInfo> {
            vec![$(ErrorInfo {
                code: ErrorCode::$variant,
                family: ErrorFamily::$family,
                example: $example,
            },)*]
        }
    };
}

error_codes! {
    Aborted Engine "the operation was cancelled before it was done";
    Protocol Engine "effect 3 was not answered before the next resume; answer every effect of a step exactly once before the next resume";
    Internal Engine "a flow waits for nothing; this is a defect of memdir, please report it";
    InvalidText Input "the text holds half of a surrogate pair at position 4; pass well-formed text";
    InvalidArgument Input "limit must be a whole number from 1 to 200";
    Usage Input "unknown option --jsn; see memdir --help";
    Disabled Input "memory is off (env-disabled); unset CLAUDE_CODE_DISABLE_AUTO_MEMORY to use it";
    Closed Input "the store is closed; open it again";
    FrontmatterInvalid Input "the frontmatter is no plain list of keys and cannot be changed safely; mend it in an editor first";
    UserPrivate Input "a memory of type user stays private; save it without the team scope, or give it another type";
    SecretFound Input "line 3 holds a GitHub personal token (classic), and teammates would see it; remove it, or keep the memory private";
    NotText Input "notes.md is not UTF-8 text; convert it to UTF-8";
    ShellAssignment Input "\"LANG=C\" sets a variable: leave it out";
    ShellBackground Input "& runs a command in the background: leave it out, or quote it";
    ShellComment Input "leave the comment out, or quote the #";
    ShellControl Input "leave out the character U+001B, which is not shown";
    ShellEmpty Input "give a command, and one on each side of a pipe: ls, find, grep, …";
    ShellExpansion Input "no shell expands ~ here: write the folder out";
    ShellFlag Input "the flag \"-delete\" of find is not among the flags that only read: nothing is deleted or written here";
    ShellGlob Input "no shell expands * here: quote a pattern; else name the files, or find them first";
    ShellOperand Input "pwd takes no operand: leave \"notes\" out";
    ShellQuote Input "a ' is not closed: close it, or write it with a backslash outside quotes";
    ShellRedirection Input "no shell redirects with > here: leave that out (2>/dev/null, too), or quote the sign";
    ShellSeparator Input "; separates commands: run one at a time; only | joins them";
    ShellStdin Input "there is no input for cat to read: name a file";
    ShellSubshell Input "no shell is here to start another in parentheses: quote them, or leave them out";
    ShellSubstitution Input "$( runs a command for its output: run it by itself, or use single quotes";
    ShellTooLong Input "a command has at most 10000 characters: ask for less at once";
    ShellUnknownProgram Input "\"rm\" is not among the programs that only read: ls, find, grep, …";
    PathEmpty Path "the memory directory is empty; give an absolute path";
    PathNul Path "the memory directory holds a NUL character; give a plain absolute path";
    PathHome Path "~/ names the home directory itself; name a folder inside it";
    PathHomeParent Path "~/.. names the parent of the home directory; name a folder inside home";
    PathOutsideHome Path "~/../x leaves the home directory; name a folder inside home";
    PathUnc Path "\\\\server\\share is a network path; give a path on a local disk";
    PathDriveRoot Path "C:\\ is the root of a drive; name a folder in it";
    PathRelative Path "notes/memory is relative; give an absolute path";
    PathRoot Path "/ is the root of the file system; name a folder in it";
    PathTooShort Path "/a is too short to be a memory directory; name a folder in it";
    PathOutsideStore Path "../x.md is not a path inside the store; give one relative to it, with forward slashes";
    KeyTooLong Path "\"notes/…\" is too long for some file systems; shorten it";
    KeyEncoded Path "\"a%2f..%2fb.md\" holds an encoded separator or parent folder; write the path as it is";
    KeyLookalike Path "\"a／b.md\" holds a character that looks like a separator or dots; use plain ones";
    KeySeparator Path "\"a\\b.md\" holds a backslash; use forward slashes";
    KeyAbsolute Path "\"/a.md\" is absolute; give a path relative to the team folder";
    KeyTraversal Path "\"../a.md\" has an empty part, . or ..; name the file by its plain path";
    KeyCharacter Path "\"a:b.md\" holds a character that is invisible or that some file systems forbid; remove it";
    KeyNormalForm Path "\"café.md\" is not in the normal form NFC, so it is another file elsewhere; compose its letters";
    KeyEnding Path "\"a./b.md\" has a part that begins with a blank or ends with a blank or a dot; remove it";
    KeyReserved Path "\"con.md\" has the name of a device on Windows; choose another one";
    KeyOwn Path "\".memdir/a.md\" is one of memdir's own files; choose another name";
    KeyTwin Path "\"Notes.md\" differs from another name by case or spelling only; choose another one";
    NoHome Path "there is no home directory to keep memories in; set HOME, or name a memory directory";
    NotTrusted Path "autoMemoryDirectory in a project's settings is not followed; set it in your own settings";
    NeedsConfigDir Path "CLAUDE_CODE_PROJECT_DIR_NAME only counts beside CLAUDE_CONFIG_DIR; set both or neither";
    LinkOutside Path "a.md is a link that leaves the store; keep the file itself in the store";
    NotFound Host "reading a.md failed: no such file";
    Exists Host "creating a.md failed: it exists";
    Permission Host "reading a.md failed: permission denied";
    ReadOnly Host "writing a.md failed: read-only file system";
    NoSpace Host "writing a.md failed: no space left on device";
    NotADirectory Host "listing /a/b failed: not a directory";
    IsADirectory Host "reading /a/b failed: is a directory";
    NotEmpty Host "removing /a/b failed: directory not empty";
    Loop Host "reading a.md failed: too many levels of symbolic links";
    NameTooLong Host "creating a.md failed: file name too long";
    InvalidName Host "listing /a failed: a name is not UTF-8";
    TooLarge Host "reading a.md failed: it is larger than 4194304 bytes";
    TooManyOpen Host "reading a.md failed: too many open files";
    CrossDevice Host "renaming a.md failed: invalid cross-device link";
    Busy Host "writing a.md failed: another writer held the store for 30 s";
    Unsupported Host "this host cannot make HTTP requests";
    Timeout Host "GET https://example.com/ failed: no answer within 30000 ms";
    Network Host "GET https://example.com/ failed: connection refused";
    NoModel Model "no model was given to this store; open it with one, or recall with the strategy lexical";
    ModelAuth Model "anthropic/claude-haiku-4-5 answered with status 401; check its key";
    ModelNotFound Model "openai/qwen3 answered with status 404; check the model's name and address";
    ModelBusy Model "openai/qwen3 answered with status 429";
    ModelRefused Model "openai/qwen3 answered with status 400 (max_tokens is too large)";
    ModelAnswer Model "the model's answer has no list of memories in it";
    NoServer Team "no team server is known; pass its address or set MEMDIR_TEAM_URL";
    NoToken Team "there is no token for the team server; pass one or set MEMDIR_TEAM_TOKEN";
    NoRepository Team "the project has no git remote to name its team memories by; pass owner/repo";
    TeamAuth Team "the team server answered with status 401; check the token and its rights for the repository";
    TeamBusy Team "the team server answered with status 503; try again later";
    TeamRefused Team "the team server answered with status 302; it is another address, give that one";
    TeamAnswer Team "the team server's answer is no JSON object; check its address";
    TeamConflict Team "others keep changing the team's memories, and 0 of ours were uploaded; try again later";
    Other Host "reading a.md failed: input/output error";
}

impl From<FailureCode> for ErrorCode {
    fn from(code: FailureCode) -> Self {
        match code {
            FailureCode::NotFound => Self::NotFound,
            FailureCode::Exists => Self::Exists,
            FailureCode::Permission => Self::Permission,
            FailureCode::ReadOnly => Self::ReadOnly,
            FailureCode::NoSpace => Self::NoSpace,
            FailureCode::NotADirectory => Self::NotADirectory,
            FailureCode::IsADirectory => Self::IsADirectory,
            FailureCode::NotEmpty => Self::NotEmpty,
            FailureCode::Loop => Self::Loop,
            FailureCode::NameTooLong => Self::NameTooLong,
            FailureCode::InvalidName => Self::InvalidName,
            FailureCode::TooLarge => Self::TooLarge,
            FailureCode::TooManyOpen => Self::TooManyOpen,
            FailureCode::CrossDevice => Self::CrossDevice,
            FailureCode::Busy => Self::Busy,
            FailureCode::Unsupported => Self::Unsupported,
            FailureCode::Timeout => Self::Timeout,
            FailureCode::Network => Self::Network,
            FailureCode::Aborted => Self::Aborted,
            FailureCode::Other => Self::Other,
        }
    }
}
