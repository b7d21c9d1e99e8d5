//! Which settings count, what is said of those that do not, and which folder comes of it (facts 1
//! and 2, the design's "Trust").
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use memdir_core::ErrorCode;
use memdir_core::flow::Effect;
use memdir_core::paths::{EnabledBecause as Because, Refused, Source, injective_key};
use memdir_core::report::ReportCode as Code;
use memdir_core::store::{OpenOptions, Opened, PromptOptions, Store};
use memdir_simulation::{Body, Progress, SimHost, Tree};

const POLICY: &str = "/etc/claude-code/managed-settings.json";
const POLICY_MAC: &str = "/Library/Application Support/ClaudeCode/managed-settings.json";
const USER: &str = "/home/ada/.claude/settings.json";
const PROJECT: &str = "/code/app/.claude/settings.json";
const LOCAL: &str = "/code/app/.claude/settings.local.json";
const DEFAULT: &str = "/home/ada/.claude/projects/-code-app/memory/";

const OFF: &str = "{\"autoMemoryEnabled\": false}";
const ON: &str = "{\"autoMemoryEnabled\": true}";

fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::new();
    tree.put("/code/app/.git", Body::Folder);
    tree.put("/code/app/src", Body::Folder);
    tree.put("/home/ada", Body::Folder);
    for (path, text) in files {
        tree.file(path, text);
    }
    tree
}

fn options() -> OpenOptions {
    OpenOptions {
        cwd: Some("/code/app/src".to_owned()),
        home: Some("/home/ada".to_owned()),
        ..OpenOptions::default()
    }
}

fn env(pairs: &[(&str, &str)]) -> OpenOptions {
    let pairs = pairs.iter();
    OpenOptions {
        env: pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..options()
    }
}

fn open_with(tree: &Tree, options: OpenOptions) -> (Result<Opened, ErrorCode>, SimHost) {
    let mut host = SimHost::with_tree(7, tree.clone());
    let result = host.run(Store::new(options).open());
    assert_eq!(host.tree, *tree, "open creates nothing");
    (result.map_err(|error| error.code), host)
}

fn open(files: &[(&str, &str)]) -> Opened {
    open_with(&tree(files), options()).0.unwrap()
}

/// The codes of the report, whose entries are one line each and about the whole store.
fn codes(opened: &Opened) -> Vec<Code> {
    for entry in &opened.report {
        assert_eq!(entry.path, "", "{entry:?}");
        assert!(!entry.message.contains('\n'), "{entry:?}");
    }
    opened.report.iter().map(|entry| entry.code).collect()
}

#[test]
fn every_settings_file_can_switch_memory_off() {
    for (file, because) in [
        (POLICY, Because::SettingsPolicy),
        (POLICY_MAC, Because::SettingsPolicy),
        (USER, Because::SettingsUser),
        (PROJECT, Because::SettingsProject),
        (LOCAL, Because::SettingsLocal),
    ] {
        let opened = open(&[(file, OFF)]);
        assert_eq!((opened.enabled, opened.because), (false, because), "{file}");
        assert_eq!(opened.report, [], "{file}");
    }
    let flag = OpenOptions {
        settings: Some(OFF.to_owned()),
        ..options()
    };
    let opened = open_with(&tree(&[]), flag).0.unwrap();
    assert_eq!(
        (opened.enabled, opened.because),
        (false, Because::SettingsFlag)
    );
    let opened = open(&[]);
    assert_eq!((opened.enabled, opened.because), (true, Because::Default));
}

#[test]
fn the_higher_settings_file_decides_and_a_project_can_only_switch_off() {
    for (high, low, because) in [
        (POLICY, LOCAL, Because::SettingsPolicy),
        (POLICY, USER, Because::SettingsPolicy),
        (LOCAL, PROJECT, Because::SettingsLocal),
        (LOCAL, USER, Because::SettingsLocal),
    ] {
        for (first, second, enabled) in [(ON, OFF, true), (OFF, ON, false)] {
            let opened = open(&[(high, first), (low, second)]);
            assert_eq!(
                (opened.enabled, opened.because),
                (enabled, because),
                "{high} over {low}"
            );
        }
    }
    // Without a word: a repository must not switch on what its reader switched off.
    let opened = open(&[(PROJECT, ON), (USER, OFF)]);
    assert_eq!(
        (opened.enabled, opened.because),
        (false, Because::SettingsUser)
    );
    let opened = open(&[(PROJECT, ON)]);
    assert_eq!((opened.enabled, opened.because), (true, Because::Default));

    let flag = OpenOptions {
        settings: Some(ON.to_owned()),
        ..options()
    };
    let files = tree(&[(LOCAL, OFF), (PROJECT, OFF), (USER, OFF)]);
    let opened = open_with(&files, flag.clone()).0.unwrap();
    assert_eq!(
        (opened.enabled, opened.because),
        (true, Because::SettingsFlag)
    );
    let opened = open_with(&tree(&[(POLICY, OFF)]), flag).0.unwrap();
    assert_eq!(
        (opened.enabled, opened.because),
        (false, Because::SettingsPolicy)
    );
}

