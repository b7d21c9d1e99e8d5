//! Dreaming over a large store and long transcripts, in a process of its own, and what a turn pays when it is not
//! time for it.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use memdir_core::dream::{Awake, DreamOptions, DreamOutcome};
use memdir_core::flow::{Effect, Outcome};
use memdir_core::model::ModelOptions;
use memdir_core::rules::project_slug;
use memdir_core::store::{Features, OpenOptions, Store};
use memdir_simulation::{call, turn};
use serde_json::{Value, json};

use crate::{Row, memory, store, transcript};

/// The word that makes this program dream once and print what it took.
pub const DREAMER: &str = "dream-once";
pub const MEMORIES: usize = 1_000;
pub const TRANSCRIPTS: u64 = 20;
/// Of all transcripts together.
pub const BYTES: u64 = 200_000_000;
/// Questions whether it is time, for one sample.
const CALLS: u32 = 1_000;

/// What dreaming took.
pub struct Dreamt {
    pub ms: f64,
    /// The most that the process held in memory; 0 where the system does not say.
    pub peak: usize,
    pub improved: usize,
}

/// A project with memories and transcripts: the folder of the program, of the store, and what the environment says.
struct Project {
    code: PathBuf,
    store: PathBuf,
    config: PathBuf,
}

impl Project {
    fn at(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let code = folder.join("code");
        let name = project_slug(code.to_str().ok_or("a path that is text")?);
        let config = folder.join("config");
        let store = config.join("projects").join(name).join("memory");
        Ok(Self {
            code,
            store,
            config,
        })
    }

    fn open(&self, model: bool) -> Result<Store, Box<dyn Error>> {
        let text = |path: &Path| {
            path.to_str()
                .map(str::to_owned)
                .ok_or("a path that is text")
        };
        let options = OpenOptions {
            cwd: Some(text(&self.code)?),
            directory: Some(text(&self.store)?),
            env: BTreeMap::from([("CLAUDE_CONFIG_DIR".to_owned(), text(&self.config)?)]),
            features: Features {
                dream: true,
                ..Features::default()
            },
            model: model.then(|| ModelOptions {
                name: "function".to_owned(),
                api_key: None,
                base_url: None,
            }),
            ..OpenOptions::default()
        };
        Ok(Store::new(options))
    }
}

/// Makes the project, and lets it be dreamt over twice by Rust and twice by Node; gives the smaller peaks.
pub fn measure(root: &Path, folder: &Path) -> Result<[(&'static str, Dreamt); 2], Box<dyn Error>> {
    let project = Project::at(folder)?;
    std::fs::create_dir_all(&project.code)?;
    store::create(&project.store, MEMORIES)?;
    let sessions = project.store.parent().ok_or("it lies in a folder")?;
    for number in 0..TRANSCRIPTS {
        let path = sessions.join(format!("session-{number:02}.jsonl"));
        transcript::create(&path, BYTES / TRANSCRIPTS)?;
    }
    let native = || {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(DREAMER).arg(folder);
        least(command)
    };
    let node = || {
        let mut command = Command::new("node");
        command.arg(root.join("benches/dream.mjs"));
        command.args([&project.code, &project.store, &project.config]);
        least(command)
    };
    Ok([("native", native()?), ("in Node", node()?)])
}

/// What a command that dreams once and prints `[ms, peak, improved]` takes, the less of two runs.
fn least(mut command: Command) -> Result<Dreamt, Box<dyn Error>> {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let output = command.output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        let (ms, peak, improved) = serde_json::from_slice(&output.stdout)?;
        runs.push(Dreamt { ms, peak, improved });
    }
    runs.sort_by_key(|run| run.peak);
    runs.into_iter().next().ok_or("it was dreamt".into())
}

/// Dreams over the project in a folder, takes it back, and gives what [`least`] takes, as JSON.
pub fn once(folder: &str) -> Result<String, Box<dyn Error>> {
    let project = Project::at(Path::new(folder))?;
    let opened = project.open(true)?;
    let start = Instant::now();
    let mut turns = script(&project)?.into_iter();
    let mut dream = opened.dream(DreamOptions {
        force: true,
        ..DreamOptions::default()
    });
    let dreamt = memdir_host::drive(&mut dream, |request| match &request.effect {
        Effect::Model { .. } => {
            let turn = turns.next().unwrap_or_else(|| json!("Done."));
            Outcome::Text(turn.to_string())
        }
        effect => memdir_host::perform(effect),
    })?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let taken = (ms, memory::peak(), dreamt.improved.len());
    if dreamt.outcome != DreamOutcome::Done || dreamt.improved.len() != 20 {
        return Err(format!("{dreamt:?}").into());
    }
    store::run(&mut opened.undo_dream())?;
    Ok(serde_json::to_string(&taken)?)
}

/// What the model does: it looks for words in the memories and in all transcripts, some of them on every line, then
/// reads twenty memories and edits them.
fn script(project: &Project) -> Result<Vec<Value>, Box<dyn Error>> {
    let sessions = project.store.parent().ok_or("it lies in a folder")?;
    let grep = |pattern: &str, folder: &Path, mode: &str| {
        call(
            "Grep",
            &json!({"pattern": pattern, "path": folder, "output_mode": mode}),
        )
    };
    let mut turns = vec![turn(&[
        grep("topic", &project.store, "files_with_matches"),
        grep("whole suite", &project.store, "content"),
    ])];
    for (pattern, mode) in [
        ("\\\\\"whole\\\\\" suite", "content"),
        ("toolu_1[0-9]*7\"", "count"),
        ("never said by anybody", "content"),
    ] {
        turns.push(turn(&[grep(pattern, sessions, mode)]));
    }
    let mut paths = std::fs::read_dir(&project.store)?
        .map(|entry| Ok(entry?.path()))
        .filter(|path: &std::io::Result<PathBuf>| {
            path.as_ref()
                .is_ok_and(|path| path.extension().is_some_and(|ending| ending == "md"))
        })
        .collect::<std::io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    paths.truncate(20);
    let read = paths
        .iter()
        .map(|path| call("Read", &json!({"file_path": path})));
    turns.push(turn(&read.collect::<Vec<_>>()));
    let edit = paths.iter().map(|path| {
        let (old, new) = (
            "description: What to know",
            "description: All there is to know",
        );
        call(
            "Edit",
            &json!({"file_path": path, "old_string": old, "new_string": new}),
        )
    });
    turns.push(turn(&edit.collect::<Vec<_>>()));
    Ok(turns)
}

/// Asks whether it is time to dream, an hour after the last time.
pub fn closed(root: &Path, folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let project = Project::at(folder)?;
    std::fs::create_dir_all(&project.code)?;
    store::create(&project.store, 1)?;
    std::fs::write(project.store.join(".consolidate-lock"), "")?;
    let opened = project.open(false)?;
    let ask = || store::run(&mut opened.dream(DreamOptions::default()));
    if ask()?.reason != Some(Awake::TooSoon) {
        return Err("it was to be too soon".into());
    }
    let start = Instant::now();
    for _ in 0..CALLS {
        ask()?;
    }
    let ms = start.elapsed().as_secs_f64() * 1e3 / f64::from(CALLS);
    let output = Command::new("node")
        .arg(root.join("benches/dream.mjs"))
        .args([&project.code, &project.store, &project.config])
        .arg(CALLS.to_string())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let node: f64 = serde_json::from_slice(&output.stdout)?;
    Ok(vec![("native".to_owned(), ms), ("Node".to_owned(), node)])
}
