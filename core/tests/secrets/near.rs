//! What is nearly a token, and no token.

use memdir_core::secrets::{redact_secrets, scan_secrets};

use crate::kinds::KINDS;
use crate::token::{Kind, Piece, Random, Size};

fn check(kind: &Kind, text: &str) {
    let found = scan_secrets(text);
    assert!(found.is_empty(), "{}: {found:?} in {text:?}", kind.id);
    assert_eq!(redact_secrets(text), text);
}

/// A token of the kind with one part made longer or shorter.
fn resized(kind: &Kind, random: &mut Random, piece_at: usize, by: isize) -> Option<String> {
    let mut token = String::new();
    for (at, piece) in kind.pieces.iter().enumerate() {
        let Piece::Run(alphabet, least, most) = *piece else {
            let fixed = Kind {
                pieces: std::slice::from_ref(piece),
                ..*kind
            };
            token.push_str(&fixed.token(random, Size::Any));
            continue;
        };
        let length = match by {
            _ if at != piece_at => least,
            ..0 => least.checked_sub(1).filter(|length| *length > 0)?,
            _ => most + 1,
        };
        token.push_str(&crate::token::body(random, alphabet, length));
    }
    Some(token)
}

#[test]
fn a_part_that_is_shorter_is_none() {
    let mut random = Random::new(11);
    for kind in KINDS.iter().filter(|kind| !kind.open) {
        for at in 0..kind.pieces.len() {
            let is_run = matches!(kind.pieces[at], Piece::Run(..));
            // One of the two parts is optional, or a shorter one is the same.
            if !is_run || is_loose(kind, at) {
                continue;
            }
            for _ in 0..5 {
                if let Some(token) = resized(kind, &mut random, at, -1) {
                    check(kind, &format!("a {token} b"));
                }
            }
        }
    }
}

#[test]
fn a_last_part_that_is_longer_is_none() {
    let mut random = Random::new(12);
    for kind in KINDS.iter().filter(|kind| !kind.open) {
        let at = kind.pieces.len() - 1;
        if matches!(kind.pieces[at], Piece::Run(..)) && !is_loose(kind, at) {
            for _ in 0..5 {
                let token = resized(kind, &mut random, at, 1).unwrap();
                check(kind, &format!("a {token} b"));
            }
        }
    }
}

/// Kinds that are written down here more strictly than they are found.
fn is_loose(kind: &Kind, at: usize) -> bool {
    match kind.id {
        // Two more or less on one side are within the bounds of both.
        "openai-api-key" => !kind.pieces.contains(&Piece::Is("sk-None-")),
        // Without what follows the dash it is a token, too.
        "databricks-api-token" => kind.pieces.len() > 2 && at > 1,
        // Its bounds are those of the other old form.
        "slack-legacy-bot-token" => at == 1,
        _ => false,
    }
}

#[test]
fn another_case_is_none() {
    let mut random = Random::new(13);
    for kind in KINDS {
        let Some(prefix) = kind.prefix() else {
            continue;
        };
        let token = kind.token(&mut random, Size::Any);
        let other: String = token
            .char_indices()
            .map(|(at, c)| match c {
                c if at >= prefix.len() => c,
                c if c.is_ascii_lowercase() => c.to_ascii_uppercase(),
                c => c.to_ascii_lowercase(),
            })
            .collect();
        if !token.starts_with(prefix) || other == token {
            continue;
        }
        let found = scan_secrets(&other);
        assert_eq!(
            found.len(),
            usize::from(kind.any_case),
            "{}: {other}",
            kind.id
        );
    }
}

#[test]
fn inside_a_word_is_none() {
    let mut random = Random::new(14);
    for kind in KINDS {
        for _ in 0..10 {
            let token = kind.token(&mut random, Size::Any);
            for before in ["a", "Z", "7", "my_", "x__", "_a_"] {
                let text = format!("see {before}{token} there");
                let found = scan_secrets(&text);
                assert!(
                    found
                        .iter()
                        .all(|one| one.rule != kind.id || one.start != 4 + before.len()),
                    "{}: {found:?} in {text:?}",
                    kind.id
                );
            }
        }
    }
}