#[test]
fn trusted_settings_choose_the_directory_and_the_file_is_named() {
    let chosen = "{\"autoMemoryDirectory\": \"~/notes\"}";
    let lesser = "{\"autoMemoryDirectory\": \"/srv/lesser\"}";
    for (file, source, others) in [
        (POLICY, Source::SettingsPolicy, &[LOCAL, USER][..]),
        (POLICY_MAC, Source::SettingsPolicy, &[LOCAL, USER]),
        (LOCAL, Source::SettingsLocal, &[USER]),
        (USER, Source::SettingsUser, &[]),
    ] {
        let mut files = vec![(file, chosen)];
        files.extend(others.iter().map(|other| (*other, lesser)));
        let opened = open(&files);
        assert_eq!(opened.directory, "/home/ada/notes/", "{file}");
        assert_eq!(opened.chosen_by, source);
        assert_eq!(opened.chosen_file.as_deref(), Some(file));
        assert_eq!((opened.project_key, opened.report), (None, vec![]));
        assert_eq!(opened.project_root.as_deref(), Some("/code/app"));
    }
    let flag = OpenOptions {
        settings: Some(chosen.to_owned()),
        ..options()
    };
    let opened = open_with(&tree(&[(LOCAL, lesser)]), flag).0.unwrap();
    assert_eq!(
        (opened.chosen_by, opened.chosen_file),
        (Source::SettingsFlag, None)
    );
}

#[test]
fn a_directory_in_project_settings_is_refused_and_reported() {
    let project = "{\"autoMemoryDirectory\": \"/home/ada/.ssh\", \"autoMemoryEnabled\": false}";
    let opened = open(&[(PROJECT, project)]);
    assert_eq!(opened.directory, DEFAULT);
    assert_eq!(
        (opened.chosen_by, &opened.chosen_file),
        (Source::Default, &None)
    );
    assert_eq!(
        opened.refused,
        [Refused {
            source: Source::SettingsProject,
            code: ErrorCode::NotTrusted
        }]
    );
    assert_eq!(codes(&opened), [Code::DirectoryRefused]);
    assert!(!opened.enabled, "the rest of the file counts");

    let opened = open(&[
        (PROJECT, project),
        (USER, "{\"autoMemoryDirectory\": \"~/notes\"}"),
    ]);
    assert_eq!(opened.directory, "/home/ada/notes/");
    assert_eq!(codes(&opened), [Code::DirectoryRefused]);
}

#[test]
fn an_unacceptable_directory_is_refused_and_the_next_place_is_taken() {
    for (bad, code) in [
        ("notes", ErrorCode::PathRelative),
        ("", ErrorCode::PathEmpty),
        ("~/", ErrorCode::PathHome),
        ("~/..", ErrorCode::PathHomeParent),
        ("/", ErrorCode::PathRoot),
        ("//host/share", ErrorCode::PathUnc),
    ] {
        let settings = format!("{{\"autoMemoryDirectory\": {bad:?}}}");
        let opened = open(&[(USER, &settings)]);
        assert_eq!(opened.directory, DEFAULT, "{bad:?}");
        let source = Source::SettingsUser;
        assert_eq!(opened.refused, [Refused { source, code }], "{bad:?}");
        assert_eq!(codes(&opened), [Code::DirectoryRefused], "{bad:?}");
    }
    // The environment's override is a whole path, without a tilde.
    let (opened, _) = open_with(
        &tree(&[]),
        env(&[("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", "~/notes")]),
    );
    let opened = opened.unwrap();
    assert_eq!(opened.directory, DEFAULT);
    assert_eq!(codes(&opened), [Code::DirectoryRefused]);
}

