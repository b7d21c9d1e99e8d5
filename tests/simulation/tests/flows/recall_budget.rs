//! How much a recall shows: five memories, 4,096 bytes and 200 lines of each, 20,480 bytes a turn,
//! 61,440 a conversation (facts 5.4; `grant_bytes` and `cut_memory` of the recall rules).
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use memdir_core::recall::RecallState;
use memdir_core::report::ReportCode as Code;
use memdir_core::store::{Recall, RecallOptions};
use memdir_simulation::{Attempt, OLD_MS, Random, Session, Tree, codes, paths};

/// A store of these texts as `0.md`, `1.md` and so on, and a model that chooses five of them each
/// turn, one after the other.
fn session(texts: &[String]) -> Session {
    let mut tree = Tree::new();
    for (number, text) in texts.iter().enumerate() {
        tree.file(format!("/mem/{number}.md"), text).at(OLD_MS);
    }
    let numbers: Vec<usize> = (0..texts.len()).collect();
    let turns = numbers.chunks(5).map(|turn| {
        let names: Vec<String> = turn.iter().map(|number| format!("{number}.md")).collect();
        Attempt::answer(serde_json::json!(names).to_string())
    });
    Session::new(tree, "/mem").function(turns.collect())
}

fn used(bytes: u64) -> RecallOptions {
    RecallOptions {
        state: RecallState {
            surfaced: vec![],
            bytes,
        },
        ..RecallOptions::default()
    }
}

/// The next turn of a conversation.
fn turn(session: &mut Session, state: &RecallState) -> Recall {
    // Whatever a host keeps of a state, it keeps as text.
    let text = serde_json::to_string(state).unwrap();
    let options = RecallOptions {
        state: serde_json::from_str(&text).unwrap(),
        ..RecallOptions::default()
    };
    assert_eq!(options.state, *state);
    session.recall_with("two words", options).unwrap()
}

fn sizes(recall: &Recall) -> Vec<usize> {
    recall
        .memories
        .iter()
        .map(|one| one.content.len())
        .collect()
}

#[test]
fn a_conversation_is_shown_three_full_turns_and_no_more() {
    let texts: Vec<String> = (0..25).map(|_| "x".repeat(5_000)).collect();
    let mut session = session(&texts);
    let mut state = RecallState::default();
    for number in 1..=3_usize {
        let recall = turn(&mut session, &state);
        assert_eq!(sizes(&recall), [4_096; 5]);
        let mut said = codes(&recall);
        said.dedup_by_key(|(_, code)| *code);
        assert_eq!((said.len(), recall.report.len()), (1, 5));
        assert_eq!(
            recall.report.first().map(|entry| entry.code),
            Some(Code::ContentCut)
        );
        assert_eq!(recall.state.bytes, 20_480 * number as u64);
        assert_eq!(recall.state.surfaced.len(), 5 * number);
        state = recall.state;
    }
    for _ in 0..2 {
        let recall = turn(&mut session, &state);
        assert_eq!(
            (paths(&recall), codes(&recall)),
            (vec![], vec![("", Code::SessionBudget)])
        );
        assert_eq!(recall.state, state);
        assert_eq!((session.asked_model(), session.read()), (0, vec![]));
    }
}

/// Random conversations; what may not be exceeded is not, and the state adds up.
fn converse(ending: &str) {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let texts: Vec<String> = (0..60)
            .map(|_| {
                let size = usize::try_from(random.below(6_000)).unwrap();
                let width = 1 + usize::try_from(random.below(300)).unwrap();
                let text: String = "words, and more of them; "
                    .chars()
                    .cycle()
                    .take(size)
                    .collect();
                let lines: Vec<&str> = text
                    .as_bytes()
                    .chunks(width)
                    .map(|line| std::str::from_utf8(line).unwrap())
                    .collect();
                lines.join("\n") + ending
            })
            .collect();
        let mut session = session(&texts);
        let mut state = RecallState::default();
        for _ in 0..12 {
            let recall = turn(&mut session, &state);
            assert!(recall.memories.len() <= 5);
            for one in &recall.memories {
                assert!(one.content.len() <= 4_096, "{seed}: {}", one.content.len());
                assert!(one.content.lines().count() <= 200, "{seed}");
                let name = one.path.trim_end_matches(".md").parse::<usize>().unwrap();
                let whole = texts.get(name).unwrap();
                assert!(whole.starts_with(&one.content));
                assert_eq!(one.note.is_none(), one.content == *whole, "{seed}");
            }
            let shown: usize = sizes(&recall).iter().sum();
            assert!(shown <= 20_480, "{seed}: {shown}");
            assert_eq!(recall.state.bytes, state.bytes + shown as u64);
            assert!(recall.state.bytes <= 61_440, "{seed}: {:?}", recall.state);
            let new = recall.state.surfaced.get(state.surfaced.len()..).unwrap();
            assert_eq!(new, paths(&recall));
            state = recall.state;
        }
        assert!(state.bytes > 40_000, "{seed}: {}", state.bytes);
    }
}

