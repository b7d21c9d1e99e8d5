//! Sharing a team's memories: what goes over the wire when little has changed, how long a sync takes beside
//! reading and hashing the files, and how fast they are hashed beside openssl.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use memdir_core::flow::{Effect, Flow, Outcome};
use memdir_core::store::{OpenOptions, Store};
use memdir_core::team::checksum;
use memdir_simulation::{Exchange, TeamServer, team_options};

use crate::samples::{ROUNDS, Samples};
use crate::{Row, store};

/// Memories of the team.
const FILES: usize = 1_000;
/// Of those, how many are changed.
const EDITED: usize = 3;
/// Bytes that are hashed.
const HASHED: usize = 256_000_000;

/// What a sync put on the wire.
pub struct Traffic {
    /// Method and status of each request.
    pub requests: Vec<String>,
    /// Bytes of the bodies that were uploaded.
    pub uploaded: usize,
}

/// What was measured of syncs.
pub struct Syncs {
    /// Nothing had changed.
    pub quiet: Traffic,
    /// Some files had.
    pub busy: Traffic,
    /// Their bytes.
    pub edited: usize,
    /// The time that it takes when nothing has changed, beside reading and hashing the files.
    pub rows: Vec<Row>,
}

/// Syncs a folder with a server that answers at once.
pub fn sync(folder: &Path) -> Result<Syncs, Box<dyn Error>> {
    let team = folder.join("team");
    store::create(&team, FILES)?;
    for entry in std::fs::read_dir(&team)? {
        // Those of type user would stay private.
        let path = entry?.path();
        let text = std::fs::read_to_string(&path)?;
        std::fs::write(&path, text.replace("type: user", "type: project"))?;
    }
    let server = TeamServer::default();
    let shared = Store::new(OpenOptions {
        directory: Some(folder.to_str().ok_or("the folder is not UTF-8")?.to_owned()),
        ..team_options()
    });
    run(&server, &mut shared.team_sync())?;
    let before = server.uploaded();
    let _ = server.requests();
    let traffic = |edit: &dyn Fn() -> Result<(), Box<dyn Error>>| {
        edit()?;
        let before = server.uploaded();
        run(&server, &mut shared.team_sync())?;
        Ok::<_, Box<dyn Error>>(Traffic {
            requests: server.requests(),
            uploaded: server.uploaded().saturating_sub(before),
        })
    };
    let quiet = traffic(&|| Ok(()))?;
    let mut edited = 0;
    let mut names: Vec<_> = std::fs::read_dir(&team)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    names.sort();
    names.truncate(EDITED);
    for path in &names {
        edited += std::fs::read(path)?.len() + "more\n".len();
    }
    let busy = traffic(&|| {
        for path in &names {
            let text = std::fs::read_to_string(path)?;
            std::fs::write(path, format!("{text}more\n"))?;
        }
        Ok(())
    })?;
    if before == 0 {
        return Err("the first sync has uploaded nothing".into());
    }
    let (mut floor, mut ours) = (Samples::default(), Samples::default());
    for _ in 0..ROUNDS / 3 {
        floor.time(|| list_and_hash(&team))?;
        ours.time(|| Ok(run(&server, &mut shared.team_sync())?))?;
    }
    let rows = vec![
        ("Rust loop: list, read, hash".to_owned(), floor.median_ms()),
        (
            "memdir in Rust, nothing changed".to_owned(),
            ours.median_ms(),
        ),
    ];
    Ok(Syncs {
        quiet,
        busy,
        edited,
        rows,
    })
}

fn run<T: Send + 'static>(
    server: &TeamServer,
    flow: &mut Flow<T>,
) -> Result<T, memdir_core::Error> {
    memdir_host::drive(flow, |request| match request.effect {
        Effect::Http {
            method,
            url,
            headers,
            body,
            ..
        } => Outcome::Http(server.answer(&Exchange {
            method,
            url,
            headers,
            body,
        })),
        other => memdir_host::perform(&other),
    })
}

fn list_and_hash(folder: &Path) -> Result<usize, Box<dyn Error>> {
    let mut total = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            total += checksum(&std::fs::read_to_string(path)?).len();
        }
    }
    Ok(total)
}

/// Rows of openssl reading and hashing a file, and of ours, with the reading and without.
pub fn hashing(folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let text = "0123456789abcdef".repeat(HASHED / 16);
    let file = folder.join("text");
    std::fs::write(&file, &text)?;
    let (mut openssl, mut ours, mut reading) =
        (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..ROUNDS / 15 {
        openssl.time(|| {
            let done = Command::new("openssl")
                .args(["dgst", "-sha256"])
                .arg(&file)
                .stdout(Stdio::null())
                .status();
            Ok(done.map(|status| usize::from(status.success()))?)
        })?;
        ours.time(|| Ok(checksum(&text).len()))?;
        reading.time(|| Ok(checksum(&std::fs::read_to_string(&file)?).len()))?;
    }
    Ok(vec![
        ("openssl dgst -sha256".to_owned(), openssl.median_ms()),
        ("checksum in Rust".to_owned(), ours.median_ms()),
        (
            "reading the file whole, and checksum in Rust".to_owned(),
            reading.median_ms(),
        ),
    ])
}
