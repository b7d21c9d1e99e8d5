//! Builds the WASI packages: the component that imports nothing, and the command with and without
//! HTTP. What each may import is decided and checked here.

use std::path::Path;

use wit_component::{ComponentEncoder, DecodedWasm};

use crate::layout::{self, Layout};
use crate::run::{self, Result};
use crate::wasm;

/// Leaves `dist/memdir-core.wasm`, which imports nothing: the proof that the core does no I/O.
pub fn core(layout: &Layout) -> Result<()> {
    let built = wasm::build(layout, "memdir-component", wasm::BARE, &[])?;
    let module = built.join("memdir_component.wasm");
    let module = wasm::optimise(layout, "memdir-component", &module)?;
    let target = layout.folder("dist")?.join("memdir-core.wasm");
    run::step("make the component dist/memdir-core.wasm", || {
        let component = ComponentEncoder::default()
            .module(&module)
            .and_then(|encoder| encoder.validate(true).encode())
            .map_err(|error| format!("cannot make a component of the module: {error:#}"))?;
        let Ports { imports, exports } = ports(&component)?;
        if !imports.is_empty() {
            return Err(format!(
                "memdir-core.wasm must import nothing, but imports {}: keep WIT types inside the \
                 exported interfaces, and I/O out of the core",
                imports.join(", ")
            )
            .into());
        }
        if exports.is_empty() {
            let lost = "the section that describes its interfaces was lost, perhaps in wasm-opt";
            return Err(format!("memdir-core.wasm exports nothing: {lost}").into());
        }
        write(&target, &component)
    })
}

/// Leaves `dist/memdir.wasm` (no network) and `dist/memdir-http.wasm`.
pub fn command(layout: &Layout) -> Result<()> {
    for (name, features, wants_http) in [
        ("memdir.wasm", [].as_slice(), false),
        ("memdir-http.wasm", ["http"].as_slice(), true),
    ] {
        let built = wasm::build(layout, "memdir-command", wasm::WASI, features)?;
        let command = layout::read(&built.join("memdir.wasm"))?;
        let Ports { imports, .. } = ports(&command)?;
        let has_http = imports
            .iter()
            .any(|import| import.starts_with("wasi:http/"));
        if has_http != wants_http {
            let rule = if wants_http { "must" } else { "must not" };
            let list = imports.join(", ");
            return Err(format!("{name} {rule} import wasi:http; its imports: {list}").into());
        }
        write(&layout.folder("dist")?.join(name), &command)?;
    }
    Ok(())
}

/// The names of what a component imports and exports.
struct Ports {
    imports: Vec<String>,
    exports: Vec<String>,
}

fn ports(component: &[u8]) -> Result<Ports> {
    let decoded = wit_component::decode(component)
        .map_err(|error| format!("cannot read the component that was built: {error:#}"))?;
    let DecodedWasm::Component(resolve, id) = decoded else {
        return Err("what was built is a WIT package, not a component".into());
    };
    let world = resolve.worlds.get(id).ok_or("the component has no world")?;
    let names = |items: Vec<_>| {
        items
            .into_iter()
            .map(|key| resolve.name_world_key(key))
            .collect()
    };
    Ok(Ports {
        imports: names(world.imports.keys().collect()),
        exports: names(world.exports.keys().collect()),
    })
}

/// Writes only what changed, so that whoever looks at the time of the file sees the truth.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    println!("    {name}: {} bytes", bytes.len());
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        Ok(())
    } else {
        layout::write(path, bytes)
    }
}
