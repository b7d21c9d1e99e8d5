//! The build tool behind the Makefile: decides which steps a word on the command line stands for.
//! Every step is one command or one small function, announced and timed by [`run`].

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a build tool talks to a terminal"
)]

mod bench;
mod browser;
mod build;
mod component;
mod demo;
mod js;
mod layout;
mod run;
mod server;
mod setup;
mod stamp;
mod suites;
mod test;
mod wasm;
mod wheel;

use std::process::ExitCode;

use layout::Layout;
use run::Result;

const USAGE: &str = "\
usage: cargo run -p xtask -- WORD

  demo         show a sample store through every package, and compare what they print
  test [GROUP] set up, build, run every suite, or only the groups named
  build        everything that a user installs, in dist/
  bench        measure
  setup        install what the build and the tests need: .venv and bindings-js/node_modules
  js           dist/memdir-VERSION.tgz (js-wasm: only bindings-js/wasm)
  wheel        dist/memdir-VERSION-*.whl and dist/memdir-VERSION.tar.gz
  component    dist/memdir-core.wasm
  command      dist/memdir.wasm and dist/memdir-http.wasm
  server       dist/memdir-team-server
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nfailed: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[String]) -> Result<()> {
    let layout = Layout::find()?;
    let (word, rest) = match words.split_first() {
        Some((word, rest)) => (word.as_str(), rest),
        None => ("help", words),
    };
    match (word, rest) {
        ("help" | "--help" | "-h", []) => {
            println!("{USAGE}\ngroups of tests: {}", suites::names());
            Ok(())
        }
        ("setup", []) => setup::everything(&layout),
        ("js-wasm", []) => js::wasm(&layout),
        ("js", []) => js::package(&layout),
        ("wheel", []) => wheel::package(&layout),
        ("component", []) => component::core(&layout),
        ("command", []) => component::command(&layout),
        ("server", []) => server::program(&layout),
        ("build", []) => {
            setup::everything(&layout)?;
            build::ALL
                .into_iter()
                .try_for_each(|artefact| build::build(&layout, artefact))
        }
        ("test", groups) => test::test(&layout, groups),
        ("demo", []) => demo::demo(&layout),
        ("bench", []) => bench::bench(&layout),
        _ => Err(format!(
            "`{}` is not a word of this tool\n\n{USAGE}",
            words.join(" ")
        )
        .into()),
    }
}
