//! Decides which suites there are and what each needs built. Add a suite here.

use std::process::Command;

use crate::build::{self, Artefact};
use crate::layout::Layout;
use crate::run::Result;
use crate::{browser, wasm, wheel};

/// Suites that belong together; the name is the word that selects them.
pub struct Group {
    pub name: &'static str,
    pub needs: &'static [Artefact],
    pub suites: fn(&Layout) -> Result<Vec<Suite>>,
}

/// One suite: what its headline says, and what it runs.
type Suite = (&'static str, Work);

/// What a suite runs; or why it does not.
pub enum Work {
    Run(Command),
    Skip(&'static str),
}

/// In the order in which they run: the cheap and the near first.
pub const GROUPS: [Group; 8] = [
    Group {
        name: "core",
        needs: &[],
        suites: core,
    },
    Group {
        name: "js",
        needs: &[Artefact::Component, Artefact::Npm],
        suites: js,
    },
    Group {
        name: "py",
        needs: &[Artefact::Wheel],
        suites: py,
    },
    Group {
        name: "wasi",
        needs: &[Artefact::Component, Artefact::Command],
        suites: wasi,
    },
    Group {
        name: "server",
        needs: &[Artefact::Server],
        suites: server,
    },
    Group {
        name: "surface",
        needs: &[Artefact::Component, Artefact::Npm, Artefact::Wheel],
        suites: surface,
    },
    Group {
        name: "e2e",
        needs: &build::ALL,
        suites: end_to_end,
    },
    Group {
        name: "examples",
        needs: &[Artefact::Component],
        suites: examples,
    },
];

/// The words that select groups.
pub fn names() -> String {
    let names: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
    names.join(" ")
}

fn core(layout: &Layout) -> Result<Vec<Suite>> {
    // Left out: what only means something on a wasm target, and what takes minutes to compile.
    let foreign = [
        "memdir-js",
        "memdir-component",
        "memdir-command",
        "memdir-team-server",
        "embed-rust",
    ];
    let native: Vec<&str> = ["--workspace", "--all-targets"]
        .into_iter()
        .chain(foreign.iter().flat_map(|name| ["--exclude", name]))
        .collect();
    let bare = [
        "-p",
        "memdir-js",
        "-p",
        "memdir-component",
        "--target",
        wasm::BARE,
    ];
    let command = ["-p", "memdir-command", "--target", wasm::WASI];
    let with_http = [command.as_slice(), &["--features", "http"]].concat();
    let format = layout.cargo(&["fmt", "--all", "--check"]);
    let test = layout.cargo(&["test", "--quiet"]);
    Ok(vec![
        ("check the formatting of the Rust code", Work::Run(format)),
        ("lint the native crates", clippy(layout, &native)),
        ("lint the crates for wasm", clippy(layout, &bare)),
        ("lint the command", clippy(layout, &command)),
        ("lint the command with HTTP", clippy(layout, &with_http)),
        ("check the documentation of the core", documentation(layout)),
        (
            "check licences, bans and sources of the dependencies",
            deny(layout),
        ),
        ("test the native crates", Work::Run(test)),
    ])
}

fn js(layout: &Layout) -> Result<Vec<Suite>> {
    let mut test = layout.npm(&["test", "--silent"]);
    test.env("NODE_OPTIONS", "--test-reporter=dot");
    Ok(vec![("test the Node package", Work::Run(test))])
}

fn py(layout: &Layout) -> Result<Vec<Suite>> {
    wheel::install(layout)?;
    let here = |tool, arguments: &[&str]| venv(layout, ".", tool, arguments);
    let package = |tool, arguments: &[&str]| venv(layout, "bindings-py", tool, arguments);
    let types = ["--strict", "--no-error-summary"];
    let of_tests = [
        types.as_slice(),
        &["tests/servers", "tests/end-to-end", "demo"],
    ]
    .concat();
    Ok(vec![
        (
            "lint the Python code",
            here("ruff", &["check", "--quiet", "."])?,
        ),
        (
            "check its formatting",
            here("ruff", &["format", "--check", "--quiet", "."])?,
        ),
        (
            "check the types of the Python package",
            package("mypy", &types)?,
        ),
        (
            "check the types of the Python tests",
            here("mypy", &of_tests)?,
        ),
        (
            "compare the stubs with their source",
            package("python", &["stubs.py", "--check"])?,
        ),
        (
            "compare the stubs with the wheel",
            package("stubtest", &["memdir._core"])?,
        ),
        (
            "test the Python package",
            pytest(layout, "bindings-py/tests")?,
        ),
    ])
}

fn wasi(layout: &Layout) -> Result<Vec<Suite>> {
    let test = pytest(layout, "tests/wasi")?;
    Ok(vec![(
        "test the component and the command under wasmtime",
        test,
    )])
}

fn server(layout: &Layout) -> Result<Vec<Suite>> {
    let lint = clippy(layout, &["-p", "memdir-team-server", "--all-targets"]);
    let test = layout.cargo(&["test", "--quiet", "-p", "memdir-team-server"]);
    let types = [
        "--strict",
        "--no-error-summary",
        "tests/servers",
        "tests/server",
    ];
    let in_a_browser = "tests/server/test_page.py";
    let page = if browser::is_there() {
        pytest(layout, in_a_browser)?
    } else {
        Work::Skip("there is no Chromium: install Debian's package `chromium`")
    };
    let others = [
        "--quiet",
        "-W",
        "error",
        "tests/server",
        "--ignore",
        in_a_browser,
    ];
    Ok(vec![
        ("lint the team server", lint),
        ("test the team server", Work::Run(test)),
        (
            "check the types of the team server's Python tests",
            venv(layout, ".", "mypy", &types)?,
        ),
        ("look at the team server's page in a browser", page),
        (
            "run the team server, and ask it what its description says",
            venv(layout, ".", "pytest", &others)?,
        ),
    ])
}

fn surface(layout: &Layout) -> Result<Vec<Suite>> {
    wheel::install(layout)?;
    let test = pytest(layout, "tests/surface")?;
    Ok(vec![("compare the surfaces of all packages", test)])
}

fn end_to_end(layout: &Layout) -> Result<Vec<Suite>> {
    let test = pytest(layout, "tests/end-to-end")?;
    Ok(vec![(
        "install and use the packages outside the repository",
        test,
    )])
}

fn examples(layout: &Layout) -> Result<Vec<Suite>> {
    let embed = |program, input| {
        let arguments = [program, "dist/memdir-core.wasm", input];
        venv(layout, ".", "python", &arguments)
    };
    let store = layout.path("demo/store").to_string_lossy().into_owned();
    let lint = clippy(layout, &["-p", "embed-rust", "--all-targets"]);
    let test = layout.cargo(&["test", "--quiet", "-p", "embed-rust"]);
    Ok(vec![
        (
            "run a rule embedded in Python",
            embed("examples/embed-python/rule.py", "demo/store/MEMORY.md")?,
        ),
        (
            "run a flow embedded in Python",
            embed("examples/embed-python/scan.py", &store)?,
        ),
        ("lint the example that embeds the component in Rust", lint),
        (
            "run the example that embeds the component in Rust",
            Work::Run(test),
        ),
    ])
}

fn clippy(layout: &Layout, crates: &[&str]) -> Work {
    let mut command = layout.cargo(&["clippy", "--quiet"]);
    command.args(crates).args(["--", "-D", "warnings"]);
    Work::Run(command)
}

fn documentation(layout: &Layout) -> Work {
    let crates = ["-p", "memdir-core", "-p", "memdir-host"];
    let mut command = layout.cargo(&["doc", "--quiet", "--no-deps"]);
    command.args(crates).env("RUSTDOCFLAGS", "-D warnings");
    Work::Run(command)
}

fn deny(layout: &Layout) -> Work {
    if Command::new("cargo-deny")
        .arg("--version")
        .output()
        .is_err()
    {
        return Work::Skip("cargo-deny is not installed");
    }
    let what = ["check", "licenses", "bans", "sources"];
    Work::Run(layout.cargo(&[["deny", "--workspace"].as_slice(), &what].concat()))
}

fn venv(layout: &Layout, folder: &str, tool: &str, arguments: &[&str]) -> Result<Work> {
    let mut command = layout.venv_tool(tool, folder)?;
    command.args(arguments);
    Ok(Work::Run(command))
}

/// pytest, a warning being an error. A folder without a test fails.
fn pytest(layout: &Layout, folder: &str) -> Result<Work> {
    venv(layout, ".", "pytest", &["--quiet", "-W", "error", folder])
}
