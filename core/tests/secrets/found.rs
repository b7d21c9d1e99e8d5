//! Every kind of token, in all that may stand around it.

use memdir_core::secrets::{SecretFinding, redact_secrets, scan_secrets};

use crate::kinds::KINDS;
use crate::token::{Kind, Random, Size};

/// What may follow a token: each of these ends it.
const AFTER: &[&str] = &[
    "", " ", "\n", "\r\n", "\t", "`", "'", "\"", ";", ",", ":", ")", "]", "}", ">", "<", "&", "*",
    "|", "**", "\\n", "\\r\\n", "\\\"", ". ", ".", ".\n", ".)", ".\"", "...", ".**", "!", "?", "#",
    "@", "$", "^", "(", "[", "{", "\u{3002}", "\u{2026}", "\u{4E2D}", "\u{2019}", "</b>", "&amp;",
    "```",
];

/// These end it when its alphabet lacks them.
const AFTER_SOME: &[&str] = &["_", "-", "/", "+", "=", "~", "%20"];

/// What may stand before and after one.
const AROUND: &[(&str, &str)] = &[
    ("`", "`"),
    ("**", "**"),
    ("\"", "\""),
    ("'", "'"),
    ("(", ")"),
    ("[", "]"),
    ("<", ">"),
    ("```\n", "\n```"),
    ("```sh\nexport TOKEN=", "\n```\n"),
    ("[the console](https://intranet.test/login?token=", ")"),
    ("[", "](https://intranet.test)"),
    ("---\nname: deploy\ntoken: ", "\ntype: project\n---\n"),
    ("---\ntoken: \"", "\"\n---\n"),
    ("| name | token |\n| --- | --- |\n| ci | ", " |\n"),
    ("|", "|"),
    ("{\"token\":\"", "\"}"),
    ("{\\\"token\\\":\\\"", "\\\"}"),
    ("\u{5BC6}\u{94A5}", "\u{3002}"),
    ("\u{E9}", "\u{E9}"),
    ("\u{201C}", "\u{201D}"),
    ("TOKEN=", "\n"),
    ("token:", ","),
    ("- ", "\n"),
    ("> ", "\n"),
    ("Bearer ", "\r\n"),
    ("first\\n", "\\nlast"),
    ("\u{FEFF}", "\u{200B}"),
];

fn check(kind: &Kind, token: &str, before: &str, after: &str) {
    let text = format!("{before}{token}{after}");
    let found = scan_secrets(&text);
    let expected = SecretFinding {
        rule: kind.id.to_owned(),
        label: found
            .first()
            .map_or_else(String::new, |one| one.label.clone()),
        line: before.matches('\n').count() + 1,
        start: before.len(),
        end: before.len() + token.len(),
    };
    assert_eq!(found, [expected], "{} in {text:?}", kind.id);
    let redacted = redact_secrets(&text);
    assert_eq!(
        redacted,
        format!("{before}[secret removed: {}]{after}", kind.id)
    );
    assert_eq!(scan_secrets(&redacted), [], "{redacted:?}");
}

#[test]
fn every_kind_is_found_at_both_ends_of_its_length() {
    let mut random = Random::new(1);
    for kind in KINDS {
        for size in [Size::Least, Size::Most, Size::Any] {
            for _ in 0..40 {
                check(kind, &kind.token(&mut random, size), "", "");
            }
        }
    }
}

#[test]
fn whatever_follows_ends_a_token() {
    let mut random = Random::new(2);
    for kind in KINDS {
        for size in [Size::Least, Size::Most] {
            for after in AFTER {
                check(kind, &kind.token(&mut random, size), "see ", after);
            }
        }
        for after in AFTER_SOME {
            let first = after.chars().next().unwrap();
            if !kind.last_alphabet().contains(first) && !kind.may_go_on_with(after) {
                check(kind, &kind.token(&mut random, Size::Any), "see ", after);
            }
        }
    }
}

#[test]
fn whatever_stands_around_a_token() {
    let mut random = Random::new(3);
    for kind in KINDS {
        for (before, after) in AROUND {
            for size in [Size::Least, Size::Most, Size::Any] {
                check(kind, &kind.token(&mut random, size), before, after);
            }
        }
    }
}

#[test]
fn emphasis_of_markdown_begins_no_word() {
    let mut random = Random::new(4);
    for kind in KINDS
        .iter()
        .filter(|kind| !kind.last_alphabet().contains('_'))
    {
        if kind.id != "azure-ad-client-secret" && !kind.may_go_on_with("_") {
            check(kind, &kind.token(&mut random, Size::Any), "so _", "_ it is");
            check(
                kind,
                &kind.token(&mut random, Size::Any),
                "so __",
                "__ it is",
            );
        }
    }
}

#[test]
fn several_in_a_row_are_several() {
    let mut random = Random::new(5);
    for separator in [",", " ", "\n", "|", "\"", ", ", ";", "`"] {
        let tokens: Vec<String> = KINDS
            .iter()
            .map(|kind| kind.token(&mut random, Size::Any))
            .collect();
        let found = scan_secrets(&tokens.join(separator));
        let rules: Vec<&str> = found.iter().map(|one| one.rule.as_str()).collect();
        let expected: Vec<&str> = KINDS.iter().map(|kind| kind.id).collect();
        assert_eq!(rules, expected, "{separator:?}");
    }
}

#[test]
fn hidden_characters_hide_nothing() {
    let mut random = Random::new(6);
    let hidden = [
        "\u{200B}",
        "\u{FEFF}",
        "\u{AD}",
        "\u{2060}",
        "\u{FE0F}",
        "\0",
        "\u{E0041}",
        "\u{1B}",
    ];
    for kind in KINDS {
        for hidden in hidden {
            let token = kind.token(&mut random, Size::Any);
            for at in [1, 3, token.len() / 2, token.len() - 1] {
                let (head, tail) = token.split_at(at);
                check(
                    kind,
                    &format!("{head}{hidden}{tail}"),
                    "an \u{200B} a ",
                    ", b",
                );
            }
            let spread: Vec<String> = token.chars().map(String::from).collect();
            check(
                kind,
                &spread.join(hidden),
                &format!("a {hidden}"),
                &format!("{hidden}. b"),
            );
        }
    }
}

#[test]
fn a_finding_has_no_value_and_camel_case_names() {
    let mut random = Random::new(7);
    let token = KINDS
        .iter()
        .find(|kind| kind.id == "github-pat")
        .unwrap()
        .token(&mut random, Size::Any);
    let found = scan_secrets(&format!("a\nb {token}"));
    let shown = format!("{found:?}");
    let body = token.split_once('_').unwrap().1;
    assert!(!shown.contains(body), "{shown}");
    assert!(shown.contains("line: 2, start: 4, end: 44"), "{shown}");
}
