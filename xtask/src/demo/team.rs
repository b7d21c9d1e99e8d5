//! The part about a team: a server of its own, and two folders that share memory through it, each with
//! another package. What arrives is compared byte for byte, and the server says who wrote it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::{Place, Way, copy_folder, show, text};
use crate::layout::{self, Layout};
use crate::run::{self, Printed, Result};

const REPOSITORY: &str = "acme/app";
const NOTE: [&str; 7] = [
    "save",
    "--scope",
    "team",
    "--type",
    "project",
    "--name",
    "Written by Ben",
];

/// Two mates share the sample's team memories and a new one. Gives how many outputs were compared.
pub fn share(layout: &Layout, ways: &[Way]) -> Result<usize> {
    let [one, other, ..] = ways else {
        return Err("two packages are needed to share something".into());
    };
    let folder = layout.path(".cache/demo/team");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    copy_folder(
        &layout.path("demo/store/team"),
        &folder.join("ada/team"),
        &mut Vec::new(),
    )?;
    std::fs::create_dir_all(folder.join("ben"))?;
    let program = layout.path("dist/memdir-team-server");
    let data = folder.join("team.db");
    let tokens = ["ada", "ben"].map(|name| token(&program, &data, name));
    let server = Server::start(&program, &data)?;
    let [ada_token, ben_token] = tokens;
    let ada = Mate {
        way: one,
        folder: folder.join("ada"),
        shown: "ada",
        token: ada_token?,
    };
    let ben = Mate {
        way: other,
        folder: folder.join("ben"),
        shown: "ben",
        token: ben_token?,
    };

    ada.sync(&server, "sent: feedback_commits.md")?;
    ben.sync(&server, "received: feedback_commits.md")?;
    let saved = ben.run(&server, &NOTE, Some("What Ben has learned.\n"))?;
    ben.shows(&NOTE, &saved);
    ben.sync(&server, "sent: project_written_by_ben.md")?;
    ada.sync(&server, "received: project_written_by_ben.md")?;
    let words = ["show", "team/project_written_by_ben.md"];
    let shown = ada.run(&server, &words, None)?;
    ada.shows(&words[..], &shown);

    let (ours, theirs) = (ada.memories()?, ben.memories()?);
    if ours != theirs || ours.len() < 4 {
        return Err("the two folders do not hold the same team memories".into());
    }
    authors(&program, &data)?;
    Ok(2 * ours.len())
}

/// Somebody with a folder, a package and a token.
struct Mate<'a> {
    way: &'a Way,
    folder: PathBuf,
    shown: &'static str,
    token: String,
}

impl Mate<'_> {
    fn place(&self) -> Result<Place<'_>> {
        Ok(Place {
            shown: self.shown,
            ..Place::store(text(&self.folder)?.as_ref())?
        })
    }

    /// What their package prints. `input` is what it reads.
    fn run(&self, server: &Server, words: &[&str], input: Option<&str>) -> Result<Printed> {
        let place = self.place()?;
        let mut command = (self.way.program)(&place);
        command.args(words).args(place.option);
        command.env("MEMDIR_TEAM_URL", &server.address);
        command.env("MEMDIR_TEAM_TOKEN", &self.token);
        if let Some(input) = input {
            let file = self.folder.with_extension("input");
            layout::write(&file, input)?;
            command.stdin(std::fs::File::open(file)?);
        }
        run::output(&mut command)
    }

    fn shows(&self, words: &[&str], printed: &Printed) {
        if let Ok(place) = self.place() {
            show(words, &place, printed, usize::MAX);
        }
    }

    fn sync(&self, server: &Server, wanted: &str) -> Result<()> {
        let words = ["team", "sync", "--repo", REPOSITORY];
        let printed = self.run(server, &words, None)?;
        self.shows(&words, &printed);
        if printed.stdout.lines().any(|line| line == wanted) {
            Ok(())
        } else {
            Err(format!(
                "`memdir team sync` of {} did not say `{wanted}`",
                self.shown
            )
            .into())
        }
    }

    /// Name and text of everything that is shared.
    fn memories(&self) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
        let mut memories = BTreeMap::new();
        for entry in std::fs::read_dir(self.folder.join("team"))? {
            let path = entry?.path();
            if path.is_file() {
                let name = path.file_name().unwrap_or_default();
                memories.insert(name.into(), layout::read(&path)?);
            }
        }
        Ok(memories)
    }
}

/// The server, until this is dropped.
struct Server {
    address: String,
    child: Child,
}

impl Server {
    fn start(program: &Path, data: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let log = child.stdout.take();
        let mut server = Self {
            address: String::new(),
            child,
        };
        let mut lines = BufReader::new(log.ok_or("the server has no log")?).lines();
        let named = |line: String| {
            let (_, rest) = line.split_once("\"address\":\"")?;
            rest.split('"').next().map(str::to_owned)
        };
        let address = lines.by_ref().map_while(|line| line.ok()).find_map(named);
        server.address = address.ok_or("the team server does not start")?;
        // It would wait for somebody who reads its log.
        std::thread::spawn(move || lines.map_while(|line| line.ok()).for_each(drop));
        println!("$ memdir-team-server --data team.db &\n");
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its data are thrown away before the next demo.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A new token, which is not shown.
fn token(program: &Path, data: &Path, name: &str) -> Result<String> {
    let words = [
        "token", "create", "--name", name, "--repo", REPOSITORY, "--write",
    ];
    let mut command = Command::new(program);
    let printed = run::output(command.args(words).arg("--data").arg(data))?;
    println!(
        "$ memdir-team-server {} --data team.db\n    mdt_...\n",
        words.join(" ")
    );
    Ok(printed.stdout.trim_end().to_owned())
}

/// Shows who wrote what, without the times, which are others in every run.
fn authors(program: &Path, data: &Path) -> Result<()> {
    let words = ["history", REPOSITORY];
    let mut command = Command::new(program);
    let printed = run::output(command.args(words).arg("--data").arg(data))?;
    println!(
        "$ memdir-team-server {} --data team.db | cut -f 1,3,5",
        words.join(" ")
    );
    let mut authors = Vec::new();
    for line in printed.stdout.lines() {
        let mut fields = line.split('\t').step_by(2);
        if let (Some(version), Some(author), Some(key)) =
            (fields.next(), fields.next(), fields.next())
        {
            println!("    {version}\t{author}\t{key}");
            authors.push(author.to_owned());
        }
    }
    println!();
    let wrote = |name: &str| authors.iter().any(|author| author == name);
    if wrote("ada") && wrote("ben") {
        Ok(())
    } else {
        Err("the history does not name both who wrote".into())
    }
}
