//! Real repositories, made by the git that is installed: the root of the project is the one that
//! its users expect. `tests/simulation/tests/flows/git_root.rs` has what git itself would never write.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and says when it is skipped"
)]

mod common;

use std::fs;
use std::process::Command;

use common::Temporary;
use memdir_core::store::{OpenOptions, Opened, PromptOptions, Store};
use memdir_host::{drive, perform};

/// Runs git far from the settings of whoever runs the tests; false when git refuses.
fn git_may(folder: &str, args: &[&str]) -> bool {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let how = [
        "-c",
        "protocol.file.allow=always",
        "-c",
        "commit.gpgsign=false",
    ];
    let output = Command::new("git")
        .args(who)
        .args(how)
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", "/")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .output()
        .unwrap();
    output.status.success()
}

fn git(folder: &str, args: &[&str]) {
    assert!(git_may(folder, args), "git {args:?} in {folder}");
}

/// A machine with a home directory and a repository of one commit in `main`; none without git.
fn machine() -> Option<Temporary> {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no git on this machine, so its repositories are not tested");
        return None;
    }
    let temporary = Temporary::new();
    let root = temporary.path();
    fs::create_dir_all(format!("{root}/home")).unwrap();
    repository(&format!("{root}/main"));
    Some(temporary)
}

fn repository(path: &str) {
    fs::create_dir_all(format!("{path}/src/deep")).unwrap();
    fs::write(format!("{path}/src/deep/file"), "x").unwrap();
    git(path, &["init", "--quiet"]);
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message", "first"]);
}

fn store(temporary: &Temporary, cwd: &str) -> Store {
    Store::new(OpenOptions {
        cwd: Some(format!("{}/{cwd}", temporary.path())),
        home: Some(format!("{}/home", temporary.path())),
        ..OpenOptions::default()
    })
}

fn open(temporary: &Temporary, cwd: &str) -> Opened {
    drive(&mut store(temporary, cwd).open(), |request| {
        perform(&request.effect)
    })
    .unwrap()
}

/// The root of the project around `cwd`, relative to the machine.
fn root(temporary: &Temporary, cwd: &str) -> String {
    let opened = open(temporary, cwd);
    let root = opened.project_root.unwrap();
    let start = format!("{}/", temporary.path());
    root.strip_prefix(&start).unwrap_or(&root).to_owned()
}

#[test]
fn a_repository_is_found_from_its_folders() {
    let Some(machine) = machine() else { return };
    for cwd in ["main", "main/src", "main/src/deep", "main/.git"] {
        assert_eq!(root(&machine, cwd), "main", "{cwd}");
    }
    assert_eq!(root(&machine, "home"), "home");
}

#[test]
fn worktrees_share_the_store_of_their_repository() {
    let Some(machine) = machine() else { return };
    let main = format!("{}/main", machine.path());
    git(&main, &["worktree", "add", "--quiet", "../beside"]);
    git(
        &main,
        &["worktree", "add", "--quiet", ".claude/worktrees/within"],
    );
    for cwd in [
        "beside",
        "beside/src/deep",
        "main/.claude/worktrees/within/src",
    ] {
        assert_eq!(root(&machine, cwd), "main", "{cwd}");
    }
    assert_eq!(
        open(&machine, "beside/src").directory,
        open(&machine, "main").directory
    );
    // Since git 2.48 the pointers may be relative.
    let relative = [
        "-c",
        "worktree.useRelativePaths=true",
        "worktree",
        "add",
        "--quiet",
    ];
    git(&main, &[&relative[..], &["../relative"]].concat());
    assert_eq!(root(&machine, "relative/src"), "main");

    // One that was moved by hand is not what its repository knows, until it is repaired.
    let at = |name: &str| format!("{}/{name}", machine.path());
    fs::rename(at("beside"), at("moved")).unwrap();
    assert_eq!(root(&machine, "moved/src"), "moved");
    git(&main, &["worktree", "repair", "../moved"]);
    assert_eq!(root(&machine, "moved/src"), "main");
    // A copy points at the same place as the original.
    fs::create_dir(at("copy")).unwrap();
    fs::copy(at("moved/.git"), at("copy/.git")).unwrap();
    assert_eq!(root(&machine, "copy"), "copy");
}

#[test]
fn a_submodule_has_a_store_of_its_own() {
    let Some(machine) = machine() else { return };
    let main = format!("{}/main", machine.path());
    repository(&format!("{}/library", machine.path()));
    git(
        &main,
        &["submodule", "--quiet", "add", "../library", "vendored"],
    );
    assert!(
        fs::metadata(format!("{main}/vendored/.git"))
            .unwrap()
            .is_file()
    );
    for cwd in ["main/vendored", "main/vendored/src/deep"] {
        assert_eq!(root(&machine, cwd), "main/vendored", "{cwd}");
    }
    assert_eq!(root(&machine, "main/src"), "main");
}

#[test]
fn a_bare_repository_stands_for_its_worktrees() {
    let Some(machine) = machine() else { return };
    git(
        machine.path(),
        &["clone", "--quiet", "--bare", "main", "shop.git"],
    );
    let bare = format!("{}/shop.git", machine.path());
    git(&bare, &["worktree", "add", "--quiet", "../one"]);
    git(&bare, &["worktree", "add", "--quiet", "../two"]);
    assert_eq!(root(&machine, "one/src"), "shop.git");
    assert_eq!(root(&machine, "two"), "shop.git");
    // The usual layout that keeps the bare repository in `.git` beside its worktrees.
    git(
        machine.path(),
        &["clone", "--quiet", "--bare", "main", "project/.git"],
    );
    let project = format!("{}/project", machine.path());
    git(&project, &["worktree", "add", "--quiet", "trunk"]);
    assert_eq!(root(&machine, "project/trunk/src"), "project");
}

#[test]
fn a_repository_whose_folder_is_elsewhere_is_still_one() {
    let Some(machine) = machine() else { return };
    git(
        machine.path(),
        &[
            "clone",
            "--quiet",
            "--separate-git-dir",
            "kept.git",
            "main",
            "separate",
        ],
    );
    assert_eq!(root(&machine, "separate/src"), "separate");
    fs::create_dir_all(format!("{}/linked/src", machine.path())).unwrap();
    std::os::unix::fs::symlink("../main/.git", format!("{}/linked/.git", machine.path())).unwrap();
    assert!(git_may(
        &format!("{}/linked/src", machine.path()),
        &["rev-parse", "--show-toplevel"]
    ));
    assert_eq!(root(&machine, "linked/src"), "linked");
}

#[test]
fn the_prompt_of_a_worktree_makes_the_folder_of_its_repository() {
    use std::os::unix::fs::PermissionsExt;
    let Some(machine) = machine() else { return };
    let main = format!("{}/main", machine.path());
    git(&main, &["worktree", "add", "--quiet", "../beside"]);
    let store = store(&machine, "beside/src");
    let mut flow = store.prompt(PromptOptions::default());
    let prompt = drive(&mut flow, |request| perform(&request.effect)).unwrap();
    let directory = open(&machine, "main").directory;
    assert!(prompt.is_some_and(|text| text.contains(&directory)));
    let mode = fs::metadata(&directory).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
