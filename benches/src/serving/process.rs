//! The server as a process: where it listens, and what the system says that it uses.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What Linux counts the time of processes in.
const TICK: Duration = Duration::from_millis(10);

/// One that runs until it is dropped.
pub struct Process {
    /// Host and port.
    pub address: String,
    program: PathBuf,
    data: Vec<String>,
    child: Child,
}

impl Process {
    /// Starts one on a free port; returns when it listens.
    pub fn start(program: &Path, data: &[&str]) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(program)
            .args(data)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let log = child.stdout.take().ok_or("there is no log")?;
        let mut process = Self {
            address: String::new(),
            program: program.to_owned(),
            data: data.iter().map(|word| (*word).to_owned()).collect(),
            child,
        };
        let mut lines = BufReader::new(log).lines();
        let named = |line: String| {
            let (_, rest) = line.split_once("\"address\":\"http://")?;
            rest.split('"').next().map(str::to_owned)
        };
        let address = lines.by_ref().map_while(Result::ok).find_map(named);
        process.address = address.ok_or("the server does not start")?;
        // It would wait for somebody who reads its log.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Ok(process)
    }

    /// A token for everything.
    pub fn token(&self, name: &str) -> Result<String, Box<dyn Error>> {
        let made = Command::new(&self.program)
            .args(["token", "create", "--name", name, "--repo", "*", "--write"])
            .args(&self.data)
            .output()?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into());
        }
        Ok(String::from_utf8(made.stdout)?.trim().to_owned())
    }

    /// The time that it has computed.
    pub fn cpu(&self) -> Result<Duration, Box<dyn Error>> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, fields) = text.rsplit_once(") ").ok_or("its state cannot be read")?;
        // User and system, the 14th and 15th field of all.
        let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u32>);
        Ok(TICK * ticks.sum::<Result<u32, _>>()?)
    }

    /// The most memory that it ever had, in bytes.
    pub fn most_held(&self) -> Result<usize, Box<dyn Error>> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        Ok(kilobytes
            .ok_or("its memory is not told")?
            .parse::<usize>()?
            * 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has done its work; nothing follows from how it ends.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
