//! Which folder a project is named after (facts 1.3): worktrees and subfolders share a store,
//! submodules have their own, and a forged `.git` cannot lead anywhere else.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use memdir_core::flow::Effect;
use memdir_core::store::{OpenOptions, Opened, Store};
use memdir_simulation::{Body, SimHost, Tree};

const MEGABYTE: u64 = 1024 * 1024;

/// Opens the store of the project around `cwd`; whatever is there, nothing may change.
fn open(tree: &Tree, cwd: &str) -> (Opened, SimHost) {
    let mut host = SimHost::with_tree(3, tree.clone());
    let store = Store::new(OpenOptions {
        cwd: Some(cwd.to_owned()),
        home: Some("/home/ada".to_owned()),
        ..OpenOptions::default()
    });
    let opened = host.run(store.open()).unwrap();
    assert_eq!(host.tree, *tree, "open creates nothing");
    assert_eq!(opened.report, [], "{cwd}");
    (opened, host)
}

fn root(tree: &Tree, cwd: &str) -> String {
    open(tree, cwd).0.project_root.unwrap()
}

/// A repository at `/code/main`.
fn repository() -> Tree {
    let mut tree = Tree::new();
    tree.file("/code/main/.git/HEAD", "ref: refs/heads/main\n");
    tree.put("/code/main/src/deep", Body::Folder);
    tree
}

/// The same with a worktree at `/code/wt`, as git makes it.
fn with_worktree() -> Tree {
    let mut tree = repository();
    tree.put("/code/wt/src", Body::Folder);
    tree.file("/code/wt/.git", "gitdir: /code/main/.git/worktrees/wt\n");
    tree.file("/code/main/.git/worktrees/wt/commondir", "../..\n");
    tree.file("/code/main/.git/worktrees/wt/gitdir", "/code/wt/.git\n");
    tree
}

#[test]
fn a_repository_is_found_from_every_folder_below_it() {
    let tree = repository();
    for cwd in [
        "/code/main",
        "/code/main/",
        "/code/main/src",
        "/code/main/src/deep",
        "/code/main/src/../src/./deep//",
        "/code/main/src/gone",
        "/code/main/.git",
    ] {
        assert_eq!(root(&tree, cwd), "/code/main", "{cwd}");
    }
    let (opened, _) = open(&tree, "/code/main/src");
    assert_eq!(
        opened.directory,
        "/home/ada/.claude/projects/-code-main/memory/"
    );
    assert_eq!(opened.project_key.as_deref(), Some("-code-main"));
}

#[test]
fn without_a_repository_the_start_is_the_root() {
    let tree = repository();
    for (cwd, wanted) in [
        ("/code", "/code"),
        ("/code/plain/", "/code/plain"),
        ("/code/plain/../other", "/code/other"),
        ("/", "/"),
    ] {
        assert_eq!(root(&tree, cwd), wanted, "{cwd}");
    }
}

#[test]
fn the_nearest_repository_counts() {
    let mut tree = repository();
    tree.put("/code/main/vendored/.git", Body::Folder);
    assert_eq!(
        root(&tree, "/code/main/vendored/src"),
        "/code/main/vendored"
    );
}

#[test]
fn the_root_of_the_file_system_may_be_a_repository() {
    let mut tree = Tree::new();
    tree.put("/.git", Body::Folder);
    for cwd in ["/", "/a", "/a/b/c"] {
        let (opened, _) = open(&tree, cwd);
        assert_eq!(opened.project_root.as_deref(), Some("/"), "{cwd}");
        assert_eq!(opened.directory, "/home/ada/.claude/projects/-/memory/");
    }
}

