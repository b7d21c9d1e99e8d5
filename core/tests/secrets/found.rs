//! Every kind of token, in all that may stand around it.

use memdir_core::secrets::{SecretFinding, redact_secrets, scan_secrets};

use crate::kinds::KINDS;
use crate::token::{BASE64, Kind, Piece, Random, Size};

/// What may follow a token: each of these ends it.
const AFTER: &[&str] = &[
    "", " ", "\n", "\r\n", "\t", "`", "'", "\"", ";", ",", ":", ")", "]", "}", ">", "<", "&", "*",
    "|", "**", "\\n", "\\r\\n", "\\\"", ". ", ".", ".\n", ".)", ".\"", "...", ".**", "!", "?", "#",
    "@", "$", "^", "(", "[", "{", "\u{3002}", "\u{2026}", "\u{4E2D}", "\u{2019}", "</b>", "&amp;",
    "```",
];

/// These end it when its alphabet lacks them.
const AFTER_SOME: &[&str] = &["/", "+", "=", "%20", "_x", "-x"];

/// Joints that are punctuation, whether the alphabet has them or not.
const JOINTS: &[&str] = &[
    "_",
    "__",
    "___",
    "_.",
    "__)",
    "_ x",
    "-",
    "- x",
    "->",
    "-.",
    "--then",
    "--then-some words",
    "-->",
    "---",
    "_--then",
];

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
    ("k\\u003d", "\\u0026x"),
    ("\\u0022", "\\u0022"),
    ("a\\x3d", "\\x0a"),
    ("\\u001b[31m", "\\u001b[0m"),
    ("\\033[1;31m", "\\033[m"),
    ("a/", "#b"),
    ("a@", "&b"),
    ("a#", " b"),
    ("a&", "|b"),
    ("a.", " b"),
    ("~~", "~~"),
    ("```diff\n+", "\n```"),
    ("```diff\n-", "\n```"),
    ("[x](https://h/", ")"),
    ("first\\n", "\\nlast"),
    ("\u{FEFF}", "\u{200B}"),
    ("pre\u{AD}", " b"),
    ("commit\0", "\0"),
    ("Token\u{200B}", "\u{200B}"),
    ("a_\u{1F}", "\u{1F}"),
    ("\u{1B}[31m", "\u{1B}[0m"),
    ("a\u{1B}[01;31m\u{1B}[K", "\u{1B}[m\u{1B}[K\n"),
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
    let mut random = Random::new(33);
    for kind in KINDS {
        for (before, after) in AROUND {
            for size in [Size::Least, Size::Most, Size::Any] {
                check(kind, &kind.token(&mut random, size), before, after);
            }
        }
    }
}

#[test]
fn emphasis_of_markdown_is_no_part_of_a_word() {
    let mut random = Random::new(4);
    for kind in KINDS {
        for marks in ["_", "__", "___"] {
            for size in [Size::Least, Size::Most, Size::Any] {
                let token = kind.token(&mut random, size);
                check(
                    kind,
                    &token,
                    &format!("so {marks}"),
                    &format!("{marks} it is"),
                );
                check(
                    kind,
                    &token,
                    &format!("{marks}see "),
                    &format!("{marks}. So"),
                );
            }
        }
    }
}

#[test]
fn joints_that_are_punctuation_end_a_token() {
    let mut random = Random::new(8);
    for kind in KINDS {
        for after in JOINTS {
            for size in [Size::Least, Size::Most, Size::Any] {
                check(kind, &kind.token(&mut random, size), "see ", after);
            }
        }
    }
}

#[test]
fn after_padding_and_known_lengths_a_path_may_go_on() {
    let mut random = Random::new(9);
    for kind in KINDS.iter().filter(|kind| kind.last_alphabet() == BASE64) {
        for _ in 0..20 {
            let token = kind.token(&mut random, Size::Any);
            if token.ends_with('=') || kind.id == "sentry-org-token" {
                for after in ["/", "/x", "+", "+x"] {
                    check(kind, &token, "https://intranet.test/", after);
                }
            }
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
        "\u{1B}[31m",
        "\u{1B}[m\u{1B}[K",
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

/// Whether its end is known without what follows.
fn is_fixed(kind: &Kind) -> bool {
    // This one may have any length around its marker.
    !kind.open
        && kind.id != "openai-api-key"
        && kind.pieces.last().is_some_and(|piece| match piece {
            Piece::Is(_) => true,
            Piece::Of(_) => false,
            Piece::Run(_, least, most) => least == most,
        })
}

/// All of the token is found; more than that only where it could go on behind what is hidden.
#[test]
fn something_hidden_parts_a_token_from_its_neighbours() {
    let mut random = Random::new(10);
    for kind in KINDS {
        for (before, after) in [
            ("A=b\0GITHUB_TOKEN=", "\0PATH=/bin\0"),
            ("commit\0", "\0author\0"),
            ("a\u{1F}", "\u{1F}b\u{1F}"),
            ("Token\u{200B}", "\u{200B}next"),
            ("_\u{AD}", "\u{AD}_x"),
            ("x\u{1B}[31m", "\u{1B}[0mnext"),
        ] {
            for size in [Size::Least, Size::Most, Size::Any] {
                let token = kind.token(&mut random, size);
                let text = format!("{before}{token}{after}");
                let found = scan_secrets(&text);
                let [one] = found.as_slice() else {
                    panic!("{}: {found:?} in {text:?}", kind.id);
                };
                let end = before.len() + token.len();
                assert_eq!(one.start, before.len(), "{} in {text:?}", kind.id);
                assert!(one.end >= end, "{} in {text:?}", kind.id);
                if is_fixed(kind) {
                    assert_eq!((one.rule.as_str(), one.end), (kind.id, end), "{text:?}");
                }
                assert_eq!(scan_secrets(&redact_secrets(&text)), [], "{text:?}");
            }
        }
    }
}

#[test]
fn two_with_something_hidden_between_them_are_found() {
    let mut random = Random::new(15);
    for kind in KINDS {
        for hidden in ["\u{200B}", "\0", "\u{1B}[0m"] {
            let one = kind.token(&mut random, Size::Any);
            let two = kind.token(&mut random, Size::Any);
            let text = format!("{one}{hidden}{two}");
            let redacted = redact_secrets(&text);
            let rules = format!("[secret removed: {}]", kind.id);
            if is_fixed(kind) {
                assert_eq!(redacted, format!("{rules}{hidden}{rules}"), "{text:?}");
            }
            let left = redacted.replace(&rules, "").replace(hidden, "");
            assert_eq!(left, "", "{text:?}");
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
