//! How a crate becomes a small wasm module: which profile, which features, which optimiser flags.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::layout::{self, Layout};
use crate::run::{self, Result};
use crate::{setup, stamp};

/// The target of everything that must import nothing.
pub const BARE: &str = "wasm32-unknown-unknown";
/// The target of the command.
pub const WASI: &str = "wasm32-wasip2";

/// For size; the first kilobyte of memory is the far end of the stack, which nothing points into. Then
/// what rustc switches on for these targets, by its name in wasm-opt.
const FLAGS: [&str; 9] = [
    "-Oz",
    "--low-memory-unused",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-sign-ext",
    "--enable-nontrapping-float-to-int",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Builds one crate for a wasm target; returns the folder with what came out. Crates are built one
/// by one, because cargo unifies the features of those built together.
pub fn build(layout: &Layout, krate: &str, target: &str, features: &[&str]) -> Result<PathBuf> {
    let mut command = layout.cargo(&["build", "--quiet", "--profile", "wasm"]);
    command.args(["-p", krate, "--target", target]);
    if target == WASI {
        // What leaves here is a component, which wasm-opt cannot read: the linker drops the names.
        command.args(["--config", "profile.wasm.strip=true"]);
    }
    if !features.is_empty() {
        command.args(["--features", &features.join(",")]);
    }
    let with: String = features
        .iter()
        .map(|feature| format!(" with {feature}"))
        .collect();
    run::run(&format!("compile {krate} for {target}{with}"), &mut command)?;
    Ok(target_folder(layout).join(target).join("wasm"))
}

/// Optimises a core module for size, custom sections kept; returns the bytes.
pub fn optimise(layout: &Layout, name: &str, input: &Path) -> Result<Vec<u8>> {
    setup::node(layout)?;
    let bytes = layout::read(input)?;
    let folder = layout.folder(".cache/wasm-opt")?;
    let output = folder.join(format!("{name}.wasm"));
    let stamp = folder.join(format!("{name}.stamp"));
    stamp::unless_done(&stamp, &[&bytes, FLAGS.concat().as_bytes()], || {
        let mut command = layout.node_tool("wasm-opt")?;
        command.args(FLAGS).arg(input).arg("-o").arg(&output);
        run::run(&format!("optimise {name}.wasm"), &mut command)
    })?;
    layout::read(&output)
}

/// What rustc is told for wasm: the short form of SHA-256 (team entries are small); that small
/// functions are inlined, which `opt-level = "z"` alone does not, and which a scan in Node feels; and
/// nothing of the folders of this machine, so that every machine builds the same. An environment
/// variable, because tests call cargo as well.
pub fn set_rustflags(layout: &Layout, command: &mut Command) {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home);
    let compact = "--cfg=sha2_backend_soft=\"compact\"".to_owned();
    let inlined = "-Cllvm-args=-inline-threshold=25".to_owned();
    let remapped = [(Some(layout.root.clone()), "memdir"), (cargo, "cargo")]
        .into_iter()
        .filter_map(|(folder, name)| Some((folder?.to_str()?.to_owned(), name)))
        // The variable is split at blanks.
        .filter(|(folder, _)| !folder.contains(char::is_whitespace))
        .map(|(folder, name)| format!("--remap-path-prefix={folder}={name}"));
    let flags: Vec<String> = [compact, inlined].into_iter().chain(remapped).collect();
    for target in [BARE, WASI] {
        let target = target.replace('-', "_").to_uppercase();
        command.env(format!("CARGO_TARGET_{target}_RUSTFLAGS"), flags.join(" "));
    }
}

/// Where cargo puts what it builds.
pub fn target_folder(layout: &Layout) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => layout.root.join(folder),
        None => layout.path("target"),
    }
}
