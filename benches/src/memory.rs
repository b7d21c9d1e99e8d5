//! What is kept in memory.

use memdir_core::flow::{FileKind, Stat};
use memdir_core::memory::MemoryHeader;
use memdir_core::rules::parse_frontmatter;

/// Bytes that so many headers hold: the records and the texts that they point to.
pub fn of_headers(count: usize) -> usize {
    (0..count).map(|number| size(&header(number))).sum()
}

fn header(number: usize) -> MemoryHeader {
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
    MemoryHeader::new(
        format!("project_topic_{number}.md"),
        &stat,
        parse_frontmatter(&text),
    )
}

fn size(header: &MemoryHeader) -> usize {
    let texts = [
        Some(&header.path),
        header.name.as_ref(),
        header.description.as_ref(),
    ];
    let texts: usize = texts.into_iter().flatten().map(String::capacity).sum();
    size_of::<MemoryHeader>() + texts
}

/// Bytes that this process holds in memory; 0 where the system does not say.
pub fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0_usize) * 4096
}

/// The most bytes that this process has held in memory; 0 where the system does not say.
pub fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
    let kilobytes = line.and_then(|line| line.trim().parse().ok());
    kilobytes.unwrap_or(0_usize) * 1024
}
