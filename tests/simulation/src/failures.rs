//! The failures of a simulated disk, worded as POSIX words them.

use memdir_core::flow::{Failure, FailureCode};

/// Everything that an effect can fail with.
pub const FAILURES: [FailureCode; 20] = [
    FailureCode::NotFound,
    FailureCode::Exists,
    FailureCode::Permission,
    FailureCode::ReadOnly,
    FailureCode::NoSpace,
    FailureCode::NotADirectory,
    FailureCode::IsADirectory,
    FailureCode::NotEmpty,
    FailureCode::Loop,
    FailureCode::NameTooLong,
    FailureCode::InvalidName,
    FailureCode::TooLarge,
    FailureCode::TooManyOpen,
    FailureCode::CrossDevice,
    FailureCode::Busy,
    FailureCode::Unsupported,
    FailureCode::Timeout,
    FailureCode::Network,
    FailureCode::Aborted,
    FailureCode::Other,
];

/// What every operation gives.
pub(crate) type Answer<T> = Result<T, Failure>;

/// A failure with the usual words of its code.
pub(crate) fn fail<T>(code: FailureCode) -> Answer<T> {
    let words = match code {
        FailureCode::NotFound => "no such file or directory",
        FailureCode::Exists => "file exists",
        FailureCode::Permission => "permission denied",
        FailureCode::NotADirectory => "not a directory",
        FailureCode::IsADirectory => "is a directory",
        FailureCode::NotEmpty => "directory not empty",
        FailureCode::Loop => "too many levels of symbolic links",
        FailureCode::NameTooLong => "file name too long",
        FailureCode::InvalidName => "the name is not UTF-8 or holds a NUL",
        FailureCode::TooLarge => "larger than asked for",
        FailureCode::Unsupported => "this host cannot do it",
        FailureCode::Timeout => "no answer in time",
        FailureCode::Network => "connection lost",
        FailureCode::Aborted => "stopped",
        _ => "input/output error",
    };
    Err(Failure::new(code, words))
}