#[test]
fn a_worktree_shares_the_store_of_its_repository() {
    let tree = with_worktree();
    for cwd in ["/code/wt", "/code/wt/src", "/code/wt/src/gone"] {
        assert_eq!(root(&tree, cwd), "/code/main", "{cwd}");
    }

    // As git 2.48 writes it with `worktree.useRelativePaths`, and with line ends of Windows.
    for (pointer, common, back) in [
        (
            "gitdir: ../main/.git/worktrees/wt\n",
            "../..\n",
            "../../../../wt/.git\n",
        ),
        (
            "gitdir: /code/main/.git/worktrees/wt\r\n",
            "../..\r\n",
            "/code/wt/.git\r\n",
        ),
        (
            "gitdir:/code/main/.git/worktrees/wt/",
            "/code/main/.git",
            "/code/wt/.git",
        ),
    ] {
        let mut tree = with_worktree();
        tree.file("/code/wt/.git", pointer);
        tree.file("/code/main/.git/worktrees/wt/commondir", common);
        tree.file("/code/main/.git/worktrees/wt/gitdir", back);
        assert_eq!(root(&tree, "/code/wt"), "/code/main", "{pointer:?}");
    }

    // Within the repository itself, and reached through a link.
    let mut tree = with_worktree();
    tree.file(
        "/code/main/.claude/worktrees/in/.git",
        "gitdir: /code/main/.git/worktrees/in\n",
    );
    tree.file("/code/main/.git/worktrees/in/commondir", "../..\n");
    tree.file(
        "/code/main/.git/worktrees/in/gitdir",
        "/code/main/.claude/worktrees/in/.git\n",
    );
    tree.link("/code/link", "wt");
    assert_eq!(root(&tree, "/code/main/.claude/worktrees/in"), "/code/main");
    assert_eq!(root(&tree, "/code/link/src"), "/code/main");
}

#[test]
fn a_bare_repository_stands_for_its_worktrees() {
    let mut tree = Tree::new();
    tree.file("/srv/wt/.git", "gitdir: /srv/shop.git/worktrees/wt\n");
    tree.file("/srv/shop.git/worktrees/wt/commondir", "../..\n");
    tree.file("/srv/shop.git/worktrees/wt/gitdir", "/srv/wt/.git\n");
    assert_eq!(root(&tree, "/srv/wt"), "/srv/shop.git");
}

#[test]
fn a_submodule_has_a_store_of_its_own() {
    let mut tree = repository();
    tree.file("/code/main/.git/modules/sub/HEAD", "x");
    for pointer in [
        "gitdir: ../.git/modules/sub\n",
        "gitdir: /code/main/.git/modules/sub\n",
    ] {
        tree.file("/code/main/sub/.git", pointer);
        assert_eq!(root(&tree, "/code/main/sub"), "/code/main/sub");
        assert_eq!(root(&tree, "/code/main/sub/src"), "/code/main/sub");
    }
}

