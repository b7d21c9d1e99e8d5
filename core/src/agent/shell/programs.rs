//! Which programs only read, with which flags, and what they take: the table that decides. What does not
//! stand in it is refused.

use super::{refuse, shown};
use crate::error::{Error, ErrorCode};

/// What a program reads, and what may be said to it.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) operands: Operands,
    flags: &'static [Flags],
}

/// What words are to a program that are no flags.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Operands {
    /// It takes none.
    None,
    /// Texts, and so is everything that looks like a flag.
    Texts,
    /// Names of programs; one with a `/` is a path.
    Names,
    /// Paths; `-` is a file of that name.
    Paths,
    /// Paths; `-` is the input.
    PathsOrInput,
    /// Paths; `-` is the input, and so is no path at all.
    Input,
    /// A pattern, unless a flag gives it, then as `Input`.
    PatternThenInput,
    /// Paths, then the expression of `find`.
    Expression,
}

/// Flags that take the same: letters, and names separated by blanks.
struct Flags(Takes, &'static str, &'static str);

/// What a flag takes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Takes {
    Nothing,
    /// Nothing; looks through folders, the one that it runs in when none is given.
    Recursion,
    /// A count or a size.
    Number,
    /// A number in the same word: on macOS the next word would be the pattern, with GNU it is the number.
    JoinedNumber,
    /// A number in the same word, or nothing.
    MaybeNumber,
    /// A text that can do nothing, whatever it is.
    Text,
    /// A text in the same word, or nothing.
    MaybeText,
    /// A text that replaces the operand which is a pattern.
    Pattern,
    /// A file of such patterns.
    PatternFile,
    /// A file or folder.
    Path,
    /// Permissions, which may begin with `-`.
    Mode,
}

use Takes::{
    JoinedNumber, MaybeNumber, MaybeText, Mode, Nothing, Number, Path, Pattern, PatternFile,
    Recursion, Text,
};

