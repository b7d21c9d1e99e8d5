//! Builds the npm package: the wasm with its glue, the TypeScript, the tarball.

use wasm_bindgen_cli_support::Bindgen;

use crate::layout::{self, Layout};
use crate::run::{self, Result};
use crate::{setup, wasm};

/// Leaves `memdir.js`, `memdir.d.ts` and `memdir_bg.wasm` in `bindings-js/wasm`.
pub fn wasm(layout: &Layout) -> Result<()> {
    let built = wasm::build(layout, "memdir-js", wasm::BARE, &[])?.join("memdir_js.wasm");
    let raw = layout.folder(".cache/js-wasm")?;
    run::step("generate the Node bindings", || {
        let mut bindgen = Bindgen::new();
        bindgen
            .input_path(&built)
            .out_name("memdir")
            .typescript(true)
            .nodejs(true)?;
        bindgen.generate(&raw)?;
        Ok(())
    })?;
    let folder = layout.folder("bindings-js/wasm")?;
    for name in ["memdir.js", "memdir.d.ts", "memdir_bg.wasm.d.ts"] {
        layout::write(&folder.join(name), layout::read(&raw.join(name))?)?;
    }
    let module = wasm::optimise(layout, "memdir-js", &raw.join("memdir_bg.wasm"))?;
    println!("    memdir_bg.wasm: {} bytes", module.len());
    layout::write(&folder.join("memdir_bg.wasm"), module)
}

/// Leaves `dist/memdir-VERSION.tgz`.
pub fn package(layout: &Layout) -> Result<()> {
    setup::node(layout)?;
    wasm(layout)?;
    let compiled = layout.path("bindings-js/dist");
    if compiled.exists() {
        // What a removed source file left would end up in the package.
        std::fs::remove_dir_all(compiled)?;
    }
    layout.licences("bindings-js")?;
    run::run(
        "compile the TypeScript",
        &mut layout.npm(&["run", "--silent", "build"]),
    )?;
    let dist = layout.folder("dist")?;
    let mut pack = layout.npm(&["pack", "--silent", "--pack-destination"]);
    run::run_silently("pack the npm package", pack.arg(dist))
}
