//! The floors: what any program must do that wants to know the same.

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Lists, and per file opens, reads 4 KB, asks for its size and time, closes. Gives the bytes read.
pub fn list_and_read_heads(folder: &Path) -> Result<usize, Box<dyn Error>> {
    let mut total = 0;
    let mut head = vec![0; 4096];
    for entry in std::fs::read_dir(folder)? {
        let mut file = File::open(entry?.path())?;
        total += file.read(&mut head)?;
        std::hint::black_box(file.metadata()?.modified()?);
    }
    Ok(total)
}

/// Lists, and per file opens, reads all, closes. Gives the bytes read.
pub fn list_and_read(folder: &Path) -> Result<usize, Box<dyn Error>> {
    let mut total = 0;
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            all.clear();
            total += File::open(entry.path())?.read_to_end(&mut all)?;
        }
    }
    Ok(total)
}

/// Lists, and asks for the size and time of every entry. Gives the bytes of all.
pub fn list_and_stat(folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut total = 0;
    for entry in std::fs::read_dir(folder)? {
        let metadata = entry?.metadata()?;
        std::hint::black_box(metadata.modified()?);
        total += metadata.len();
    }
    Ok(total)
}

/// Asks for the git folder and reads the settings files that are there. Gives the bytes read.
pub fn look_for_settings(project: &Path, config: &Path) -> Result<usize, Box<dyn Error>> {
    std::hint::black_box(std::fs::metadata(project.join(".git"))?);
    let settings = [
        Path::new("/etc/claude-code/managed-settings.json").to_owned(),
        Path::new("/Library/Application Support/ClaudeCode/managed-settings.json").to_owned(),
        project.join(".claude/settings.local.json"),
        project.join(".claude/settings.json"),
        config.join("settings.json"),
    ];
    Ok(settings
        .iter()
        .filter_map(|path| std::fs::read(path).ok())
        .map(|bytes| bytes.len())
        .sum())
}
