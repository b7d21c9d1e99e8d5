//! The generated stores, and memdir's own flows over them.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use memdir_core::flow::Flow;
use memdir_core::store::{Features, OpenOptions, Opened, Recall, RecallOptions, Scan, Store};

use crate::text;

/// Size of each memory.
pub const FILE_BYTES: usize = 3000;
/// Memories that a scan returns at most.
const SCANNED: usize = 200;

/// Writes memories in the shape that agents write them today: flat keys and a nested type. They
/// are old enough that a scan may trust what it knows of them.
pub fn create(folder: &Path, files: usize) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let types = ["user", "feedback", "project", "reference"];
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    for (number, kind) in (0..files).zip(types.into_iter().cycle()) {
        let mut memory = format!(
            "---\nname: {kind}-topic-{number}\ndescription: What to know about topic {number}, in one line of the usual length\n\
             metadata:\n  node_type: memory\n  type: {kind}\n  modified: 2026-03-15T10:30:00.000Z\n---\n\n"
        );
        while memory.len() < FILE_BYTES {
            memory.push_str("The rule is to run the whole suite before a change is proposed.\n");
        }
        memory.truncate(FILE_BYTES);
        let path = folder.join(format!("{kind}_topic_{number:05}.md"));
        std::fs::write(&path, memory)?;
        std::fs::File::options()
            .write(true)
            .open(&path)?
            .set_modified(old)?;
    }
    Ok(())
}

/// Which lines of the recall fixture make up a store.
#[derive(Clone, Copy)]
pub enum Scripts {
    /// Those of ASCII letters.
    Latin,
    /// All of them: a third of the bytes is Chinese, Japanese, Korean, Thai and Hindi.
    All,
}

impl Scripts {
    /// What the store is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Latin => "in English",
            Self::All => "in many scripts",
        }
    }
}

/// Writes memories whose bodies are lines of the recall fixture in a mixed order: as many different
/// words as people use, and some that stand nowhere else.
pub fn create_varied(
    fixture: &Path,
    folder: &Path,
    files: usize,
    scripts: Scripts,
) -> Result<(), Box<dyn Error>> {
    let mut lines = Vec::new();
    let mut names: Vec<PathBuf> = Vec::new();
    for folder in [fixture.to_owned(), fixture.join("team")] {
        for entry in std::fs::read_dir(folder)? {
            names.push(entry?.path());
        }
    }
    names.retain(|name| name.extension().is_some_and(|ending| ending == "md") && name.is_file());
    names.sort();
    for name in names {
        let text = std::fs::read_to_string(name)?;
        let all = matches!(scripts, Scripts::All);
        let fits = |line: &&str| line.len() > 20 && (all || line.is_ascii());
        lines.extend(text.lines().filter(fits).map(str::to_owned));
    }
    std::fs::create_dir_all(folder)?;
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    // A linear congruential generator: the same store every time.
    let mut random = 1_u64;
    for number in 0..files {
        let mut memory =
            format!("---\nname: note-{number}\ndescription: Note {number}\ntype: project\n---\n\n");
        while memory.len() < FILE_BYTES {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(random >> 33)? % lines.len().max(1);
            memory.push_str(lines.get(at).map_or("", String::as_str));
            // Now and then a word that stands nowhere else, as numbers and names do.
            if random >> 60 < 4 {
                memory.push_str(&format!(" ticket-{number}-{}", random >> 52));
            }
            memory.push('\n');
        }
        let path = folder.join(format!("note_{number:05}.md"));
        std::fs::write(&path, memory)?;
        let age = std::time::Duration::from_secs(60 * u64::try_from(number)?);
        std::fs::File::options()
            .write(true)
            .open(&path)?
            .set_modified(old - age)?;
    }
    Ok(())
}

/// One recall by words.
pub fn recall(store: &Store, query: &str) -> Result<Recall, Box<dyn Error>> {
    run(&mut store.recall(query.to_owned(), RecallOptions::default()))
}

/// A project with a git folder and three settings files; gives its config home.
pub fn create_project(project: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let config = project.join("config");
    for folder in [
        project.join(".git"),
        project.join(".claude"),
        config.clone(),
    ] {
        std::fs::create_dir_all(folder)?;
    }
    let settings = "{\"autoMemoryEnabled\": true, \"permissions\": {\"allow\": [\"Bash(git:*)\"]}}";
    for file in [
        ".claude/settings.json",
        ".claude/settings.local.json",
        "config/settings.json",
    ] {
        std::fs::write(project.join(file), settings)?;
    }
    Ok(config)
}

/// The store in a folder, not yet opened.
pub fn at(folder: &Path) -> Result<Store, Box<dyn Error>> {
    let features = Features {
        count_uses: false,
        ..Features::default()
    };
    Ok(Store::new(OpenOptions {
        directory: Some(text(folder)?),
        features,
        ..OpenOptions::default()
    }))
}

/// One scan through the flow and the native host.
pub fn scan(store: &Store) -> Result<Scan, Box<dyn Error>> {
    let scan = run(&mut store.scan())?;
    if scan.memories.len() != SCANNED {
        return Err("the scan did not find the store's memories".into());
    }
    Ok(scan)
}

/// Finds the store of a project.
pub fn open(project: &Path, config: &Path) -> Result<Opened, Box<dyn Error>> {
    let env = BTreeMap::from([("CLAUDE_CONFIG_DIR".to_owned(), text(config)?)]);
    let options = OpenOptions {
        cwd: Some(text(project)?),
        env,
        ..OpenOptions::default()
    };
    run(&mut Store::new(options).open())
}

/// Runs a flow over the native host.
pub fn run<T: Send + 'static>(flow: &mut Flow<T>) -> Result<T, Box<dyn Error>> {
    Ok(memdir_host::drive(flow, |request| {
        memdir_host::perform(&request.effect)
    })?)
}
