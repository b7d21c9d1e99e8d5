//! Where an import leads (facts 10.3), and whether what is there may be text by its name.

use serde::Serialize;

use crate::paths::Platform;

/// Extensions of files that are text (facts 10.3), without the dot.
const TEXT_EXTENSIONS: &[&str] = &[
    "adoc",
    "astro",
    "bash",
    "bat",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "cljs",
    "cmake",
    "cmd",
    "conf",
    "cpp",
    "cs",
    "css",
    "csv",
    "cts",
    "cxx",
    "dart",
    "diff",
    "dockerfile",
    "elm",
    "env",
    "erl",
    "ex",
    "exs",
    "fish",
    "fs",
    "fsx",
    "go",
    "gql",
    "gradle",
    "graphql",
    "h",
    "hcl",
    "hh",
    "hpp",
    "hrl",
    "hs",
    "htm",
    "html",
    "hxx",
    "ini",
    "java",
    "jl",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsx",
    "kt",
    "kts",
    "less",
    "lock",
    "log",
    "lua",
    "makefile",
    "markdown",
    "md",
    "mdx",
    "mjs",
    "ml",
    "mli",
    "mts",
    "nim",
    "nix",
    "org",
    "patch",
    "php",
    "pl",
    "pm",
    "properties",
    "proto",
    "ps1",
    "py",
    "pyi",
    "r",
    "rb",
    "rs",
    "rst",
    "sass",
    "scala",
    "scss",
    "sh",
    "sql",
    "svelte",
    "swift",
    "tex",
    "text",
    "tf",
    "toml",
    "ts",
    "tsv",
    "tsx",
    "txt",
    "vb",
    "vue",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

/// Those of Markdown, where imports and comments mean something; text without an extension is Markdown, too.
const MARKDOWN_EXTENSIONS: &[&str] = &["markdown", "md", "mdx", "text", "txt"];

/// Where an import leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedImport {
    /// Absolute and normalised.
    pub path: String,
    /// Whether it may be text by its name: a known extension, or none.
    pub is_text: bool,
}

/// The file that `target` means in `file`: absolute, from `home`, or relative to the folder of `file`. Null
/// where it can mean none: without a home, with NUL, and for the network and device paths of Windows.
#[must_use]
pub fn resolve_import(
    target: &str,
    file: &str,
    home: Option<&str>,
    platform: Platform,
) -> Option<ResolvedImport> {
    let separates = |c: char| platform.separates(c);
    if target.contains('\0') {
        return None;
    }
    let of_network = target.chars().take(2).filter(|c| separates(*c)).count() == 2;
    if platform == Platform::Windows && of_network {
        return None;
    }
    let from_home = target
        .strip_prefix('~')
        .filter(|rest| rest.starts_with(separates));
    let path = if let Some(rest) = from_home {
        format!("{}{rest}", home?)
    } else if platform.is_absolute(target) {
        target.to_owned()
    } else if target.starts_with(separates) {
        // On Windows: from the root of the drive.
        let root = file.split_at_checked(2).map(|(drive, _)| drive)?;
        format!("{root}{target}")
    } else {
        let folder = platform.parent(file)?;
        format!("{folder}{}{target}", platform.separator())
    };
    // Of a file on a network share of Windows nothing is resolved.
    if !platform.is_absolute(&path) {
        return None;
    }
    let path = platform.normalise(&path);
    let is_text = match extension(platform.file_name(&path)) {
        Some(extension) => is_one_of(TEXT_EXTENSIONS, extension),
        None => true,
    };
    Some(ResolvedImport { path, is_text })
}

/// Whether imports and comments mean something in a file.
pub(crate) fn is_markdown(platform: Platform, path: &str) -> bool {
    extension(platform.file_name(path))
        .is_none_or(|extension| is_one_of(MARKDOWN_EXTENSIONS, extension))
}

/// Whether a target ends as a file does that is text.
pub(super) fn has_text_extension(target: &str) -> bool {
    let name = target.rsplit(['/', '\\']).next().unwrap_or_default();
    extension(name).is_some_and(|extension| is_one_of(TEXT_EXTENSIONS, extension))
}

/// What follows the last dot of a name but a leading one.
fn extension(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty()).then_some(extension)
}

fn is_one_of(extensions: &[&str], extension: &str) -> bool {
    extensions
        .iter()
        .any(|known| known.eq_ignore_ascii_case(extension))
}