#[test]
fn file_and_host_names_are_none() {
    let mut random = Random::new(15);
    for kind in KINDS
        .iter()
        .filter(|kind| !kind.last_alphabet().contains('.'))
    {
        for after in [".png", ".example.com", ".md)", ".7z"] {
            if kind.id == "databricks-api-token" && kind.pieces.len() > 2 {
                continue;
            }
            let token = kind.token(&mut random, Size::Any);
            check(kind, &format!("![a](images/{token}{after})"));
        }
    }
}

#[test]
fn rows_of_one_letter_are_none() {
    // Of this one nothing but the host name is sure.
    for kind in KINDS
        .iter()
        .filter(|kind| kind.id != "aws-bedrock-api-key-short-lived")
    {
        for letter in ['x', 'X', '0', '1', 'A', 'a', 'f', '7'] {
            check(kind, &format!("use {} here", kind.placeholder(letter)));
        }
    }
}

#[test]
fn what_stands_for_a_value_is_none() {
    for kind in KINDS {
        let Some(prefix) = kind.prefix() else {
            continue;
        };
        let names = [
            "...",
            "\u{2026}",
            "<token>",
            "<your-token-here>",
            "YOUR_KEY_HERE",
            "your-key-here",
            "xxxx",
            "XXXXXXXX",
            "********",
            "${TOKEN}",
            "$TOKEN",
            "{{ token }}",
            "${{ secrets.TOKEN }}",
            "%TOKEN%",
            "%s",
            "{}",
            "{0}",
            "@TOKEN@",
            "",
            " ",
            "null",
            "true",
            "your_secret_api_token_goes_exactly_here",
            "YOUR_SECRET_API_TOKEN_GOES_EXACTLY_HERE",
        ];
        for name in names {
            check(kind, &format!("TOKEN={prefix}{name}\n"));
        }
    }
}

#[test]
fn an_alphabet_in_order_is_none() {
    let letters: String = ('a'..='z')
        .chain('0'..='9')
        .chain('A'..='Z')
        .cycle()
        .take(200)
        .collect();
    for kind in KINDS {
        if let (Some(prefix), [_, Piece::Run(_, least, _)]) = (kind.prefix(), kind.pieces) {
            check(
                kind,
                &format!("{prefix}{}", letters.get(..*least.min(&200)).unwrap()),
            );
        }
    }
}

#[test]
fn known_false_alarms_are_none() {
    let mut random = Random::new(16);
    let hex = random.text(crate::token::HEX, 40);
    let upper = random.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 16);
    let texts = [
        format!("commit {hex}"),
        format!("sourcegraph {hex}"),
        format!("SIX{}{upper}", "AKIA"),
        format!("{}{upper}IS", "AKIA"),
        ["AKIA", "IOSFODNN7", "EXAMPLE"].concat(),
        format!("{}{upper}", "AROA"),
        format!("task_test_{}", random.text(crate::token::ALNUM, 24)),
        format!("{}{}", "pk_live_", random.text(crate::token::ALNUM, 24)),
        format!("sb_publishable_{}", random.text(crate::token::URL, 31)),
        format!("{}{}", "AC", random.text(crate::token::HEX, 32)),
        format!("{}{}", "pubkey-", random.text(crate::token::HEX, 32)),
        format!("favicon.ico-{}.png", random.text(crate::token::HEX, 32)),
        format!("catapul-{hex}"),
        "def test_hf_AutoModelForSequenceClassification(self):".to_owned(),
        "a row of ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~".to_owned(),
        "see https://github.com/memdir/memdir and http://localhost:8080/@scope/name".to_owned(),
        "xoxo-hugs-and-kisses-2024, xoxb-not-a-real-token, xoxa-discover".to_owned(),
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9... is the header".to_owned(),
        "the risk-averse desk-bound task-force, SKILLS and SKUs".to_owned(),
        format!(
            "https://hooks.slack.com/services/T{0}/B{0}/{1}",
            "0".repeat(8),
            "X".repeat(24)
        ),
        "git@github.com:memdir/memdir.git".to_owned(),
        "docker://alpine:3.19@sha256:0123".to_owned(),
        "user-agent: NRAK is what New Relic calls it".to_owned(),
    ];
    for text in &texts {
        assert_eq!(scan_secrets(text), [], "{text}");
    }
}
