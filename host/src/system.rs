//! The machine itself: clock, random bytes, processes, and which machine it is.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use memdir_core::flow::{Bytes, Clock, Failure, FailureCode, HostInfo};
use memdir_core::paths::Platform;

/// The wall clock with the offset of the local zone.
pub(crate) fn now() -> Clock {
    let ms = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    };
    Clock {
        ms,
        offset_minutes: offset_minutes(),
    }
}

#[cfg(not(target_family = "wasm"))]
fn offset_minutes() -> i32 {
    chrono::Local::now()
        .offset()
        .local_minus_utc()
        .div_euclid(60)
}

/// A sandbox knows no zone.
#[cfg(target_family = "wasm")]
fn offset_minutes() -> i32 {
    0
}

/// The longest that something stoppable goes without looking whether it is to stop.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// What a stoppable effect answers when it was stopped.
pub(crate) fn aborted() -> Failure {
    Failure::new(FailureCode::Aborted, "the operation was cancelled")
}

/// Waits.
pub(crate) fn sleep(ms: u64, stopped: &dyn Fn() -> bool) -> Result<(), Failure> {
    let (start, whole) = (Instant::now(), Duration::from_millis(ms));
    loop {
        if stopped() {
            return Err(aborted());
        }
        let left = whole.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(LOOK));
    }
}

/// Random bytes of the operating system.
pub(crate) fn random(length: u32) -> Result<Bytes, Failure> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    getrandom::fill(&mut bytes).map_err(|error| {
        Failure::new(
            FailureCode::Other,
            format!("the system gives no random bytes: {error}"),
        )
    })?;
    Ok(Bytes(bytes))
}

/// Whether a process of this machine runs.
#[cfg(unix)]
pub(crate) fn process_alive(pid: u32) -> Result<bool, Failure> {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Ok(false);
    };
    // Somebody else's process may not be signalled, and runs.
    Ok(matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

#[cfg(not(unix))]
pub(crate) fn process_alive(_: u32) -> Result<bool, Failure> {
    Err(Failure::new(
        FailureCode::Unsupported,
        "this host cannot look at processes",
    ))
}

/// Who performs the effects.
pub(crate) fn host_info() -> HostInfo {
    HostInfo {
        host_id: host_id(),
        pid: (!cfg!(target_family = "wasm")).then(std::process::id),
        platform: if cfg!(windows) {
            Platform::Windows
        } else {
            Platform::Posix
        },
    }
}

/// Names the machine without telling its name. The formula is shared by all hosts, see
/// `tests/conformance/README.md`: two containers of one image differ in name and pid namespace,
/// and a pid of one means nothing in the other.
#[cfg(unix)]
fn host_id() -> String {
    use sha2::{Digest, Sha256};

    let machine = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let pids = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let text = format!(
        "memdir\n{}\n{name}\n{}",
        machine.trim(),
        pids.to_string_lossy()
    );
    hex(Sha256::digest(text.as_bytes()).iter())
}

/// Nothing tells machines apart here, so every process counts as its own and locks go by tokens.
#[cfg(not(unix))]
fn host_id() -> String {
    use std::sync::OnceLock;
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| hex(random(16).unwrap_or_default().0.iter()))
        .clone()
}

fn hex<'a>(bytes: impl Iterator<Item = &'a u8>) -> String {
    bytes.take(16).map(|byte| format!("{byte:02x}")).collect()
}