/// Ways in which a settings file can be there and be no good, and the code that says so.
fn bad_files(path: &str) -> Vec<(&'static str, Tree, Option<Code>)> {
    let put = |body: Body, mode: u32| {
        let mut tree = tree(&[]);
        tree.put(path, body).mode(mode);
        tree
    };
    let file = |content: &[u8]| put(Body::File(content.to_vec()), 0o644);
    let link = |target: &str| {
        let mut tree = tree(&[]);
        tree.link(path, target);
        tree
    };
    let mut in_the_way = tree(&[]);
    in_the_way.file(path.rsplit_once('/').unwrap().0, "no folder");
    let mut unenterable = tree(&[(path, OFF)]);
    let folder = path.rsplit_once('/').unwrap().0;
    unenterable.node(folder).unwrap().mode(0);
    vec![
        ("missing", tree(&[]), None),
        ("its folder is a file", in_the_way, None),
        ("a link to nothing", link("/nowhere.json"), None),
        ("empty", file(b""), None),
        (
            "not JSON",
            file(b"{autoMemoryEnabled: false}"),
            Some(Code::SettingsInvalid),
        ),
        (
            "cut off",
            file(b"{\"autoMemoryEnabled\": fal"),
            Some(Code::SettingsInvalid),
        ),
        ("a list", file(b"[]"), Some(Code::SettingsInvalid)),
        ("a word", file(b"false"), Some(Code::SettingsInvalid)),
        (
            "a wrong type",
            file(b"{\"autoMemoryEnabled\": \"false\"}"),
            Some(Code::SettingsWrongType),
        ),
        (
            "another wrong type",
            file(b"{\"autoMemoryDirectory\": [\"/srv/x\"]}"),
            Some(Code::SettingsWrongType),
        ),
        (
            "not UTF-8",
            file(b"{\"autoMemoryEnabled\": false, \"x\": \"\xFF\"}"),
            Some(Code::SettingsUnreadable),
        ),
        (
            "UTF-16",
            file(b"\xFF\xFE{\0}\0"),
            Some(Code::SettingsUnreadable),
        ),
        (
            "a folder",
            put(Body::Folder, 0o755),
            Some(Code::SettingsUnreadable),
        ),
        (
            "a FIFO",
            put(Body::Other, 0o644),
            Some(Code::SettingsUnreadable),
        ),
        (
            "a link to a folder",
            link("/code"),
            Some(Code::SettingsUnreadable),
        ),
        (
            "a link to itself",
            link(path),
            Some(Code::SettingsUnreadable),
        ),
        (
            "closed",
            put(Body::File(OFF.into()), 0),
            Some(Code::SettingsUnreadable),
        ),
        (
            "in a closed folder",
            unenterable,
            Some(Code::SettingsUnreadable),
        ),
        (
            "50 MB",
            put(Body::Sparse(OFF.into(), 50 * 1024 * 1024), 0o644),
            Some(Code::SettingsUnreadable),
        ),
    ]
}

#[test]
fn a_bad_settings_file_is_named_and_the_rest_counts() {
    for (bad, good, because) in [
        (POLICY, USER, Because::SettingsUser),
        (USER, LOCAL, Because::SettingsLocal),
        (PROJECT, USER, Because::SettingsUser),
        (LOCAL, USER, Because::SettingsUser),
    ] {
        for (what, mut tree, code) in bad_files(bad) {
            if !good.starts_with(bad.rsplit_once('/').unwrap().0) {
                tree.file(good, OFF);
            }
            let (opened, host) = open_with(&tree, options());
            let opened = opened.unwrap();
            assert_eq!(
                (opened.enabled, opened.because),
                (false, because),
                "{bad} {what}"
            );
            let mut named = codes(&opened);
            if what == "in a closed folder" {
                // The other settings of the project are in it too.
                named.dedup();
            }
            assert_eq!(named, code.into_iter().collect::<Vec<_>>(), "{bad} {what}");
            assert!(
                code.is_none()
                    || opened
                        .report
                        .iter()
                        .any(|entry| entry.message.contains(bad)),
                "{what}: {:?}",
                opened.report
            );
            assert_eq!(opened.directory, DEFAULT, "{bad} {what}");
            if matches!(what, "50 MB" | "a folder" | "a FIFO") {
                let opened_it =
                    |effect: &Effect| matches!(effect, Effect::Read { path, .. } if path == bad);
                let trace = &host.trace;
                assert!(
                    !trace.iter().any(|traced| opened_it(&traced.effect)),
                    "{bad} {what}"
                );
            }
        }
    }
}

