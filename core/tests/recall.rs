//! What must hold of recall's rules for any input.

use memdir_core::memory::{MemoryHeader, parse_frontmatter};
use memdir_core::recall::{Index, RankedMemory, Standing};
use memdir_core::rules::{cut_memory, grant_bytes, rank_memories, read_selection, tokenize};
use proptest::prelude::*;

fn header(path: &str) -> MemoryHeader {
    let stat = memdir_core::flow::Stat {
        kind: memdir_core::flow::FileKind::File,
        size: 0,
        mtime_ms: 0,
        mtime_ns: 0,
        ctime_ms: None,
        inode: None,
        mode: None,
    };
    MemoryHeader::new(path.to_owned(), &stat, parse_frontmatter(""))
}

/// Texts that share words, in several scripts, so that rankings have something to decide.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("deploy"),
        Just("deployment"),
        Just("userName"),
        Just("user_name"),
        Just("the"),
        Just("数据库迁移"),
        Just("テスト"),
        Just("데이터베이스"),
        Just("миграция"),
        Just("ERR-42"),
    ];
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    // A failure prints its smallest input, which then becomes a vector; no file keeps seeds.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_can_be_cut_into_words(text in any::<String>()) {
        for word in tokenize(&text) {
            prop_assert!(word.whole.is_some() || !word.parts.is_empty());
            for term in word.whole.iter().chain(&word.parts) {
                prop_assert!(!term.is_empty());
            }
            let mut sorted = word.parts.clone();
            sorted.sort();
            sorted.dedup();
            prop_assert_eq!(&sorted, &word.parts);
        }
    }

    /// Whatever was put in, changed and taken out before, an index answers like a new one.
    #[test]
    fn an_index_forgets_what_was_taken_out(
        steps in prop::collection::vec((0_u8..6, prop::option::of(text())), 1..60),
        query in text(),
    ) {
        let mut index = Index::default();
        let mut left = std::collections::BTreeMap::new();
        for (number, text) in steps {
            let path = format!("note_{number}.md");
            match text {
                Some(text) => {
                    index.put(&header(&path), &text, 0, 0);
                    left.insert(path, text);
                }
                None => {
                    index.remove(&path, 0);
                    left.remove(&path);
                }
            }
        }
        let memories: Vec<RankedMemory> = left
            .into_iter()
            .map(|(path, text)| RankedMemory { path, text, age_days: 0, uses: 0 })
            .collect();
        let new = rank_memories(&query, &memories);
        prop_assert_eq!(index.len(), memories.len());
        prop_assert_eq!(index.rank(&query, |_| Some(Standing::default())), new);
    }

    #[test]
    fn what_is_shown_is_a_beginning_within_the_limits(
        text in "(\\PC{0,300}\r?\n?){0,30}",
        more in 0_u64..10_000,
        max in 0_u64..6_000,
    ) {
        let size = text.len() as u64 + more;
        let cut = cut_memory(&text, size, "/code/shop/a.md", max);
        prop_assert!(text.starts_with(&cut.content));
        prop_assert!(cut.content.len() as u64 <= max.min(4_096));
        prop_assert!(cut.content.lines().count() <= 200);
        prop_assert_eq!(cut.note.is_none(), cut.content.len() as u64 == size);
    }

    #[test]
    fn budgets_are_never_exceeded(used in 0_u64..70_000, sizes in prop::collection::vec(0_u64..9_000, 0..9)) {
        let granted = grant_bytes(used, &sizes);
        prop_assert_eq!(granted.len(), sizes.len());
        let sum: u64 = granted.iter().sum();
        prop_assert!(sum <= 20_480 && (sum == 0 || used + sum <= 61_440));
        for (granted, size) in granted.iter().zip(&sizes) {
            prop_assert!(granted <= size && *granted <= 4_096);
        }
    }

    #[test]
    fn only_candidates_are_ever_chosen(answer in any::<String>(), names in prop::collection::vec("[a-c]\\.md", 0..9)) {
        let candidates = ["a.md".to_owned(), "b.md".to_owned()];
        let said = serde_json::json!({"selected_memories": names});
        for answer in [answer.clone(), format!("{answer}{said}"), format!("{said}\n{answer}")] {
            if let Ok(selection) = read_selection(&answer, &candidates) {
                prop_assert!(selection.paths.iter().all(|path| candidates.contains(path)));
                prop_assert!(selection.paths.len() <= 2);
            }
        }
    }
}
