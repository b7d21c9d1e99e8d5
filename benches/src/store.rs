//! The generated store, and memdir's own scan of it.

use std::error::Error;
use std::path::Path;

use memdir_core::store::{OpenOptions, Scan, Store};

/// Memories in the store.
pub const FILES: usize = 200;
/// Size of each.
pub const FILE_BYTES: usize = 3000;

/// Writes memories in the shape that agents write them today: flat keys and a nested type.
pub fn create(folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let types = ["user", "feedback", "project", "reference"];
    for (number, kind) in (0..FILES).zip(types.into_iter().cycle()) {
        let mut text = format!(
            "---\nname: {kind}-topic-{number}\ndescription: What to know about topic {number}, in one line of the usual length\n\
             metadata:\n  node_type: memory\n  type: {kind}\n  modified: 2026-03-15T10:30:00.000Z\n---\n\n"
        );
        while text.len() < FILE_BYTES {
            text.push_str("The rule is to run the whole suite before a change is proposed.\n");
        }
        text.truncate(FILE_BYTES);
        std::fs::write(folder.join(format!("{kind}_topic_{number:03}.md")), text)?;
    }
    Ok(())
}

/// One scan through the flow and the native host.
pub fn scan(folder: &Path) -> Result<Scan, Box<dyn Error>> {
    let directory = folder
        .to_str()
        .ok_or("the temporary folder is not UTF-8")?
        .to_owned();
    let mut flow = Store::new(OpenOptions { directory }).scan();
    let scan = memdir_host::drive(&mut flow, |request| memdir_host::perform(&request.effect))?;
    if scan.memories.len() != FILES || !scan.report.is_empty() {
        return Err("the scan did not find the whole store".into());
    }
    Ok(scan)
}
