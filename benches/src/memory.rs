//! What headers cost in memory.

use std::error::Error;

use memdir_core::flow::{FileKind, Stat};
use memdir_core::memory::MemoryHeader;
use memdir_core::rules::parse_frontmatter;

/// Resident bytes that so many headers add to this process.
pub fn of_headers(count: usize) -> Result<usize, Box<dyn Error>> {
    let before = resident()?;
    let headers: Vec<MemoryHeader> = (0..count)
        .map(|number| {
            let text = format!(
                "---\nname: topic-{number}\ndescription: What to know about topic {number}, in one line of the usual length\ntype: project\n---\n"
            );
            let stat = Stat {
                kind: FileKind::File,
                size: 3000,
                mtime_ms: 0,
                mtime_ns: 0,
                ctime_ms: None,
                inode: None,
                mode: None,
            };
            MemoryHeader::new(format!("project_topic_{number}.md"), &stat, parse_frontmatter(&text))
        })
        .collect();
    let after = resident()?;
    drop(std::hint::black_box(headers));
    Ok(after.saturating_sub(before))
}

fn resident() -> Result<usize, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .ok_or("the system does not tell")?;
    let kilobytes: usize = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024)
}
