//! The browser that the page of the team server is looked at with: Debian's Chromium.

use std::process::{Command, Stdio};

use crate::run;

const APT: &str = "apt-get";
const PACKAGE: &str = "chromium";

/// Whether there is one. Where this machine is ours to change, it is installed.
pub fn is_there() -> bool {
    starts(PACKAGE) || (is_ours() && install() && starts(PACKAGE))
}

/// Debian and its like, as root.
fn is_ours() -> bool {
    let user = Command::new("id").arg("-u").output();
    user.is_ok_and(|user| user.stdout == b"0\n") && starts(APT)
}

fn install() -> bool {
    let apt = |words: &[&str]| {
        let mut command = Command::new(APT);
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    let mut update = apt(&["update", "-qq"]);
    let mut install = apt(&[
        "install",
        "-qq",
        "--yes",
        "--no-install-recommends",
        PACKAGE,
    ]);
    let done = run::run_silently("look for Debian's packages", &mut update)
        .and_then(|()| run::run_silently("install Chromium", &mut install));
    if let Err(error) = &done {
        println!("    left out: {error}");
    }
    done.is_ok()
}

fn starts(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null());
    command.stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
