//! Which stable code an error of the operating system becomes.

use std::io::{Error, ErrorKind};

use memdir_core::flow::{Failure, FailureCode};

/// The failure with the system's own words.
#[must_use]
pub fn failure(error: &Error) -> Failure {
    Failure::new(failure_code(error), words(error))
}

/// The code alone.
#[must_use]
pub fn failure_code(error: &Error) -> FailureCode {
    by_number(error).unwrap_or_else(|| by_kind(error))
}

/// std appends the number of the error, which says nothing to a person.
fn words(error: &Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}

/// What std has no stable kind for.
#[cfg(unix)]
fn by_number(error: &Error) -> Option<FailureCode> {
    use rustix::io::Errno;
    Some(match Errno::from_io_error(error)? {
        Errno::LOOP => FailureCode::Loop,
        Errno::NAMETOOLONG => FailureCode::NameTooLong,
        Errno::MFILE | Errno::NFILE => FailureCode::TooManyOpen,
        // Only a text that is no valid name for the file system gives this.
        Errno::ILSEQ => FailureCode::InvalidName,
        // Opening a socket, a FIFO without a reader, or a device without a driver.
        Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => FailureCode::Unsupported,
        _ => return None,
    })
}

/// WASI numbers, as `wasi_snapshot_preview1` and wasi-libc count them.
#[cfg(target_os = "wasi")]
fn by_number(error: &Error) -> Option<FailureCode> {
    Some(match error.raw_os_error()? {
        25 => FailureCode::InvalidName,
        32 => FailureCode::Loop,
        33 | 41 => FailureCode::TooManyOpen,
        37 => FailureCode::NameTooLong,
        55 => FailureCode::NotEmpty,
        // Not allowed by the sandbox.
        76 => FailureCode::Permission,
        _ => return None,
    })
}

#[cfg(not(any(unix, target_os = "wasi")))]
fn by_number(_: &Error) -> Option<FailureCode> {
    None
}

fn by_kind(error: &Error) -> FailureCode {
    match error.kind() {
        ErrorKind::NotFound => FailureCode::NotFound,
        ErrorKind::AlreadyExists => FailureCode::Exists,
        ErrorKind::PermissionDenied => FailureCode::Permission,
        ErrorKind::ReadOnlyFilesystem => FailureCode::ReadOnly,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FailureCode::NoSpace,
        ErrorKind::NotADirectory => FailureCode::NotADirectory,
        ErrorKind::IsADirectory => FailureCode::IsADirectory,
        ErrorKind::DirectoryNotEmpty => FailureCode::NotEmpty,
        ErrorKind::InvalidFilename => FailureCode::NameTooLong,
        ErrorKind::FileTooLarge => FailureCode::TooLarge,
        ErrorKind::CrossesDevices => FailureCode::CrossDevice,
        ErrorKind::ResourceBusy | ErrorKind::ExecutableFileBusy => FailureCode::Busy,
        ErrorKind::Unsupported | ErrorKind::TooManyLinks => FailureCode::Unsupported,
        ErrorKind::TimedOut => FailureCode::Timeout,
        // std refuses a NUL in a path before it asks the system.
        ErrorKind::InvalidInput if error.raw_os_error().is_none() => FailureCode::InvalidName,
        _ => FailureCode::Other,
    }
}

/// What every host says of something that exists and is not opened.
pub(crate) fn no_regular_file() -> Failure {
    Failure::new(
        FailureCode::Unsupported,
        "it is no regular file and was not opened",
    )
}

/// A folder where a file was wanted, in the words of the system.
pub(crate) fn is_a_directory() -> Failure {
    Failure::new(FailureCode::IsADirectory, "Is a directory")
}

/// What every host says of an answer that is not UTF-8.
pub(crate) fn not_utf8() -> Failure {
    Failure::new(FailureCode::InvalidName, "a name is not UTF-8")
}

/// The path, refused as std would when it holds a NUL: rustix takes that for any invalid argument.
#[cfg(unix)]
pub(crate) fn no_nul(path: &str) -> Result<&str, Failure> {
    if path.contains('\0') {
        return Err(Failure::new(
            FailureCode::InvalidName,
            "file name contained an unexpected NUL byte",
        ));
    }
    Ok(path)
}
