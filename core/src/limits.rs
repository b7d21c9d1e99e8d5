//! Every constant of the system, in one table. Where a number comes from stands beside it;
//! "facts" is the collection of public facts that this implementation was built from.

/// Name of the index file (facts 3).
pub const INDEX_NAME: &str = "MEMORY.md";
/// Lines of the index that reach the prompt (facts 3.1).
pub const INDEX_MAX_LINES: usize = 200;
/// UTF-8 bytes of the index that reach the prompt (facts 3.1).
pub const INDEX_MAX_BYTES: usize = 25_000;
/// Characters that a lost entry is named by when it has no link.
pub const LOST_NAME_CHARS: usize = 80;
/// Memories that a scan reads and returns, the newest (facts 4.4).
pub const SCAN_MAX_MEMORIES: usize = 200;
/// Lines within which a frontmatter block must close (facts 4.1).
pub const FRONTMATTER_MAX_LINES: usize = 30;
/// Bytes within which a frontmatter block must close; no source, bounds one-line blocks.
pub const FRONTMATTER_MAX_BYTES: usize = 65_536;
/// Aliases in a frontmatter block; no source: beyond it the block is a bomb or an accident.
pub const FRONTMATTER_MAX_ALIASES: usize = 32;
/// Bytes of a memory read first; enough for nearly every frontmatter block.
pub const HEAD_BYTES: usize = 4_096;
/// Files in one `read-many` effect (design, "Effects").
pub const READ_MANY_FILES: usize = 256;
/// Heads that a scan asks for at a time: few enough that their memory is used again (measured: a
/// sixth faster natively than [`READ_MANY_FILES`]).
pub const SCAN_READ_FILES: usize = 64;
/// Bytes in one `read-many` effect (design, "Effects").
pub const READ_MANY_BYTES: usize = 4 * 1024 * 1024;
/// A memory above this is reported as large: recall cuts it to a small part anyway.
pub const LARGE_MEMORY_BYTES: u64 = 1024 * 1024;
/// The most that is read of one whole file (the sources' limit for instruction files, facts 10.4).
pub const FILE_MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Folders deeper than this below the store are reported and not entered.
pub const SCAN_MAX_DEPTH: usize = 32;
/// Percent of an index limit from which an entry too many is near (no source).
pub const INDEX_NEAR_PERCENT: usize = 90;
/// Lines that an index over its limit should be brought down to (facts 3.3).
pub const INDEX_TARGET_LINES: usize = 140;
/// Bytes that an index over its limit should be brought down to (no source: 70%).
pub const INDEX_TARGET_BYTES: usize = 17_500;
/// Characters of an index line above which it is long (document 002).
pub const INDEX_LINE_LONG: usize = 150;
/// Characters of an index line above which it is too long (facts 7.3).
pub const INDEX_LINE_TOO_LONG: usize = 200;
/// Folder of the daily logs inside a store (facts 12).
pub const LOGS_FOLDER: &str = "logs";
/// Folder of all projects below the config home (facts 1.2).
pub const PROJECTS_FOLDER: &str = "projects";
/// Folder of the store inside a project's folder (facts 1.2).
pub const STORE_FOLDER: &str = "memory";
/// Characters of `CLAUDE_CODE_PROJECT_DIR_NAME` (list of pains 2).
pub const PROJECT_DIR_NAME_MAX: usize = 64;
/// The most that is read of a settings file; no source, real ones have a few kilobytes.
pub const SETTINGS_MAX_BYTES: u64 = 1024 * 1024;
/// The most that is read of a `.git` file and its kin, which hold one path.
pub const GIT_FILE_MAX_BYTES: u64 = 16 * 1024;
/// Folders that are looked at on the way up to a git root.
pub const GIT_MAX_PARENTS: usize = 256;
/// How recently a file may have changed for a cached header to be trusted, in milliseconds: file
/// systems stamp times coarsely (the design's "Warm reads").
pub const WARM_MIN_AGE_MS: i64 = 2_000;
/// Prompts that a store remembers, one for each set of options.
pub const PROMPTS_REMEMBERED: usize = 32;
/// Bytes of each memory that lint reads.
pub const LINT_READ_BYTES: usize = 65_536;
/// Units of a project slug before it is cut and given a hash (facts 1.1).
pub const SLUG_MAX_UNITS: usize = 200;
/// UTF-16 units of the shortest memory directory (facts 1.5).
pub const MEMORY_PATH_MIN_UNITS: usize = 3;
/// Bytes of one team upload, envelope counted (facts 11.3).
pub const TEAM_BATCH_BYTES: usize = 200_000;
/// Permission bits of every file that memdir creates.
pub const FILE_MODE: u32 = 0o600;
/// Permission bits of every folder that memdir creates.
pub const FOLDER_MODE: u32 = 0o700;
/// Folder of memdir's own files inside a store.
pub const OWN_FOLDER: &str = ".memdir";
/// Ending of memdir's temporary files.
pub const TEMPORARY_ENDING: &str = ".memdir-tmp";
/// Folder of the team memories inside a store (facts 11.1).
pub const TEAM_FOLDER: &str = "team";
