//! Instructions that somebody has made to cost much, as large as they may be. Where the work grew with the square of their
//! length, these would take minutes or hours.

use memdir_core::limits::{FILE_MAX_BYTES, FRONTMATTER_MAX_BYTES};
use memdir_core::rules::{parse_instructions, rule_applies};

/// As many repetitions as a file may hold.
fn whole_file(text: &str) -> String {
    text.repeat(usize::try_from(FILE_MAX_BYTES).unwrap_or_default() / text.len())
}

#[test]
fn many_imports_are_read() {
    let text: String = (0..400_000).map(|number| format!("@a{number} ")).collect();
    assert_eq!(parse_instructions(&text).imports.len(), 400_000);
}

#[test]
fn many_comments_on_a_line_are_removed() {
    let parsed = parse_instructions(&whole_file("<!--a-->x"));
    // The block ends with the line, so all of them are block-level.
    assert!(parsed.text.bytes().all(|byte| byte == b'x'));
}

#[test]
fn many_braces_brackets_and_stars_are_compared() {
    let count = FRONTMATTER_MAX_BYTES;
    let nested = format!("{}{}", "{a,".repeat(count / 4), "}".repeat(count / 4));
    for pattern in ["{".repeat(count), "[".repeat(count), nested] {
        assert!(!rule_applies(&[pattern], "a/b/c.ts"));
    }
    let stars = format!("{}b", "*a".repeat(1_000));
    assert!(!rule_applies(&[stars], &"a".repeat(10_000)));
    let folders = format!("{}b", "**/a/".repeat(1_000));
    assert!(!rule_applies(&[folders], &"a/".repeat(5_000)));
}
