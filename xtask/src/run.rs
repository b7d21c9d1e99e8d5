//! How a step runs: it says what it does, does it, and says how long it took. The first failure
//! ends the whole run.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// What every function of this tool returns; the message says what to do.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Announces a piece of work, does it, prints the elapsed time.
pub fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("==> {what}");
    // The terminal may be a pipe: the headline must precede what the step itself prints.
    std::io::stdout().flush()?;
    let start = Instant::now();
    let value = work()?;
    println!("    {:.1} s", start.elapsed().as_secs_f64());
    Ok(value)
}

/// Runs one program as a step; its output goes where ours goes.
pub fn run(what: &str, command: &mut Command) -> Result<()> {
    step(what, || check(command))
}

/// Runs one program as a step; what it prints is shown only when it fails.
pub fn run_silently(what: &str, command: &mut Command) -> Result<()> {
    step(what, || output(command).map(drop))
}

/// Runs one program without a headline; fails unless it ends with 0.
pub fn check(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| missing(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` ended with {status}", line(command)).into())
    }
}

/// What a program prints.
#[derive(Debug, PartialEq, Eq)]
pub struct Printed {
    pub stdout: String,
    pub stderr: String,
    /// What it ended with; none when it was killed.
    pub code: Option<i32>,
}

/// What a program prints; fails, showing it, unless the program ends with 0.
pub fn output(command: &mut Command) -> Result<Printed> {
    expect(printed(command)?, &[0], command)
}

/// The same, unless the program ended with none of `codes`.
pub fn expect(printed: Printed, codes: &[i32], command: &Command) -> Result<Printed> {
    if printed.code.is_some_and(|code| codes.contains(&code)) {
        return Ok(printed);
    }
    print!("{}{}", printed.stdout, printed.stderr);
    let end = printed
        .code
        .map_or("a signal".to_owned(), |code| code.to_string());
    Err(format!("`{}` ended with {end}", line(command)).into())
}

/// What a program prints, however it ends.
pub fn printed(command: &mut Command) -> Result<Printed> {
    let output = command.output().map_err(|error| missing(command, &error))?;
    let text = |bytes| {
        String::from_utf8(bytes)
            .map_err(|_| format!("`{}` printed text that is not UTF-8", line(command)))
    };
    Ok(Printed {
        stdout: text(output.stdout)?,
        stderr: text(output.stderr)?,
        code: output.status.code(),
    })
}

fn missing(command: &Command, error: &std::io::Error) -> String {
    let program = command.get_program().to_string_lossy();
    format!("cannot start `{program}`: {error}; install it or put it on the PATH")
}

/// The command line as a reader would type it: programs by their names.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
