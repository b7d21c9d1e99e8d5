//! What holds for any text.

use memdir_core::secrets::{redact_secrets, scan_secrets};
use proptest::prelude::*;

use crate::kinds::KINDS;
use crate::token::{BASE64, DIGITS, Random, Size};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Pieces of texts that are likely to be mistaken for something.
fn piece() -> impl Strategy<Value = String> {
    let token = (any::<u64>(), 0..KINDS.len())
        .prop_map(|(seed, kind)| KINDS[kind].token(&mut Random::new(seed), Size::Any));
    let cut = (any::<u64>(), 0..KINDS.len(), 0..60_usize).prop_map(|(seed, kind, length)| {
        let token = KINDS[kind].token(&mut Random::new(seed), Size::Any);
        token.chars().take(length).collect()
    });
    let run = (any::<u64>(), 0..80_usize)
        .prop_map(|(seed, length)| Random::new(seed).text(BASE64, length));
    let digits = (any::<u64>(), 0..14_usize)
        .prop_map(|(seed, length)| Random::new(seed).text(DIGITS, length));
    let block = (any::<u64>(), 0..90_usize).prop_map(|(seed, length)| {
        let dashes = "-".repeat(5);
        let body = Random::new(seed).text(BASE64, length);
        let footer = format!("\n{dashes}END PRIVATE KEY{dashes}");
        let footer = if seed % 3 == 0 { "" } else { &footer };
        format!("{dashes}BEGIN PRIVATE KEY{dashes}\n{body}{footer}")
    });
    let dashed = prop_oneof![
        Just("BEGIN PRIVATE KEY"),
        Just("END KEY"),
        Just("BEGIN CERTIFICATE"),
        Just("END CERTIFICATE")
    ]
    .prop_map(|words| format!("{0}{words}{0}", "-".repeat(5)));
    let url = (any::<u64>(), 0..12_usize).prop_map(|(seed, length)| {
        let mut random = Random::new(seed);
        let password = random.text(BASE64, length);
        let hosts = ["host7", "[::1]", "$HOST", "{host}", "<host>"];
        let host = hosts[random.below(hosts.len())];
        format!("https://user:{password}@{host}")
    });
    prop_oneof![
        4 => token,
        2 => cut,
        1 => run,
        1 => digits,
        1 => block,
        1 => dashed,
        1 => url,
        6 => prop::sample::select(vec![
            " ", "\n", "\r\n", ".", "-", "_", "__", ",", "/", "=", "==", "+", "~", "%", "@", ":", "://", "\\", "\\n",
            "%3D", "\"", "`", "|", "*", "[", "]", "(", ")", "a", "Z", "9", "\u{200B}", "\u{4E2D}", "...", ".ey", "AA",
            "Q~", "T3BlbkFJ", "-us", "_mmk", ".atlasv1.", "x", "[secret removed: ", "@example.com",
            "\0", "\u{AD}", "\u{1B}", "\u{1B}[31m", "[0m", "\\u003d", "~~", "--", "--then", "'", "$", ":\\/\\/", "80",
            "\u{F6}",
        ]).prop_map(str::to_owned),
        1 => ".{0,12}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14).prop_map(|pieces| pieces.concat())
}

fn holds(text: &str) -> Result<(), TestCaseError> {
    let found = scan_secrets(text);
    let redacted = redact_secrets(text);
    let mut expected = String::new();
    let mut done = 0;
    for one in &found {
        prop_assert!(one.start >= done && one.start < one.end);
        prop_assert_eq!(
            one.line,
            text.get(..one.start).unwrap().matches('\n').count() + 1
        );
        expected.push_str(text.get(done..one.start).unwrap());
        expected.push_str(&format!("[secret removed: {}]", one.rule));
        done = one.end;
    }
    expected.push_str(text.get(done..).unwrap());
    prop_assert_eq!(&redacted, &expected);
    let again = scan_secrets(&redacted);
    prop_assert!(
        again.is_empty(),
        "{:?} in {:?} from {:?}, which had {:?}",
        again,
        redacted,
        text,
        found
    );
    Ok(())
}

proptest! {
    #![proptest_config(config(4_000))]

    #[test]
    fn redacted_text_holds_nothing_and_is_else_the_same(text in text()) {
        holds(&text)?;
    }

    #[test]
    fn any_text_at_all(text in any::<String>()) {
        holds(&text)?;
    }
}

/// In quadratic time this would be hours.
#[test]
fn long_texts_take_linear_time() {
    let long = 150_000;
    let header = format!("{0}BEGIN PRIVATE KEY{0}", "-".repeat(5));
    let footer = format!("{0}END PRIVATE KEY{0}", "-".repeat(5));
    let wrapped = "ZXlKaGJHY2lPaUpJVXpJMU5pSjku";
    for piece in [
        "glpat-",
        "sk-proj-",
        "sk-ant-oat01-",
        "eyJ-",
        "eyJa.",
        "xoxd-",
        "://",
        "a://b:c",
        "ZXlK-",
        "x",
        "-",
        "\u{200B}",
        "\u{2014}",
        "a\u{200B}",
        "-us1",
        "_mmk",
        "Q~",
        ".atlasv1.",
        "sk-\u{200B}",
        "xai-\0",
        "a://b:c\u{AD}",
        "\u{1B}[1",
        "xoxs-1-1-1-a",
        &header,
        &footer,
        wrapped,
    ] {
        let text = piece.repeat(long / piece.len());
        let _ = scan_secrets(&text);
        // Many places before one long run, which each of them may go on with.
        for run in [
            ".",
            "a",
            "a.",
            "-",
            "=",
            "\n",
            "0123456789abcdefghij\n",
            ".eyJ",
        ] {
            let run = run.repeat(long / run.len());
            let _ = scan_secrets(&format!("{text}{run}"));
            let _ = scan_secrets(&format!("{text}.eyJ{run}.ghp"));
            let _ = scan_secrets(&format!("{header}{text}{run}"));
        }
    }
}