#[test]
fn no_conversation_is_shown_too_much() {
    for ending in ["", ".", "\n", "\r\n"] {
        converse(ending);
    }
}

#[test]
fn the_last_line_end_counts_too() {
    let text = "x".repeat(4_096) + "\n";
    let mut five = session(&vec![text.clone(); 5]);
    let recall = five.recall("two words").unwrap();
    assert!(
        sizes(&recall).iter().all(|size| *size <= 4_096),
        "{:?}",
        sizes(&recall)
    );
    assert!(recall.state.bytes <= 20_480, "{}", recall.state.bytes);
    let mut last = session(&["x".repeat(300) + "\n"]);
    let recall = last.recall_with("two words", used(61_440 - 300)).unwrap();
    assert!(recall.state.bytes <= 61_440, "{}", recall.state.bytes);
}

#[test]
fn what_is_left_is_granted_in_order_and_no_scraps() {
    let text = |size: usize| "x".repeat(size);
    // Left, sizes, what is shown of each.
    let cases: [(u64, &[usize], &[usize]); 8] = [
        (1_000, &[600, 600, 300], &[600, 400]),
        (1_000, &[600, 145, 600, 255], &[600, 145, 255]),
        (300, &[1_000, 10], &[300]),
        (256, &[1_000], &[256]),
        (255, &[1_000, 255], &[255]),
        (255, &[1_000, 200, 55], &[200, 55]),
        (1, &[1, 1], &[1]),
        (61_440, &[4_097, 4_096, 4_095], &[4_096, 4_096, 4_095]),
    ];
    for (left, sizes_on_disk, shown) in cases {
        let texts: Vec<String> = sizes_on_disk.iter().map(|size| text(*size)).collect();
        let mut session = session(&texts);
        let recall = session
            .recall_with("two words", used(61_440 - left))
            .unwrap();
        assert_eq!(sizes(&recall), shown, "{left} {sizes_on_disk:?}");
        let out = codes(&recall)
            .into_iter()
            .filter(|(_, code)| *code == Code::SessionBudget);
        let out: Vec<&str> = out.map(|(path, _)| path).collect();
        let gone: Vec<String> = (0..texts.len())
            .map(|number| format!("{number}.md"))
            .filter(|path| !paths(&recall).contains(&path.as_str()))
            .collect();
        assert_eq!(out, gone, "{left} {sizes_on_disk:?}");
        // What was not shown may come in another turn.
        assert_eq!(recall.state.surfaced, paths(&recall));
    }
    for bytes in [61_440, 61_441, u64::MAX] {
        let recall = session(&[text(10)])
            .recall_with("two words", used(bytes))
            .unwrap();
        assert_eq!(codes(&recall), [("", Code::SessionBudget)]);
        assert_eq!(recall.state.bytes, bytes);
    }
}

#[test]
fn what_is_cut_says_what_and_where_the_rest_is() {
    let cut = |lines: u32, shown: &str, whole: &str, limit: &str| {
        let what = match lines {
            1 => "its first line is shown".to_owned(),
            _ => format!("its first {lines} lines are shown"),
        };
        Some(format!(
            "> Cut: only {what} ({shown} of {whole}), because of a limit of {limit}. Read /mem/0.md for the rest."
        ))
    };
    let cases = [
        // 5,000 / 1,024 = 4.88.
        (
            "x".repeat(5_000),
            4_096,
            cut(1, "4.0KB", "4.9KB", "4096 bytes"),
        ),
        (
            "x\n".repeat(300),
            399,
            cut(200, "399B", "600B", "200 lines"),
        ),
        ("x\n".repeat(200), 400, None),
        (
            format!("{}x", "x\n".repeat(200)),
            399,
            cut(200, "399B", "401B", "200 lines"),
        ),
        // 40 lines of 100 bytes are 4,000; with the 41st without its line end 4,099. 6,000 / 1,024 = 5.86.
        (
            format!("{}\n", "x".repeat(99)).repeat(60),
            3_999,
            cut(40, "3.9KB", "5.9KB", "4096 bytes"),
        ),
        // A character of two bytes at an odd place.
        (
            format!("x{}", "é".repeat(3_000)),
            4_095,
            cut(1, "4.0KB", "5.9KB", "4096 bytes"),
        ),
        (
            format!("{}\r\n\r\n{}", "x".repeat(4_000), "y".repeat(4_000)),
            4_000,
            cut(2, "3.9KB", "7.8KB", "4096 bytes"),
        ),
        (String::new(), 0, None),
        ("x".repeat(4_096), 4_096, None),
    ];
    for (text, shown, note) in cases {
        let mut session = session(std::slice::from_ref(&text));
        let recall = session.recall("two words").unwrap();
        let one = recall.memories.first().unwrap();
        assert_eq!(
            (one.content.len(), &one.note),
            (shown, &note),
            "{} bytes",
            text.len()
        );
        let is_cut = codes(&recall).contains(&("0.md", Code::ContentCut));
        assert_eq!(is_cut, note.is_some());
        if let Some(note) = note {
            assert!(one.text.ends_with(&format!("\n\n{note}")), "{}", one.text);
        }
    }
}