#[test]
fn the_good_half_of_a_settings_file_counts() {
    let opened = open(&[(
        USER,
        "{\"autoMemoryEnabled\": 0, \"autoMemoryDirectory\": \"~/notes\"}",
    )]);
    assert_eq!(
        (opened.directory.as_str(), opened.enabled),
        ("/home/ada/notes/", true)
    );
    assert_eq!(codes(&opened), [Code::SettingsWrongType]);
    let opened = open(&[(
        USER,
        "{\"autoMemoryEnabled\": false, \"autoMemoryDirectory\": 7}",
    )]);
    assert_eq!(
        (opened.directory.as_str(), opened.enabled),
        (DEFAULT, false)
    );
    assert_eq!(codes(&opened), [Code::SettingsWrongType]);
}

#[test]
fn bad_settings_passed_to_open_are_reported_too() {
    for (text, code) in [
        ("{", Code::SettingsInvalid),
        ("[]", Code::SettingsInvalid),
        ("{\"autoMemoryEnabled\": 1}", Code::SettingsWrongType),
    ] {
        let flag = OpenOptions {
            settings: Some(text.to_owned()),
            ..options()
        };
        let opened = open_with(&tree(&[(USER, OFF)]), flag).0.unwrap();
        assert_eq!(opened.because, Because::SettingsUser, "{text}");
        assert_eq!(codes(&opened), [code], "{text}");
    }
}

#[test]
fn a_settings_file_may_be_a_link_to_somewhere_else() {
    let mut tree = tree(&[("/home/ada/dotfiles/claude.json", OFF)]);
    tree.link(USER, "../dotfiles/claude.json");
    let opened = open_with(&tree, options()).0.unwrap();
    assert_eq!(opened.because, Because::SettingsUser);
    assert_eq!(opened.report, []);
}

#[test]
fn an_env_block_in_settings_is_not_the_environment() {
    let block = "{\"env\": {\"CLAUDE_CODE_DISABLE_AUTO_MEMORY\": \"1\", \
                 \"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE\": \"/srv/x\"}}";
    for file in [POLICY, USER, PROJECT, LOCAL] {
        let opened = open(&[(file, block)]);
        assert_eq!(
            (opened.because, opened.directory.as_str()),
            (Because::Default, DEFAULT),
            "{file}"
        );
    }
}

#[test]
fn settings_of_a_worktree_are_its_own() {
    let mut tree = tree(&[(LOCAL, OFF), ("/code/wt/.claude/settings.local.json", ON)]);
    tree.file("/code/wt/.git", "gitdir: /code/app/.git/worktrees/wt\n");
    tree.file("/code/app/.git/worktrees/wt/commondir", "../..\n");
    tree.file("/code/app/.git/worktrees/wt/gitdir", "/code/wt/.git\n");
    let at = |cwd: &str| OpenOptions {
        cwd: Some(cwd.to_owned()),
        ..options()
    };
    let worktree = open_with(&tree, at("/code/wt")).0.unwrap();
    let main = open_with(&tree, at("/code/app")).0.unwrap();
    assert_eq!(worktree.directory, main.directory);
    assert_eq!((worktree.enabled, main.enabled), (true, false));
}