#[test]
fn a_forged_or_broken_pointer_leads_nowhere_else() {
    let pointer = |text: &str| {
        let mut tree = with_worktree();
        tree.file("/code/wt/.git", text);
        tree
    };
    let admin = |name: &str, text: &str| {
        let mut tree = with_worktree();
        tree.file(format!("/code/main/.git/worktrees/wt/{name}"), text);
        tree
    };
    let without = |path: &str| {
        let mut tree = with_worktree();
        tree.take(path);
        tree
    };
    let mut elsewhere = with_worktree();
    elsewhere.put("/code/other/.git", Body::Folder);
    elsewhere.file("/code/wt/.git", "gitdir: /code/other/.git\n");
    // Guard one: the folder that it names must lie in the `worktrees` of the common folder.
    let mut outside = with_worktree();
    outside.file("/code/wt/.git", "gitdir: /evil/worktrees/wt\n");
    outside.file("/evil/worktrees/wt/commondir", "/code/main/.git\n");
    outside.file("/evil/worktrees/wt/gitdir", "/code/wt/.git\n");
    let mut deeper = with_worktree();
    deeper.file("/code/wt/.git", "gitdir: /code/main/.git/worktrees/wt/x\n");
    deeper.file("/code/main/.git/worktrees/wt/x/commondir", "../../..\n");
    deeper.file("/code/main/.git/worktrees/wt/x/gitdir", "/code/wt/.git\n");
    // Guard two: that folder must name this very worktree.
    let mut other = admin("gitdir", "/code/elsewhere/.git\n");
    other.file(
        "/code/elsewhere/.git",
        "gitdir: /code/main/.git/worktrees/wt\n",
    );
    let mut through_link = with_worktree();
    through_link.file("/code/moved/.git", "gitdir: /code/main/.git/worktrees/wt\n");
    through_link.link("/code/wt/.git", "/code/moved/.git");
    let mut closed = with_worktree();
    closed.node("/code/wt/.git").unwrap().mode(0);
    let mut closed_admin = with_worktree();
    closed_admin
        .node("/code/main/.git/worktrees")
        .unwrap()
        .mode(0);
    let mut fifos = with_worktree();
    fifos.put("/code/main/.git/worktrees/wt/commondir", Body::Other);
    let mut linked = with_worktree();
    linked.file("/code/common", "../..\n");
    linked.link("/code/main/.git/worktrees/wt/commondir", "/code/common");
    let mut huge = with_worktree();
    huge.put(
        "/code/wt/.git",
        Body::Sparse(b"gitdir: /".to_vec(), 50 * MEGABYTE),
    );
    let mut not_text = with_worktree();
    not_text.file("/code/wt/.git", b"gitdir: /code/\xFF/.git/worktrees/wt\n");

    for (what, tree) in [
        ("another repository", elsewhere),
        ("gitdir outside", outside),
        ("gitdir below the right folder", deeper),
        ("commondir outside", admin("commondir", "/evil/.git\n")),
        (
            "commondir of another",
            admin("commondir", "/code/other/.git\n"),
        ),
        ("commondir itself", admin("commondir", ".\n")),
        ("commondir with NUL", admin("commondir", "../..\0\n")),
        ("commondir empty", admin("commondir", "\n")),
        ("commondir a FIFO", fifos),
        ("commondir a link", linked),
        (
            "no commondir",
            without("/code/main/.git/worktrees/wt/commondir"),
        ),
        ("back-link to another worktree", other),
        ("back-link to nothing", admin("gitdir", "/code/gone/.git\n")),
        ("back-link to the folder", admin("gitdir", "/code/wt\n")),
        ("back-link empty", admin("gitdir", "")),
        (
            "no back-link",
            without("/code/main/.git/worktrees/wt/gitdir"),
        ),
        ("a pointer that is a link", through_link),
        ("to itself", pointer("gitdir: .git\n")),
        ("to its own folder", pointer("gitdir: .\n")),
        (
            "to nothing",
            pointer("gitdir: /code/gone/.git/worktrees/wt\n"),
        ),
        (
            "to nothing, relative",
            pointer("gitdir: ../gone/worktrees/wt\n"),
        ),
        ("above the root", pointer("gitdir: ../../../../../../etc\n")),
        ("no target", pointer("gitdir:\n")),
        ("empty", pointer("")),
        ("blank", pointer(" \n\n")),
        ("no key", pointer("/code/main/.git/worktrees/wt\n")),
        (
            "another key",
            pointer("GITDIR: /code/main/.git/worktrees/wt\n"),
        ),
        ("NUL", pointer("gitdir: /code/main/.git/worktrees/wt\0\n")),
        ("not UTF-8", not_text),
        ("huge", huge),
        ("not readable", closed),
        ("its folder not readable", closed_admin),
    ] {
        for cwd in ["/code/wt", "/code/wt/src"] {
            let (opened, host) = open(&tree, cwd);
            assert_eq!(opened.project_root.as_deref(), Some("/code/wt"), "{what}");
            assert_eq!(
                opened.directory, "/home/ada/.claude/projects/-code-wt/memory/",
                "{what}"
            );
            assert!(
                host.reads.values().all(|read| *read <= 64 * 1024),
                "{what}: {:?}",
                host.reads
            );
        }
    }
}

#[test]
fn a_git_that_is_neither_file_nor_folder_is_passed_by() {
    let mut tree = repository();
    tree.put("/code/main/fifo/.git", Body::Other);
    tree.link("/code/main/dangling/.git", "nowhere");
    tree.link("/code/main/loop/.git", ".git");
    tree.put("/plain/.git", Body::Other);
    for (cwd, wanted) in [
        ("/code/main/fifo/src", "/code/main"),
        ("/code/main/dangling", "/code/main"),
        ("/code/main/loop", "/code/main"),
        ("/plain/src", "/plain/src"),
    ] {
        let (opened, host) = open(&tree, cwd);
        assert_eq!(opened.project_root.as_deref(), Some(wanted), "{cwd}");
        let opened_it = |effect: &Effect| matches!(effect, Effect::Read { path, .. } if path.ends_with("/.git"));
        assert!(
            !host.trace.iter().any(|traced| opened_it(&traced.effect)),
            "{cwd}"
        );
    }
}

#[test]
fn a_git_that_is_a_link_to_a_folder_makes_a_repository() {
    // As git sees it, and as tools that keep the folder elsewhere make it.
    let mut tree = repository();
    tree.link("/code/linked/.git", "/code/main/.git");
    tree.put("/code/linked/src", Body::Folder);
    assert_eq!(root(&tree, "/code/linked/src"), "/code/linked");
}
