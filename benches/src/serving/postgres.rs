//! A PostgreSQL for one measurement, in a temporary folder and at a socket of its own, with the settings
//! that it has by itself: what it acknowledges is on the disk.

use std::error::Error;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One that runs until it is dropped.
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    user: Option<(u32, u32)>,
}

impl Postgres {
    /// Starts one in a new folder; none where it is not installed.
    pub fn start(folder: &Path) -> Result<Option<Self>, Box<dyn Error>> {
        let Some(programs) = programs() else {
            return Ok(None);
        };
        std::fs::create_dir_all(folder)?;
        let user = unprivileged(folder)?;
        if let Some((uid, gid)) = user {
            chown(folder, Some(uid), Some(gid))?;
        }
        let postgres = Self {
            programs,
            folder: folder.to_owned(),
            user,
        };
        let sockets = folder.display();
        postgres.run("initdb", &["-A", "trust", "-U", "memdir", "-E", "UTF8"])?;
        let options = format!("-k {sockets} -c listen_addresses=");
        postgres.run("pg_ctl", &["-w", "-l", "log", "-o", &options, "start"])?;
        Ok(Some(postgres))
    }

    /// The address of its database.
    pub fn address(&self) -> String {
        format!(
            "postgres://memdir@localhost/postgres?host={}",
            self.folder.display()
        )
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
        let mut command = Command::new(self.programs.join(program));
        command
            .current_dir(&self.folder)
            .arg("-D")
            .arg(self.folder.join("data"))
            .args(arguments);
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        // What stays behind holds on to what it was given, so it is given nothing.
        command.stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::null());
        let status = command.status()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("{program} ended with {status}").into())
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The measurement is over; where this fails, whoever measures sees what is left.
        let _ = self.run("pg_ctl", &["-m", "fast", "stop"]);
    }
}

/// The folder of the programs: on the PATH, or where Debian keeps them.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql");
    let debian = debian.into_iter().flatten().flatten();
    let debian = debian.map(|version| version.path().join("bin"));
    let is_whole = |folder: &PathBuf| {
        let mut names = ["initdb", "postgres", "pg_ctl"].into_iter();
        names.all(|name| folder.join(name).exists())
    };
    std::env::split_paths(&path).chain(debian).find(is_whole)
}

/// PostgreSQL refuses to run as root; somebody of whom every system has one does.
fn unprivileged(folder: &Path) -> Result<Option<(u32, u32)>, Box<dyn Error>> {
    if std::fs::metadata(folder)?.uid() != 0 {
        return Ok(None);
    }
    let users = std::fs::read_to_string("/etc/passwd")?;
    let ids = |name: &str| {
        let mut lines = users.lines().map(|line| line.split(':'));
        let mut fields = lines
            .find(|line| line.clone().next() == Some(name))?
            .skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let user = ids("postgres").or_else(|| ids("nobody"));
    Ok(Some(
        user.ok_or("there is neither a user postgres nor nobody")?,
    ))
}