#[test]
fn without_a_home_directory_only_the_default_place_is_missing() {
    for home in [None, Some(""), Some("ada"), Some("./ada"), Some("~")] {
        let nowhere = OpenOptions {
            home: home.map(str::to_owned),
            ..options()
        };
        let (result, _) = open_with(&tree(&[]), nowhere.clone());
        assert_eq!(result.unwrap_err(), ErrorCode::NoHome, "{home:?}");

        for (name, directory) in [
            ("CLAUDE_CONFIG_DIR", "/srv/c/projects/-code-app/memory/"),
            (
                "CLAUDE_CODE_REMOTE_MEMORY_DIR",
                "/srv/c/projects/-code-app/memory/",
            ),
            ("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", "/srv/c/"),
        ] {
            let options = OpenOptions {
                home: nowhere.home.clone(),
                ..env(&[(name, "/srv/c")])
            };
            let opened = open_with(&tree(&[]), options).0.unwrap();
            assert_eq!(opened.directory, directory, "{home:?} {name}");
        }
        let given = OpenOptions {
            directory: Some("/srv/notes".to_owned()),
            ..nowhere.clone()
        };
        assert_eq!(
            open_with(&tree(&[]), given).0.unwrap().directory,
            "/srv/notes/"
        );
        // A tilde stands for nothing then.
        let tilde = OpenOptions {
            directory: Some("~/notes".to_owned()),
            ..nowhere
        };
        assert_eq!(
            open_with(&tree(&[]), tilde).0.unwrap_err(),
            ErrorCode::PathRelative
        );
    }
}

#[test]
fn without_a_working_directory_only_a_given_directory_opens() {
    for cwd in [None, Some(""), Some("src"), Some("./src"), Some("~/src")] {
        let lost = OpenOptions {
            cwd: cwd.map(str::to_owned),
            ..options()
        };
        let (result, _) = open_with(&tree(&[]), lost.clone());
        assert_eq!(result.unwrap_err(), ErrorCode::InvalidArgument, "{cwd:?}");
        let given = OpenOptions {
            directory: Some("~/notes".to_owned()),
            ..lost
        };
        let opened = open_with(&tree(&[]), given).0.unwrap();
        assert_eq!(opened.directory, "/home/ada/notes/", "{cwd:?}");
    }
    // A folder that was deleted still has a name, and the folders above it are still there.
    for (cwd, root) in [
        ("/code/app/deleted", "/code/app"),
        ("/gone/project", "/gone/project"),
    ] {
        let deleted = OpenOptions {
            cwd: Some(cwd.to_owned()),
            ..options()
        };
        let opened = open_with(&tree(&[]), deleted).0.unwrap();
        assert_eq!(opened.project_root.as_deref(), Some(root));
    }
}

#[test]
fn a_given_directory_belongs_to_no_project() {
    let given = OpenOptions {
        directory: Some("/srv/notes".to_owned()),
        ..options()
    };
    let (opened, host) = open_with(&tree(&[(PROJECT, OFF), (LOCAL, OFF)]), given);
    let opened = opened.unwrap();
    assert!(opened.enabled);
    assert_eq!(
        (opened.chosen_by, opened.project_root, opened.project_key),
        (Source::Option, None, None)
    );
    assert!(
        host.trace.iter().all(|traced| {
            let effect = format!("{:?}", traced.effect);
            !effect.contains("/code/") && !effect.contains("/srv/notes")
        }),
        "{:?}",
        host.trace
    );
}

#[test]
fn names_in_any_script_and_of_any_length_have_a_store() {
    let slash = |count: usize, letter: &str| format!("/{}", letter.repeat(count));
    for (cwd, key) in [
        ("/srv/設定/a".to_owned(), "-srv----a".to_owned()),
        ("/Проект".to_owned(), "-".repeat(7)),
        // Composed first, so one letter with an accent is one dash either way.
        ("/srv/caf\u{E9}".to_owned(), "-srv-caf-".to_owned()),
        ("/srv/cafe\u{301}".to_owned(), "-srv-caf-".to_owned()),
        ("/srv/\u{1F469}".to_owned(), "-srv---".to_owned()),
        // The table of facts 1.1.
        (slash(199, "a"), format!("-{}", "a".repeat(199))),
        (slash(200, "a"), format!("-{}-b6ymvl", "a".repeat(199))),
        (slash(250, "b"), format!("-{}-xbh6lr", "b".repeat(199))),
    ] {
        let named = OpenOptions {
            cwd: Some(cwd.clone()),
            ..options()
        };
        let opened = open_with(&tree(&[]), named).0.unwrap();
        assert_eq!(opened.project_key.as_deref(), Some(key.as_str()), "{cwd}");
        assert_eq!(
            opened.directory,
            format!("/home/ada/.claude/projects/{key}/memory/")
        );
        assert_eq!(opened.report, []);
    }
    // 300 characters in a script of three bytes each, which no folder name can hold: its store can.
    let long = OpenOptions {
        cwd: Some(slash(300, "設")),
        ..options()
    };
    let mut host = SimHost::with_tree(0, tree(&[]));
    let store = Store::new(long);
    assert!(
        host.run(store.prompt(PromptOptions::default()))
            .unwrap()
            .is_some()
    );
    let opened = host.run(store.open()).unwrap();
    let directory = opened.directory.trim_end_matches('/');
    assert_eq!(
        host.tree.node(directory).map(|node| node.body.clone()),
        Some(Body::Folder)
    );
    assert!(opened.project_key.is_some_and(|key| key.len() < 220));
}

