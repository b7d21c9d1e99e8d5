//! What may be written where others see it: by whatever path, in whatever spelling, and without the value
//! in the answer.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fmt::Debug;

use memdir_core::ErrorCode;
use memdir_core::agents::AgentScope;
use memdir_core::memory::{MemoryType, Scope};
use memdir_core::report::ReportCode;
use memdir_core::store::{OpenOptions, Store};
use memdir_core::write::{SaveOptions, WriteOutcome, WriteResult};
use memdir_simulation::{Body, Folder, STORE, SimHost, Tree, written_tree};

fn store() -> Store {
    Store::new(OpenOptions {
        directory: Some(STORE.to_owned()),
        ..OpenOptions::default()
    })
}

/// Assembled, so that none stands in this file.
fn github() -> String {
    format!("gh{}_{}", "p", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

fn databricks() -> String {
    format!("da{}{}", "pi", "1a2b3c4d5e6f708192a3b4c5d6e7f809")
}

fn tokens() -> [String; 2] {
    [github(), databricks()]
}

fn tree() -> Tree {
    let mut tree = written_tree();
    tree.file(
        "/mem/team/project_shared.md",
        "---\nname: Shared\ndescription: s\ntype: project\n---\nshared\n",
    );
    tree.file("/mem/team/MEMORY.md", "- [Shared](project_shared.md) — s\n");
    tree
}

fn named(kind: MemoryType, name: &str) -> SaveOptions {
    SaveOptions {
        kind: Some(kind),
        name: Some(name.to_owned()),
        body: Some("What it says.".to_owned()),
        ..SaveOptions::default()
    }
}

fn team(name: &str) -> SaveOptions {
    SaveOptions {
        scope: Some(Scope::Team),
        ..named(MemoryType::Project, name)
    }
}

fn save(host: &mut SimHost, options: SaveOptions) -> WriteResult {
    host.run(store().save(options)).unwrap()
}

fn tool(host: &mut SimHost, input: &serde_json::Value) -> Result<String, memdir_core::Error> {
    host.run(store().tool(input.to_string()))
}

fn create(path: &str, text: &str) -> serde_json::Value {
    serde_json::json!({ "command": "create", "path": path, "file_text": text })
}

fn rename(from: &str, to: &str) -> serde_json::Value {
    serde_json::json!({ "command": "rename", "old_path": from, "new_path": to })
}

/// Refused with this code, without a change, and without the value anywhere in the answer.
fn is_refused(host: &SimHost, before: &Tree, result: &WriteResult, code: ErrorCode, value: &str) {
    assert_eq!(
        (result.outcome, result.code),
        (WriteOutcome::Refused, Some(code)),
        "{result:?}"
    );
    says_no(result, value);
    assert_eq!(
        Folder::new(&host.tree, STORE).everything(),
        Folder::new(before, STORE).everything()
    );
}

fn says_no(answer: &impl Debug, value: &str) {
    let answer = format!("{answer:?}").to_lowercase();
    assert!(!answer.contains(&value.to_lowercase()), "{answer}");
}

#[test]
fn a_link_to_a_team_file_is_guarded_as_the_file() {
    let mut tree = tree();
    tree.link("/mem/z.md", "team/project_shared.md");
    tree.link("/mem/ti.md", "team/MEMORY.md");
    tree.link("/mem/tm", "team");
    let token = github();
    for path in ["z.md", "tm/project_shared.md"] {
        let body = SaveOptions {
            path: Some(path.to_owned()),
            body: Some(token.clone()),
            ..SaveOptions::default()
        };
        let user = SaveOptions {
            path: Some(path.to_owned()),
            kind: Some(MemoryType::User),
            ..SaveOptions::default()
        };
        for (options, code) in [
            (body, ErrorCode::SecretFound),
            (user, ErrorCode::UserPrivate),
        ] {
            let mut host = SimHost::with_tree(1, tree.clone());
            let result = save(&mut host, options);
            is_refused(&host, &tree, &result, code, &token);
        }
    }
    for path in ["z.md", "ti.md", "tm/project_shared.md"] {
        let mut host = SimHost::with_tree(1, tree.clone());
        let insert = serde_json::json!({
            "command": "insert", "path": format!("/memories/{path}"), "insert_line": 1, "insert_text": token
        });
        let error = tool(&mut host, &insert).unwrap_err();
        assert_eq!(error.code, ErrorCode::SecretFound);
        says_no(&error, &token);
    }
    // Nothing new comes through a link to a folder.
    let mut host = SimHost::with_tree(1, tree.clone());
    for input in [
        create("/memories/tm/new.md", "x\n"),
        rename("/memories/a.md", "/memories/tm/new.md"),
    ] {
        let code = tool(&mut host, &input).unwrap_err().code;
        assert_eq!(code, ErrorCode::LinkOutside);
    }
    // What is harmless goes through, and its line where the others are.
    let mut host = SimHost::with_tree(1, tree);
    let options = SaveOptions {
        path: Some("z.md".to_owned()),
        name: Some("Shared by all".to_owned()),
        ..SaveOptions::default()
    };
    assert_eq!(save(&mut host, options).outcome, WriteOutcome::Written);
    let files = Folder::new(&host.tree, STORE).files();
    assert_eq!(
        files.get("team/MEMORY.md").map(String::as_str),
        Some("- [Shared by all](project_shared.md) — s\n")
    );
    assert_eq!(
        files.get("MEMORY.md").map(String::as_str),
        Some(memdir_simulation::INDEX)
    );
}

#[test]
fn a_private_memory_has_no_line_in_an_index_that_is_the_teams() {
    let mut tree = tree();
    tree.link("/mem/MEMORY.md", "team/MEMORY.md");
    let mut host = SimHost::with_tree(1, tree.clone());
    let result = save(&mut host, named(MemoryType::User, "My salary"));
    assert_eq!(result.outcome, WriteOutcome::Written);
    let codes: Vec<ReportCode> = result.report.iter().map(|entry| entry.code).collect();
    assert_eq!(codes, [ReportCode::NotIndexed]);
    let index = |tree: &Tree| Folder::new(tree, STORE).files().remove("team/MEMORY.md");
    assert_eq!(index(&host.tree), index(&tree));
}

#[test]
fn what_hides_a_token_hides_it_from_nobody() {
    for token in tokens() {
        let (start, rest) = token.split_at(9);
        let texts = [
            token.clone(),
            format!("{start}\u{7}{rest}"),
            format!("{start}\u{200B}{rest}"),
            format!("k\u{2028}{token}"),
            format!("k\u{1B}{token}"),
            format!("k\u{200D}{token}"),
            format!("k\u{AD}{token}"),
        ];
        for text in texts {
            let in_description = SaveOptions {
                description: Some(text.clone()),
                ..team("i")
            };
            let in_body = SaveOptions {
                body: Some(text.clone()),
                ..team("i")
            };
            for options in [team(&text), in_description, in_body] {
                let before = tree();
                let mut host = SimHost::with_tree(1, before.clone());
                let result = save(&mut host, options);
                is_refused(&host, &before, &result, ErrorCode::SecretFound, &token);
            }
            // Of a private memory it is said, once.
            let mut host = SimHost::with_tree(1, tree());
            let options = SaveOptions {
                description: Some(text),
                ..named(MemoryType::User, "i")
            };
            let result = save(&mut host, options);
            let codes: Vec<ReportCode> = result.report.iter().map(|entry| entry.code).collect();
            assert_eq!(codes, [ReportCode::SecretFound], "{result:?}");
            says_no(&result, &token);
        }
    }
    // An escape of YAML, by somebody who writes the file as it is.
    let token = github();
    let (first, rest) = token.split_at(1);
    let escaped = format!("---\nname: \"\\x{:02x}{rest}\"\n---\n", first.as_bytes()[0]);
    let mut host = SimHost::with_tree(1, tree());
    let error = tool(&mut host, &create("/memories/team/a.md", &escaped)).unwrap_err();
    assert_eq!(error.code, ErrorCode::SecretFound);
}

/// The line in the index is cut, and a token can be what is left.
#[test]
fn the_line_of_the_index_is_looked_at_too() {
    let token = databricks();
    let before = tree();
    let mut refused = 0;
    for filler in 0..150 {
        let options = SaveOptions {
            description: Some(format!("{} {token}{}", "x".repeat(filler), "0".repeat(80))),
            ..team("i")
        };
        let mut host = SimHost::with_tree(1, before.clone());
        let result = save(&mut host, options);
        let index = Folder::new(&host.tree, STORE).files()["team/MEMORY.md"].clone();
        assert!(
            memdir_core::secrets::scan_secrets(&index).is_empty(),
            "{filler} {result:?}"
        );
        says_no(&result, &token);
        refused += usize::from(result.code == Some(ErrorCode::SecretFound));
    }
    assert!(refused > 0, "none was cut to a token");
    // What stands there already does not keep others out.
    let mut old = tree();
    let text = format!("- [Old](old.md) — {token}\n");
    old.file("/mem/team/MEMORY.md", &text);
    let mut host = SimHost::with_tree(1, old);
    let result = save(&mut host, team("Harmless"));
    assert_eq!(result.outcome, WriteOutcome::Written, "{result:?}");
    assert!(result.index_changed);
}

#[test]
fn no_name_of_a_file_holds_a_secret() {
    for token in tokens() {
        let paths = [
            format!("team/{token}.md"),
            format!("team/project_{token}.md"),
            format!("team/x/{token}/a.md"),
            format!("team/{token}-a.md"),
            format!("team/a.{token}.b.md"),
            format!("{token}.md"),
        ];
        for path in paths {
            let before = tree();
            let mut host = SimHost::with_tree(1, before.clone());
            let options = SaveOptions {
                path: Some(path.clone()),
                ..named(MemoryType::Project, "i")
            };
            let result = save(&mut host, options);
            is_refused(&host, &before, &result, ErrorCode::SecretFound, &token);
            assert_eq!((&result.path, &result.absolute_path), (&None, &None));

            let path = format!("/memories/{path}");
            for input in [create(&path, "x\n"), rename("/memories/a.md", &path)] {
                let error = tool(&mut host, &input).unwrap_err();
                assert_eq!(error.code, ErrorCode::SecretFound, "{path}");
                says_no(&error, &token);
            }
            // Nor does any other answer.
            for path in [&path, &format!("{path}/.."), &format!("{path}\0")] {
                let inputs = [
                    serde_json::json!({ "command": "view", "path": path }),
                    serde_json::json!({ "command": "delete", "path": path }),
                    rename(path, "/memories/y.md"),
                ];
                for input in inputs {
                    says_no(&tool(&mut host, &input).unwrap_err(), &token);
                }
            }
            let forgotten = host.run(store().forget(path, Default::default()));
            says_no(&forgotten.unwrap(), &token);
        }
        // One that is there already can be changed and taken away.
        let mut old = tree();
        old.file(format!("/mem/{token}.md"), "x\n");
        let mut host = SimHost::with_tree(1, old);
        let path = format!("{token}.md");
        let options = SaveOptions {
            path: Some(path.clone()),
            ..named(MemoryType::User, "i")
        };
        let result = save(&mut host, options);
        assert_eq!(result.outcome, WriteOutcome::Written);
        says_no(&result, &token);
        let path = format!("/memories/{path}");
        let answer = tool(&mut host, &rename(&path, "/memories/y.md")).unwrap();
        says_no(&answer, &token);
    }
}

#[test]
fn a_file_is_not_named_after_a_secret() {
    for token in tokens() {
        let wide: String = token
            .chars()
            .map(|c| char::from_u32(u32::from(c) + 0xFEE0).unwrap())
            .collect();
        let names = [
            token.clone(),
            format!("The key {token}"),
            format!("k\u{1B}{token}"),
            format!("k\u{200D}{token}"),
            format!("ключ {token}"),
            wide,
            token.replace('_', "-"),
        ];
        for name in names {
            let mut host = SimHost::with_tree(1, tree());
            let result = save(&mut host, named(MemoryType::User, &name));
            assert_eq!(result.outcome, WriteOutcome::Written, "{name}");
            says_no(&result, &token);
            assert!(result.path.is_some());
            let names: Vec<String> = Folder::new(&host.tree, STORE).files().into_keys().collect();
            says_no(&names, &token);
        }
        let result = save(&mut SimHost::with_tree(1, tree()), team(&token));
        assert_eq!(result.code, Some(ErrorCode::SecretFound));
        says_no(&result, &token);
    }
}

#[test]
fn a_new_team_file_has_no_twin() {
    let before = {
        let mut tree = tree();
        tree.file("/mem/team/Foo.md", "x\n");
        tree.file("/mem/team/Docs/a.md", "x\n");
        tree.file("/mem/Foo.md", "x\n");
        tree
    };
    for path in [
        "team/foo.md",
        "team/docs/b.md",
        "team/Docs/A.md",
        "team/DOCS.md/x.md",
    ] {
        let mut host = SimHost::with_tree(1, before.clone());
        let options = SaveOptions {
            path: Some(path.to_owned()),
            ..named(MemoryType::Project, "i")
        };
        let expected = (path != "team/DOCS.md/x.md").then_some(ErrorCode::KeyTwin);
        assert_eq!(save(&mut host, options).code, expected, "{path}");
        let mut host = SimHost::with_tree(1, before.clone());
        let path = format!("/memories/{path}");
        let code =
            |result: Result<String, memdir_core::Error>| result.err().map(|error| error.code);
        assert_eq!(code(tool(&mut host, &create(&path, "x\n"))), expected);
        let mut host = SimHost::with_tree(1, before.clone());
        assert_eq!(
            code(tool(&mut host, &rename("/memories/a.md", &path))),
            expected
        );
    }
    let mut host = SimHost::with_tree(1, before);
    let fine = [
        create("/memories/team/Docs/b.md", "x\n"),
        // Elsewhere nobody minds, and what leaves is no twin.
        create("/memories/foo.md", "x\n"),
        rename("/memories/team/Foo.md", "/memories/team/foo.md"),
        rename("/memories/team/Docs", "/memories/team/docs"),
    ];
    for input in fine {
        tool(&mut host, &input).unwrap();
    }
    let error = tool(&mut host, &create("/memories/team/FOO.md", "x\n")).unwrap_err();
    assert!(
        error.message.contains("\"/memories/team/FOO.md\""),
        "{error}"
    );
}

#[test]
fn what_comes_with_the_project_holds_no_secret() {
    let token = github();
    let mut tree = Tree::new();
    tree.put("/code/shop/.git", Body::Folder);
    tree.put("/code/shop/.claude", Body::Folder);
    tree.put("/home/ada", Body::Folder);
    let project = Store::new(OpenOptions {
        cwd: Some("/code/shop".to_owned()),
        home: Some("/home/ada".to_owned()),
        ..OpenOptions::default()
    });
    for (scope, is_shared) in [
        (AgentScope::Project, true),
        (AgentScope::Local, false),
        (AgentScope::User, false),
    ] {
        let agent = project.agent("tester".to_owned(), scope);
        let mut host = SimHost::with_tree(1, tree.clone());
        let secret = SaveOptions {
            body: Some(token.clone()),
            ..named(MemoryType::User, "i")
        };
        let result = host.run(agent.save(secret)).unwrap();
        let expected = is_shared.then_some(ErrorCode::SecretFound);
        assert_eq!(result.code, expected, "{result:?}");
        says_no(&result, &token);
        let create = create("/memories/a.md", &token).to_string();
        let code = host.run(agent.tool(create)).err().map(|error| error.code);
        assert_eq!(code, expected);
        let code = host.run(agent.log(token.clone())).unwrap().code;
        assert_eq!(code, expected);
        // What is about the user may be there.
        let user = host.run(agent.save(named(MemoryType::User, "role")));
        assert_eq!(user.unwrap().outcome, WriteOutcome::Written);
    }
}