/// Flags that some system gives another meaning to are in only if that is harmless, too: macOS and BusyBox
/// have programs of the same names. What follows links below a folder (`grep -R`, `find -L`), never ends
/// (`tail -f`), runs something (`diff -l`) or reads names of files from a file is left out.
pub(super) const PROGRAMS: [Program; 13] = [
    Program {
        name: "ls",
        operands: Operands::Paths,
        flags: &[
            Flags(
                Nothing,
                "aAbBcCdfFgGhHiklmnNopqQrRsStuUvxX1",
                "all almost-all author escape ignore-backups directory file-type full-time \
                 group-directories-first no-group human-readable si dereference-command-line \
                 dereference-command-line-symlink-to-dir inode kibibytes numeric-uid-gid literal \
                 hide-control-chars show-control-chars quote-name reverse recursive size zero",
            ),
            Flags(Number, "w", "width tabsize"),
            Flags(
                Text,
                "",
                "block-size format hide ignore indicator-style quoting-style sort time time-style",
            ),
            Flags(MaybeText, "", "classify color hyperlink"),
        ],
    },
    Program {
        name: "find",
        operands: Operands::Expression,
        flags: &[
            Flags(
                Nothing,
                "",
                "( ) ! , -a -and -o -or -not -daystart -depth -empty -executable -false \
                 -ignore_readdir_race -ls -mount -nogroup -noignore_readdir_race -noleaf -nouser \
                 -nowarn -print -print0 -prune -quit -readable -true -warn -writable -xdev",
            ),
            Flags(
                Number,
                "",
                "-amin -atime -cmin -ctime -gid -inum -links -maxdepth -mindepth -mmin -mtime -size \
                 -uid -used",
            ),
            Flags(
                Text,
                "",
                "-group -ilname -iname -ipath -iregex -iwholename -lname -name -path -printf \
                 -regex -regextype -type -user -wholename -xtype",
            ),
            Flags(Mode, "", "-perm"),
            Flags(Path, "", "-anewer -cnewer -newer -samefile"),
        ],
    },
    Program {
        name: "grep",
        operands: Operands::PatternThenInput,
        flags: &[
            Flags(
                Nothing,
                "0123456789abcEFGhHiIlLnoPqsTUvwxyzZ",
                "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case \
                 word-regexp line-regexp null-data no-messages invert-match byte-offset line-number \
                 line-buffered with-filename no-filename only-matching quiet silent text \
                 files-without-match files-with-matches count initial-tab null no-group-separator \
                 binary",
            ),
            Flags(Recursion, "r", "recursive"),
            Flags(Number, "ABCm", "after-context before-context max-count"),
            Flags(JoinedNumber, "", "context"),
            Flags(
                Text,
                "dD",
                "binary-files devices directories exclude exclude-dir group-separator include label",
            ),
            Flags(MaybeText, "", "color colour"),
            Flags(Pattern, "e", "regexp"),
            Flags(PatternFile, "f", "file"),
            Flags(Path, "", "exclude-from"),
        ],
    },
    Program {
        name: "cat",
        operands: Operands::Input,
        flags: &[Flags(
            Nothing,
            "AbeEnstTuv",
            "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
        )],
    },
    Program {
        name: "stat",
        operands: Operands::PathsOrInput,
        flags: &[
            // -f and -t take a value on macOS: the next word would be none there.
            Flags(Nothing, "L", "dereference file-system terse"),
            Flags(Text, "c", "cached format printf"),
        ],
    },
    Program {
        name: "wc",
        operands: Operands::Input,
        flags: &[
            Flags(Nothing, "clLmw", "bytes chars lines max-line-length words"),
            Flags(Text, "", "total"),
        ],
    },
    Program {
        name: "head",
        operands: Operands::Input,
        flags: HEAD_AND_TAIL,
    },
    Program {
        name: "tail",
        operands: Operands::Input,
        flags: HEAD_AND_TAIL,
    },
    Program {
        name: "pwd",
        operands: Operands::None,
        flags: &[Flags(Nothing, "LP", "logical physical")],
    },
    Program {
        name: "echo",
        operands: Operands::Texts,
        flags: &[],
    },
    Program {
        name: "which",
        operands: Operands::Names,
        flags: &[Flags(Nothing, "a", "")],
    },
    Program {
        name: "diff",
        operands: Operands::PathsOrInput,
        flags: &[
            Flags(
                Nothing,
                "0123456789abBcdeEHinNpqstTuwyZ",
                "normal brief report-identical-files ed rcs side-by-side left-column \
                 suppress-common-lines show-c-function expand-tabs initial-tab suppress-blank-empty \
                 no-dereference new-file unidirectional-new-file ignore-case ignore-tab-expansion \
                 ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines text \
                 strip-trailing-cr minimal speed-large-files",
            ),
            Flags(Number, "CUW", "width tabsize horizon-lines"),
            Flags(MaybeNumber, "", "context unified"),
            Flags(
                Text,
                "DFIL",
                "ifdef show-function-line ignore-matching-lines label",
            ),
            Flags(MaybeText, "", "color"),
        ],
    },
    Program {
        name: "du",
        operands: Operands::Paths,
        flags: &[
            Flags(
                Nothing,
                "0abcDhHklmPsSx",
                "null all apparent-size bytes total dereference-args human-readable inodes \
                 count-links no-dereference separate-dirs si summarize one-file-system",
            ),
            Flags(Number, "Bdt", "max-depth threshold"),
            Flags(Text, "", "block-size exclude time-style"),
            Flags(MaybeText, "", "time"),
            Flags(Path, "X", "exclude-from"),
        ],
    },
];

const HEAD_AND_TAIL: &[Flags] = &[
    Flags(Nothing, "qvz", "quiet silent verbose zero-terminated"),
    Flags(Number, "cn", "bytes lines"),
];

