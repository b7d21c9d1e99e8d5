//! A PostgreSQL that lives as long as the test: in a temporary folder, at a socket of its own, as a user
//! without rights.

use std::io::Write;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::bed::{Folder, temporary};

/// One server of databases.
pub struct Postgres {
    programs: PathBuf,
    folder: Folder,
    user: Option<(u32, u32)>,
    running: Option<Child>,
}

static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// The server that all tests share; none where there is no PostgreSQL.
pub fn shared() -> Option<&'static Postgres> {
    SHARED.get_or_init(Postgres::start).as_ref()
}

impl Postgres {
    /// Starts one, or says loudly that there is none.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            // Not `eprintln!`, which is shown for failed tests only.
            let line = "\nSKIPPED: there is no PostgreSQL (initdb, postgres) on the PATH, \
                so nothing is tested with it\n";
            std::io::stderr().write_all(line.as_bytes()).unwrap();
            return None;
        };
        let user = unprivileged();
        let folder = temporary();
        if let Some((uid, gid)) = user {
            chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        let mut postgres = Self {
            programs,
            folder,
            user,
            running: None,
        };
        let data = postgres.data();
        let mut initdb = postgres.command("initdb");
        initdb.args([
            "--no-sync",
            "-A",
            "trust",
            "-U",
            "memdir",
            "-E",
            "UTF8",
            "-D",
        ]);
        let made = initdb.arg(data).output().unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        postgres.run();
        Some(postgres)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        self.prepared(self.programs.join(program))
    }

    fn prepared(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        command
    }

    /// Starts it again after [`Postgres::stop`]. A shell watches over it: when the tests end, however,
    /// its standard input ends, and with that the database.
    pub fn run(&mut self) {
        let script = "\"$@\" >log 2>&1 & server=$!
            if read -r _; then again=yes; fi
            kill -INT $server; wait $server
            if [ -z \"$again\" ]; then folder=$PWD; cd / && rm -rf \"$folder\"; fi";
        let mut shell = self.prepared("sh");
        shell.args(["-c", script, "sh"]);
        shell
            .arg(self.programs.join("postgres"))
            .arg("-D")
            .arg(self.data());
        shell.arg("-k").arg(self.folder.path());
        shell.args([
            "-c",
            "listen_addresses=",
            "-c",
            "fsync=off",
            "-c",
            "max_connections=200",
            "-c",
            "wal_level=minimal",
            "-c",
            "max_wal_senders=0",
            "-c",
            "max_wal_size=64MB",
        ]);
        let child = shell.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        self.running = Some(child.unwrap());
        let start = Instant::now();
        while self.psql("SELECT 1").is_err() {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "it does not start"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends it; all connections break.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.running.take() {
            // A line says that it will run again; without one the folder goes, too.
            child.stdin.take().unwrap().write_all(b"\n").unwrap();
            child.wait().unwrap();
        }
    }

    /// Holds all connections of servers of ours, as a machine does that is cut off.
    pub fn hold(&self) -> Held {
        let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'memdir-team-server'";
        let held = Held(self.psql(sql).unwrap());
        assert!(held.signal("STOP"), "{}", held.0);
        held
    }

    fn psql(&self, sql: &str) -> Result<String, String> {
        let mut psql = self.command("psql");
        psql.arg("-h").arg(self.folder.path());
        psql.args(["-U", "memdir", "-d", "postgres", "-Atc", sql]);
        let output = psql.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        match output.status.success() {
            true => Ok(text(output.stdout)),
            false => Err(text(output.stderr)),
        }
    }

    /// The address of a new database.
    pub fn database(&self) -> String {
        let name = format!("team_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        self.psql(&format!("CREATE DATABASE {name}")).unwrap();
        let host = self.folder.path().display();
        format!("postgres://memdir@localhost/{name}?host={host}")
    }
}

/// Connections that hang, as long as this lives: held, they would not even end.
pub struct Held(String);

impl Held {
    fn signal(&self, name: &str) -> bool {
        let mut kill = Command::new("kill");
        kill.args(["-s", name]).args(self.0.split_whitespace());
        kill.status().unwrap().success()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.signal("CONT");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The folder of the programs: on the PATH, or where Debian keeps them.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let debian = debian.flatten().map(|version| version.path().join("bin"));
    let is_whole = |folder: &PathBuf| {
        let names = ["initdb", "postgres", "psql"];
        names.iter().all(|name| folder.join(name).exists())
    };
    std::env::split_paths(&path).chain(debian).find(is_whole)
}

/// PostgreSQL refuses to run as root; somebody of whom every system has one does.
fn unprivileged() -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    if std::fs::metadata(Path::new("/proc/self")).is_ok_and(|data| data.uid() != 0) {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let ids = |name: &str| {
        let line = users
            .lines()
            .find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    ids("postgres").or_else(|| ids("nobody"))
}
