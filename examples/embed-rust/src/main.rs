//! Runs memdir-core.wasm from Rust: `embed-rust memdir-core.wasm FOLDER` lists the memories of a
//! folder. The component does no I/O; what it asks for is performed in `host.rs`.

mod host;

use bindings::Memdir;
use bindings::exports::memdir::memdir::flows::{
    Done, Effect, Features, OpenOptions, Response, Step, Value,
};
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Result, Store, bail};

mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit", world: "memdir" });
}

#[expect(clippy::print_stdout, reason = "a program of the command line")]
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, core, folder] = arguments.as_slice() else {
        bail!("usage: embed-rust memdir-core.wasm FOLDER");
    };
    println!("{}", manifest(core, folder)?);
    Ok(())
}

/// The memories of a folder, one line each: a flow, then a rule.
fn manifest(core: &str, folder: &str) -> Result<String> {
    let engine = Engine::default();
    let component = Component::from_file(&engine, core)?;
    let mut store = Store::new(&engine, ());
    // The component imports nothing, so nothing is linked.
    let memdir = Memdir::instantiate(&mut store, &component, &Linker::new(&engine))?;
    let (rules, flows) = (memdir.memdir_memdir_rules(), memdir.memdir_memdir_flows());

    let memory = flows
        .store()
        .call_constructor(&mut store, &options(folder))?;
    let flow = flows.store().call_scan(&mut store, memory)?;
    let mut responses = Vec::new();
    loop {
        match flows.flow().call_resume(&mut store, flow, &responses)? {
            Step::Effects(step) => {
                // Every effect is answered before the next resume; `emit` has no answer.
                let asked = step
                    .requests
                    .into_iter()
                    .filter(|it| !matches!(it.effect, Effect::Emit(_)));
                responses = asked
                    .map(|it| Response {
                        id: it.id,
                        outcome: host::perform(it.effect),
                    })
                    .collect();
            }
            Step::Done(Done {
                value: Value::Scan(scan),
            }) => {
                return rules.call_format_manifest(&mut store, &scan.memories);
            }
            Step::Done(_) => bail!("a scan ends with a scan"),
            Step::Failed(error) => bail!("{:?}: {}", error.code, error.message),
        }
    }
}

/// That folder is the store, whatever the environment says, and nothing is switched on.
fn options(folder: &str) -> OpenOptions {
    OpenOptions {
        directory: Some(folder.to_owned()),
        cwd: None,
        home: None,
        env: Vec::new(),
        settings: None,
        platform: None,
        model: None,
        agent: None,
        team: None,
        features: Features {
            team: false,
            extract: false,
            extract_non_interactive: false,
            one_step: false,
            daily_log: false,
            dream: false,
            extract_every: 1,
            count_uses: false,
        },
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_folder_is_listed_by_the_component() -> wasmtime::Result<()> {
        let folder = std::env::temp_dir().join(format!("memdir-embed-rust-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("topics"))?;
        let text = "---\ndescription: Go veteran\ntype: user\n---\nText\n";
        std::fs::write(folder.join("topics/role.md"), text)?;
        let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/memdir-core.wasm");
        let manifest = super::manifest(core, &folder.to_string_lossy());
        std::fs::remove_dir_all(&folder)?;
        let manifest = manifest?;
        assert!(
            manifest.starts_with("- [user] topics/role.md (20"),
            "{manifest}"
        );
        assert!(manifest.ends_with("): Go veteran"), "{manifest}");
        Ok(())
    }
}