/// Flags that models like to give, and what to do instead: programs, flags, advice.
const INSTEAD: [(&str, &str, &str); 9] = [
    (
        "find",
        "-exec -execdir -ok -okdir",
        "find runs nothing here; look at what it lists with another command",
    ),
    (
        "find",
        "-delete -fprint -fprint0 -fprintf -fls",
        "nothing is deleted or written here",
    ),
    (
        "find ls du",
        "-L -follow --dereference",
        "links are not followed here",
    ),
    (
        "grep",
        "-R --dereference-recursive",
        "use -r, which follows no links",
    ),
    (
        "tail",
        "-f -F --follow --retry --pid",
        "it would never end; leave it out",
    ),
    ("diff", "-r --recursive", "compare two files at a time"),
    ("diff", "-l --paginate", "pipe into head instead"),
    (
        "stat",
        "-f -t",
        "use --file-system or --terse, or -c and a format",
    ),
    ("find du wc", "-files0-from --files0-from", "name the files"),
];

pub(super) fn names() -> String {
    PROGRAMS.map(|program| program.name).join(", ")
}

impl Program {
    pub(super) fn letter(&self, letter: char) -> Result<Takes, Error> {
        let mut rows = self.flags.iter();
        match rows.find(|Flags(_, letters, _)| letters.contains(letter)) {
            Some(Flags(takes, ..)) => Ok(*takes),
            None => self.unknown(&format!("-{letter}")),
        }
    }

    /// What the flag takes that is written `prefix` and `name`.
    pub(super) fn named(&self, prefix: &str, name: &str) -> Result<Takes, Error> {
        let mut rows = self.flags.iter();
        match rows.find(|Flags(_, _, names)| names.split(' ').any(|known| known == name)) {
            Some(Flags(takes, ..)) if !name.is_empty() => Ok(*takes),
            _ => self.unknown(&format!("{prefix}{name}")),
        }
    }

    fn unknown<T>(&self, flag: &str) -> Result<T, Error> {
        let is_meant = |(programs, flags, _): &&(&str, &str, &str)| {
            programs.split(' ').any(|name| name == self.name)
                && flags.split(' ').any(|known| known == flag)
        };
        let advice = match INSTEAD.iter().find(is_meant) {
            Some((_, _, advice)) => advice,
            None => "leave it out",
        };
        self.refuse_flag(
            flag,
            &format!("is not among the flags that only read: {advice}"),
        )
    }

    pub(super) fn refuse_flag<T>(&self, flag: &str, why: &str) -> Result<T, Error> {
        refuse(
            ErrorCode::ShellFlag,
            format!("the flag {} of {} {why}", shown(flag), self.name),
        )
    }

    pub(super) fn check_value(&self, flag: &str, takes: Takes, value: &str) -> Result<(), Error> {
        let (fits, why) = match takes {
            Number | JoinedNumber | MaybeNumber => (is_number(value), "needs a number"),
            Mode => (is_mode(value), "needs permissions, as -perm -644"),
            // A program that takes the flag for one without a value would take the next word for a flag.
            Path | PatternFile => (
                value == "-" || !value.starts_with('-'),
                "needs a path: write ./ before one that begins with -",
            ),
            _ => (true, ""),
        };
        if fits {
            return Ok(());
        }
        self.refuse_flag(flag, why)
    }

    pub(super) fn refuse_input<T>(&self) -> Result<T, Error> {
        refuse(
            ErrorCode::ShellStdin,
            format!("there is no input for {} to read: name a file", self.name),
        )
    }
}

/// Digits with a sign and a unit, as `-7`, `+10k`, `1.5`; a unit alone is one of it.
fn is_number(text: &str) -> bool {
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    let has_digit = number.starts_with(|c: char| c.is_ascii_digit());
    let is_part = |c: char| c.is_ascii_digit() || ".bcwkKMGTPEZYRQBi".contains(c);
    !number.is_empty() && number.chars().all(is_part) && (has_digit || number.len() == text.len())
}

/// What `-perm` takes. No flag that does anything is made of these.
fn is_mode(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| "01234567ugoarwxXst+=,-/".contains(c))
}
