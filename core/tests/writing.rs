//! What holds for every text that is written: it is read back equal, and nothing else changes.

use memdir_core::memory::{MemoryType, parse_frontmatter};
use memdir_core::report::ReportCode;
use memdir_core::write::{
    IndexEntry, MemoryChanges, memory_file_name, update_index, update_memory,
};
use proptest::prelude::*;

/// Values that YAML gives a meaning to, and any other.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{1,40}",
        "[-:#'\"|>&*!%@`?,{}\\[\\]~ a\n\t\\\\]{1,12}",
        "\\PC{1,20}",
        any::<String>(),
        prop_oneof![
            Just("yes"),
            Just("null"),
            Just("2026-03-15"),
            Just("1_000"),
            Just("---"),
            Just("a: b # c"),
            Just("- x"),
            Just("key:"),
        ]
        .prop_map(str::to_owned),
    ]
    .prop_map(|text| text.replace('\0', ""))
}

fn kind() -> impl Strategy<Value = MemoryType> {
    prop_oneof![
        Just(MemoryType::User),
        Just(MemoryType::Feedback),
        Just(MemoryType::Project),
        Just(MemoryType::Reference),
    ]
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
}

/// A memory as people and programs write them, and some that nobody should.
fn memory() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        value().prop_map(|value| format!("description: {}", value.replace('\n', " "))),
        Just("name: Note".to_owned()),
        Just("type: project # why".to_owned()),
        Just("metadata: \n  node_type: memory\n  type: feedback".to_owned()),
        Just("tags: [a, b]".to_owned()),
        Just("title: >\n  two\n  lines".to_owned()),
        "[a-z]{1,8}: [ -~]{0,12}",
        Just("# a comment".to_owned()),
    ];
    (
        prop_oneof![Just(""), Just("\u{FEFF}")],
        prop::collection::vec(line, 0..6),
        prop_oneof![Just("\n"), Just("\r\n")],
        "[ -~\n]{0,40}",
    )
        .prop_map(|(mark, lines, end, body)| {
            let text = format!("{mark}---\n{}\n---\n{body}", lines.join("\n"));
            text.replace('\n', end)
        })
}

proptest! {
    // As in the other properties: a failure becomes a vector, no file keeps seeds.
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_new_memory_is_read_back(kind in kind(), name in value(), description in value(), body in any::<String>()) {
        prop_assume!(!trimmed(&name).is_empty() && !body.contains('\0'));
        let changes = MemoryChanges {
            kind: Some(kind),
            name: Some(name.clone()),
            description: Some(description.clone()),
            body: Some(body.clone()),
            modified: Some("2026-03-15T10:30:00.000Z".to_owned()),
        };
        let edited = update_memory(None, &changes).unwrap();
        let read = parse_frontmatter(&edited.content);
        prop_assert_eq!(read.name.as_deref(), Some(trimmed(&name)));
        prop_assert_eq!(read.description.unwrap_or_default(), trimmed(&description));
        prop_assert_eq!(read.kind, Some(kind));
        prop_assert_eq!(read.modified_ms, Some(1_773_570_600_000));
        let written = edited.content.get(read.body..).unwrap_or_default();
        let line_ends =
            |text: &str| text.replace("\r\n", "\n").trim_matches(['\r', '\n']).to_owned();
        prop_assert_eq!(line_ends(written), line_ends(&body));
        // Written once more, nothing changes.
        prop_assert!(!update_memory(Some(&edited.content), &changes).unwrap().changed);
    }

    #[test]
    fn a_change_touches_nothing_else(text in memory(), description in value()) {
        let changes = MemoryChanges { description: Some(description.clone()), ..MemoryChanges::default() };
        let before = parse_frontmatter(&text);
        // What was read by quoting it may be read better once the rest is mended.
        let broken = [ReportCode::FrontmatterRepaired, ReportCode::FrontmatterInvalid];
        if before.problems.iter().any(|problem| broken.contains(&problem.code)) {
            return Ok(());
        }
        if let Ok(edited) = update_memory(Some(&text), &changes) {
            let after = parse_frontmatter(&edited.content);
            prop_assert_eq!(after.description.unwrap_or_default(), trimmed(&description));
            prop_assert_eq!((after.name, after.kind, after.pinned), (before.name, before.kind, before.pinned));
            prop_assert_eq!(edited.content.get(after.body..), text.get(before.body..));
            prop_assert_eq!(edited.content.starts_with('\u{FEFF}'), text.starts_with('\u{FEFF}'));
        }
    }

    #[test]
    fn an_entry_comes_and_goes(lines in prop::collection::vec("[ -~]{0,30}", 0..6), end in prop_oneof![Just("\n"), Just("\r\n")], last in any::<bool>(), name in value(), hook in value()) {
        let mut text = lines.join(end);
        if last {
            text.push_str(end);
        }
        prop_assume!(!text.contains("](x%20y.md)") && !text.trim().is_empty());
        let entry = IndexEntry { name, description: Some(hook) };
        let path = "x y.md";
        let with = update_index(Some(&text), "", path, Some(&entry)).unwrap();
        prop_assert!(with.changed);
        let line = with.content.lines().find(|line| line.contains("](x%20y.md)")).unwrap();
        prop_assert!(line.chars().count() <= 150, "{}", line);
        prop_assert!(!update_index(Some(&with.content), "", path, Some(&entry)).unwrap().changed);
        let without = update_index(Some(&with.content), "", path, None).unwrap();
        prop_assert_eq!(without.content, text);
    }

    #[test]
    fn a_file_name_is_one_everywhere(kind in kind(), name in value(), number in 0_u32..2000) {
        let file = memory_file_name(kind, &name, number);
        prop_assert!(file.len() <= 80 && file.ends_with(".md"), "{}", file);
        prop_assert!(!file.contains(|c: char| c.is_control() || c.is_whitespace() || "/\\:*?\"<>|".contains(c)), "{:?}", file);
        let begins = format!("{}_", kind.name());
        prop_assert!(file.starts_with(&begins), "{}", file);
    }
}
