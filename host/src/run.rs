//! Programs: started without a shell, with only the given environment, ended when they take too
//! long, and never waited for because of a pipe that a grandchild keeps open.

#[cfg(target_family = "wasm")]
pub(crate) use sandbox::run;

#[cfg(not(target_family = "wasm"))]
pub(crate) use native::run;

/// What a program may take.
#[derive(Debug)]
#[cfg_attr(
    target_family = "wasm",
    expect(dead_code, reason = "no program is run there")
)]
pub(crate) struct Limits {
    pub(crate) timeout_ms: u64,
    pub(crate) max_bytes: u64,
}

#[cfg(target_family = "wasm")]
mod sandbox {
    use memdir_core::flow::{Failure, FailureCode, Header, RunAnswer};

    use super::Limits;

    pub(crate) fn run(
        _: &[String],
        _: &str,
        _: &[Header],
        _: Option<&[u8]>,
        _: &Limits,
        _: &dyn Fn() -> bool,
    ) -> Result<RunAnswer, Failure> {
        Err(Failure::new(
            FailureCode::Unsupported,
            "this host cannot run programs",
        ))
    }
}

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::io::{Read, Write};
    use std::process::{Child, Command, ExitStatus, Stdio};
    use std::sync::mpsc::{Receiver, channel};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::{Duration, Instant};

    use memdir_core::flow::{Bytes, Failure, FailureCode, Header, RunAnswer};

    use super::Limits;
    use crate::failure::failure;
    use crate::system::{LOOK, aborted};

    /// How long a running program is first left alone; then twice as long, and so on.
    const FIRST_LOOK: Duration = Duration::from_micros(500);
    /// How long the output of a program that has ended may still take to arrive.
    const DRAIN: Duration = Duration::from_millis(500);

    const CHUNK_BYTES: usize = 65_536;

    /// Runs a program to its end.
    pub(crate) fn run(
        argv: &[String],
        cwd: &str,
        env: &[Header],
        stdin: Option<&[u8]>,
        limits: &Limits,
        stopped: &dyn Fn() -> bool,
    ) -> Result<RunAnswer, Failure> {
        let Some((program, arguments)) = argv.split_first() else {
            return Err(Failure::new(
                FailureCode::InvalidName,
                "no program is named",
            ));
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(cwd)
            .env_clear()
            .envs(env.iter().map(|variable| (&variable.name, &variable.value)))
            .stdin(if stdin.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        own_group(&mut command);
        let mut child = command.spawn().map_err(|error| failure(&error))?;
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), stdin.map(<[u8]>::to_vec)) {
            // A program that does not read its input breaks the pipe, which is its own business.
            std::thread::spawn(move || drop(pipe.write_all(&input)));
        }
        let stdout = Output::collect(child.stdout.take(), limits.max_bytes);
        let stderr = Output::collect(child.stderr.take(), limits.max_bytes);
        let status = match wait(&mut child, limits.timeout_ms, stopped) {
            Ok(status) => status,
            Err(failed) => {
                end(&mut child);
                return Err(failed);
            }
        };
        Ok(RunAnswer {
            exit_code: status.code(),
            stdout: stdout.take(),
            stderr: stderr.take(),
        })
    }

    /// What has arrived of one output stream.
    struct Output {
        kept: Arc<Mutex<Vec<u8>>>,
        ended: Receiver<()>,
    }

    impl Output {
        /// Reads a stream to its end, since a full pipe would stop the program, and keeps the
        /// first `max_bytes`.
        fn collect(pipe: Option<impl Read + Send + 'static>, max_bytes: u64) -> Self {
            let kept = Arc::new(Mutex::new(Vec::new()));
            let (end, ended) = channel::<()>();
            let keep = Arc::clone(&kept);
            let limit = usize::try_from(max_bytes).unwrap_or(usize::MAX);
            std::thread::spawn(move || {
                let mut chunk = vec![0; CHUNK_BYTES];
                let mut pipe = pipe;
                while let Some(count) = pipe.as_mut().and_then(|pipe| pipe.read(&mut chunk).ok())
                    && count > 0
                {
                    let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
                    let room = limit.saturating_sub(kept.len());
                    kept.extend(chunk.iter().take(count.min(room)));
                }
                drop(end);
            });
            Self { kept, ended }
        }

        /// All of it, or what there is when something else still holds the pipe.
        fn take(self) -> Bytes {
            let _ = self.ended.recv_timeout(DRAIN);
            Bytes(std::mem::take(
                &mut self.kept.lock().unwrap_or_else(PoisonError::into_inner),
            ))
        }
    }

    /// Until the program has ended, the time is up, or it is to stop.
    fn wait(
        child: &mut Child,
        timeout_ms: u64,
        stopped: &dyn Fn() -> bool,
    ) -> Result<ExitStatus, Failure> {
        let (start, limit) = (Instant::now(), Duration::from_millis(timeout_ms));
        let mut pause = FIRST_LOOK;
        loop {
            if let Some(status) = child.try_wait().map_err(|error| failure(&error))? {
                return Ok(status);
            }
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                let message = format!("the program did not end within {timeout_ms} ms");
                return Err(Failure::new(FailureCode::Timeout, message));
            }
            if stopped() {
                return Err(aborted());
            }
            std::thread::sleep(pause.min(left));
            pause = pause.saturating_mul(2).min(LOOK);
        }
    }

    /// A group of its own, so that what the program started ends with it.
    #[cfg(unix)]
    fn own_group(command: &mut Command) {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }

    #[cfg(unix)]
    fn end(child: &mut Child) {
        use rustix::process::{Pid, Signal, kill_process_group};
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = child.kill();
        let _ = child.wait();
    }

    #[cfg(not(unix))]
    fn own_group(_: &mut Command) {}

    #[cfg(not(unix))]
    fn end(child: &mut Child) {
        let _ = child.kill();
        let _ = child.wait();
    }
}
