//! What `memdir --help` says.

pub(super) const TEXT: &str = "\
memdir: file-based long-term memory for AI agents

Usage: memdir COMMAND [OPTIONS]

Commands:
  scan          list the memories of a store, newest first
  prompt        print what an agent is told about its memory
  show PATH     print one memory; PATH is relative to the store

Options:
  --dir DIR     the memory folder
  --json        print JSON
  --help        print this text
  --version     print the version

Exit codes: 0 done, 1 failed, 2 wrong usage. Results go to stdout; what was
skipped, cut or repaired, and errors, go to stderr.
";