const ORIGIN: &str = "/home/ada/.claude/projects/-code-app/memory/.memdir/origin";

#[test]
fn a_folder_of_another_project_is_left_to_it() {
    let own = injective_key("/code/app");
    assert!(own.starts_with("-code-app-"));
    let opened = open(&[(ORIGIN, "{\"path\": \"/code.app\"}")]);
    assert_eq!(opened.project_key.as_deref(), Some(own.as_str()));
    assert_eq!(
        opened.directory,
        format!("/home/ada/.claude/projects/{own}/memory/")
    );
    assert_eq!(codes(&opened), [Code::SlugCollision]);
    let message = &opened.report.first().unwrap().message;
    assert!(
        message.contains("/code.app") && message.contains(&own),
        "{message}"
    );
    assert_eq!(opened.project_root.as_deref(), Some("/code/app"));

    // The two projects of one slug do not meet.
    let files = tree(&[(ORIGIN, "{\"path\": \"/code.app\"}")]);
    let other = OpenOptions {
        cwd: Some("/code.app".to_owned()),
        ..options()
    };
    let other = open_with(&files, other).0.unwrap();
    assert_eq!(other.directory, DEFAULT);
    assert_eq!(other.report, []);
}

#[test]
fn a_folder_that_names_no_other_project_is_adopted() {
    let mut trees = vec![("none", tree(&[]))];
    for text in [
        "{\"path\": \"/code/app\"}",
        "{\"path\": \"/code/app\", \"since\": 1}",
        "",
        "garbage",
        "[]",
        "{}",
        "{\"path\": null}",
        "{\"path\": 7}",
        "{\"path\": [\"/code.app\"]}",
        "\"/code.app\"",
        "{\"path\": \"/code.app\"",
    ] {
        trees.push((text, tree(&[(ORIGIN, text)])));
    }
    let mut odd = tree(&[]);
    odd.file(ORIGIN, b"{\"path\": \"/code.app\xFF\"}");
    trees.push(("not UTF-8", odd));
    let mut odd = tree(&[]);
    odd.put(ORIGIN, Body::Folder);
    trees.push(("a folder", odd));
    let mut odd = tree(&[]);
    odd.put(ORIGIN, Body::Other);
    trees.push(("a FIFO", odd));
    let mut odd = tree(&[("/elsewhere", "{\"path\": \"/code.app\"}")]);
    odd.link(ORIGIN, "/elsewhere");
    trees.push(("a link", odd));
    let mut odd = tree(&[]);
    odd.put(ORIGIN, Body::Sparse(b"{".to_vec(), 1 << 30));
    trees.push(("huge", odd));
    for (what, tree) in trees {
        let (opened, host) = open_with(&tree, options());
        let opened = opened.unwrap();
        assert_eq!(opened.directory, DEFAULT, "{what}");
        assert_eq!(opened.report, [], "{what}");
        assert!(host.reads.get(ORIGIN).is_none_or(|read| *read <= 4 << 20));
    }
}

#[test]
fn only_a_folder_with_a_slug_can_collide() {
    let record = "{\"path\": \"/code.app\"}";
    // Chosen by settings: whoever chose it wants it.
    let opened = open(&[
        (USER, "{\"autoMemoryDirectory\": \"~/notes\"}"),
        ("/home/ada/notes/.memdir/origin", record),
    ]);
    assert_eq!(
        (opened.directory.as_str(), opened.report.len()),
        ("/home/ada/notes/", 0)
    );
    // Named by the environment: all projects share it (facts 1.2).
    let shared = env(&[
        ("CLAUDE_CONFIG_DIR", "/srv/c"),
        ("CLAUDE_CODE_PROJECT_DIR_NAME", "shared"),
    ]);
    let tree = tree(&[("/srv/c/projects/shared/memory/.memdir/origin", record)]);
    let opened = open_with(&tree, shared).0.unwrap();
    assert_eq!(opened.directory, "/srv/c/projects/shared/memory/");
    assert_eq!(opened.report, []);
}

#[test]
fn a_store_is_found_once() {
    let mut host = SimHost::with_tree(0, tree(&[]));
    let store = Store::new(options());
    let first = host.run(store.open()).unwrap();
    let performed = host.trace.len();
    host.tree.file(USER, OFF);
    assert_eq!(host.run(store.clone().open()).unwrap(), first);
    assert_eq!(host.trace.len(), performed, "nothing is asked again");

    store.compacted();
    let opened = host.run(store.open()).unwrap();
    assert_eq!(opened.because, Because::SettingsUser);
    assert!(
        host.trace
            .iter()
            .skip(performed)
            .any(|traced| { matches!(&traced.effect, Effect::Read { path, .. } if path == USER) })
    );
}

#[test]
fn what_was_found_before_a_compaction_is_not_kept() {
    let mut host = SimHost::with_tree(0, tree(&[]));
    let store = Store::new(options());
    let mut running = host.start(store.open());
    while host.trace.len() < 3 {
        assert!(matches!(host.step(&mut running), Progress::Working));
    }
    store.compacted();
    while !matches!(host.step(&mut running), Progress::Ended(Ok(_))) {}
    host.tree.file(USER, OFF);
    assert!(!host.run(store.open()).unwrap().enabled);
}

#[test]
fn off_needs_no_place() {
    let off = OpenOptions {
        home: None,
        ..env(&[("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")])
    };
    for options in [off.clone(), OpenOptions { cwd: None, ..off }] {
        let (result, _) = open_with(&tree(&[]), options.clone());
        let opened = result.unwrap();
        assert_eq!(
            (opened.enabled, opened.because),
            (false, Because::EnvDisabled)
        );
        assert_eq!(
            (opened.directory.as_str(), codes(&opened)),
            ("", vec![Code::DirectoryRefused])
        );
        let mut host = SimHost::with_tree(7, tree(&[]));
        let prompt = host.run(Store::new(options).prompt(PromptOptions::default()));
        assert_eq!(prompt.unwrap(), None);
    }
}

#[test]
fn without_a_working_directory_an_override_still_counts() {
    let named = OpenOptions {
        cwd: None,
        ..env(&[("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", "/srv/c")])
    };
    assert_eq!(open_with(&tree(&[]), named).0.unwrap().directory, "/srv/c/");
    let set = OpenOptions {
        cwd: None,
        ..options()
    };
    let settings = [(USER, "{\"autoMemoryDirectory\": \"/srv/u\"}")];
    assert_eq!(
        open_with(&tree(&settings), set.clone())
            .0
            .unwrap()
            .directory,
        "/srv/u/"
    );
    assert_eq!(
        open_with(&tree(&[]), set).0.unwrap_err(),
        ErrorCode::InvalidArgument
    );
}

#[test]
fn a_home_that_is_a_project_refuses_nothing_of_its_owner() {
    let mut tree = tree(&[(USER, "{\"autoMemoryDirectory\": \"/srv/u\"}")]);
    tree.put("/home/ada/.git", Body::Folder);
    let at_home = OpenOptions {
        cwd: Some("/home/ada".to_owned()),
        ..options()
    };
    let opened = open_with(&tree, at_home).0.unwrap();
    assert_eq!(
        (opened.directory.as_str(), opened.chosen_by),
        ("/srv/u/", Source::SettingsUser)
    );
    assert_eq!((opened.refused, opened.report), (vec![], vec![]));
}

#[test]
fn a_relative_config_home_cannot_make_a_project_the_user() {
    let mut tree = tree(&[]);
    tree.file(
        "/code/app/.cfg/settings.json",
        "{\"autoMemoryDirectory\": \"/srv/evil\"}",
    );
    let (result, host) = open_with(&tree, env(&[("CLAUDE_CONFIG_DIR", ".cfg")]));
    assert_eq!(result.unwrap_err(), ErrorCode::PathRelative);
    let reads =
        |effect: &Effect| matches!(effect, Effect::Read { path, .. } if path.contains(".cfg"));
    assert!(!host.trace.iter().any(|traced| reads(&traced.effect)));
}
