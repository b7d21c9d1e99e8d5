//! What holds however a transcript is divided and whatever it holds; and the limits that are too long
//! for vectors.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::{Reader, Transcript};
use crate::conversation::Content;
use crate::limits::{
    TRANSCRIPT_LINE_VALUES, TRANSCRIPT_MESSAGES, TRANSCRIPT_PARENTS, TRANSCRIPT_WINDOW_BYTES,
};
use crate::report::ReportCode;

fn whole(bytes: &[u8]) -> Transcript {
    let mut reader = Reader::default();
    reader.feed(bytes);
    reader.end()
}

fn ids(transcript: &Transcript) -> Vec<&str> {
    let ids = transcript.messages.iter().map(|message| &message.id);
    ids.flatten().map(String::as_str).collect()
}

fn codes(transcript: &Transcript) -> Vec<ReportCode> {
    transcript.report.iter().map(|entry| entry.code).collect()
}

/// Lines of a session whose ids are few, so that they often meet.
fn line() -> impl Strategy<Value = String> {
    let id = || proptest::option::of("[a-e]");
    let kind = prop_oneof![
        Just("user"),
        Just("assistant"),
        Just("assistant"),
        Just("progress")
    ];
    let content = prop_oneof![
        "\\PC{0,6}".prop_map(|text| json!(text)),
        Just(json!([{ "type": "text", "text": "é]},[{\"\\" }])),
        Just(json!([{ "type": "tool_result", "tool_use_id": "t", "content": ["x"] }])),
        Just(json!(5)),
    ];
    let session = (kind, id(), id(), content, "[xy]", any::<bool>()).prop_map(
        |(kind, uuid, parent, content, answer, plain)| {
            let mut line = json!({ "role": kind, "content": content, "id": answer });
            if !plain {
                line = json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "message": line });
            }
            line.to_string()
        },
    );
    prop_oneof![
        8 => session,
        1 => Just(r#"{"role":"user","content":"\ud83d"}"#.to_owned()),
        1 => Just("\u{FEFF}".to_owned()),
        1 => "[ \\[\\]{}\",:a\\\\0-9]{0,8}",
    ]
}

/// A transcript of any of the three forms, or something like one, cut off anywhere.
fn transcript() -> impl Strategy<Value = Vec<u8>> {
    let ends = prop_oneof![Just("\n"), Just("\r\n"), Just(","), Just(",\n")];
    let starts = prop_oneof![Just(""), Just("\u{FEFF}"), Just("["), Just("\u{FEFF}\n [")];
    (
        starts,
        vec(line(), 0..12),
        ends,
        any::<prop::sample::Index>(),
    )
        .prop_map(|(start, lines, end, at)| {
            let mut text = format!("{start}{}{end}]", lines.join(end)).into_bytes();
            let length = at.index(text.len() * 2 + 1);
            text.truncate(length);
            text
        })
}

proptest! {
    // As in the other properties: a failure becomes a vector, no file keeps seeds.
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn where_it_is_divided_does_not_matter(bytes in transcript(), lengths in vec(0usize..40, 0..40)) {
        let expected = whole(&bytes);
        let mut reader = Reader::default();
        let mut rest = bytes.as_slice();
        for length in lengths {
            let (part, after) = rest.split_at(length.min(rest.len()));
            reader.feed(part);
            rest = after;
        }
        reader.feed(rest);
        prop_assert_eq!(&reader.end(), &expected);

        let mut reader = Reader::default();
        bytes.iter().for_each(|byte| reader.feed(&[*byte]));
        prop_assert_eq!(&reader.end(), &expected);
    }

    #[test]
    fn any_bytes_give_a_transcript(bytes in vec(any::<u8>(), 0..300), mut near in transcript(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        prop_assert!(whole(&bytes).messages.len() <= bytes.len());
        if !near.is_empty() {
            let at = at.index(near.len());
            near[at] = byte;
        }
        let transcript = whole(&near);
        for (number, entry) in transcript.report.iter().enumerate() {
            prop_assert!(!entry.message.contains('\n'));
            prop_assert!(transcript.report.iter().skip(number + 1).all(|other| other.code > entry.code));
        }
        // What is said can be said again.
        let again: String = transcript.messages.iter().map(|message| json!(message).to_string() + "\n").collect();
        prop_assert_eq!(whole(again.as_bytes()).messages, transcript.messages);
    }
}

#[test]
fn text_that_is_not_utf_8_is_a_broken_line() {
    let transcript =
        whole(b"{\"role\":\"user\",\"content\":\"\xFF\"}\n\xEF\xBB{}\n{\"role\":\"user\",\"content\":\"x\"}\n");
    assert_eq!(transcript.messages.len(), 1);
    assert_eq!(codes(&transcript), [ReportCode::BrokenLine]);
    assert!(
        transcript.report[0]
            .message
            .ends_with("times: 2, first: line 1"),
        "{transcript:?}"
    );
    // A mark that is none belongs to the first line, and one that has not come whole is still written.
    assert_eq!(
        codes(&whole(
            b"\xEF\xBB{\"role\":\"user\",\"content\":\"x\"}\n{}\n"
        ))
        .len(),
        2
    );
    assert_eq!(codes(&whole(b"\xEF\xBB")), []);
    assert_eq!(codes(&whole(b"{\"role\":\"user\",\"content\":\"\xC3")), []);
}

#[test]
fn only_so_many_messages_are_kept() {
    let mut reader = Reader::default();
    let more = 7;
    for number in 0..TRANSCRIPT_MESSAGES + more {
        reader.feed(
            json!({ "role": "user", "content": number.to_string() })
                .to_string()
                .as_bytes(),
        );
        reader.feed(b"\n");
    }
    let transcript = reader.end();
    assert_eq!(transcript.messages.len(), TRANSCRIPT_MESSAGES);
    assert_eq!(transcript.left_out, 7);
    assert_eq!(
        transcript.messages[0].content,
        Content::Text(more.to_string())
    );
}

#[test]
fn a_branch_from_what_was_left_out_drops_nothing() {
    let mut reader = Reader::default();
    let said = |uuid: usize, parent: usize| {
        let line = json!({ "type": "user", "uuid": uuid.to_string(), "parentUuid": parent.to_string(),
                           "message": { "role": "user", "content": "x" } });
        line.to_string() + "\n"
    };
    for number in 1..=TRANSCRIPT_MESSAGES + 5 {
        reader.feed(said(number, number - 1).as_bytes());
    }
    reader.feed(said(1_000_000, 5).as_bytes());
    let transcript = reader.end();
    assert_eq!(
        (transcript.messages.len(), transcript.left_out),
        (TRANSCRIPT_MESSAGES, 6)
    );
}

#[test]
fn a_parent_is_remembered_for_so_many_lines() {
    for (between, dropped) in [
        (TRANSCRIPT_PARENTS - 2, true),
        (TRANSCRIPT_PARENTS - 1, false),
    ] {
        let mut reader = Reader::default();
        for (uuid, parent) in [("a", ""), ("b", "a")] {
            let line = json!({ "type": "user", "uuid": uuid, "parentUuid": parent, "message": { "role": "user", "content": "x" } });
            reader.feed(format!("{line}\n").as_bytes());
        }
        for number in 0..between {
            let line = json!({ "type": "progress", "uuid": number.to_string(), "parentUuid": "b" });
            reader.feed(format!("{line}\n").as_bytes());
        }
        reader.feed(br#"{"type":"user","uuid":"c","parentUuid":"a","message":{"role":"user","content":"x"}}"#);
        let transcript = reader.end();
        assert_eq!(
            ids(&transcript),
            if dropped {
                vec!["a", "c"]
            } else {
                vec!["a", "b", "c"]
            }
        );
    }
}

#[test]
fn one_answer_does_not_grow_without_end() {
    let text = "x".repeat(1024 * 1024);
    let line = json!({ "type": "assistant", "uuid": "a", "message": {
        "role": "assistant", "id": "m", "content": [{ "type": "text", "text": text }] } });
    let line = format!("{line}\n");
    let mut reader = Reader::default();
    for _ in 0..40 {
        reader.feed(line.as_bytes());
    }
    let transcript = reader.end();
    // Fifteen of a mebibyte and what is beside their texts fit; of three such messages one is kept.
    let blocks = |content: &Content| match content {
        Content::Blocks(blocks) => blocks.len(),
        Content::Text(_) => 0,
    };
    let sizes: Vec<usize> = transcript
        .messages
        .iter()
        .map(|message| blocks(&message.content))
        .collect();
    assert_eq!(TRANSCRIPT_WINDOW_BYTES / text.len(), 16);
    assert_eq!((sizes, transcript.left_out), (vec![10], 2));
}

#[test]
fn as_many_values_as_are_held() {
    // Beside the numbers: the block, the object, the array.
    for (count, held) in [
        (TRANSCRIPT_LINE_VALUES - 3, true),
        (TRANSCRIPT_LINE_VALUES - 2, false),
    ] {
        let line = json!({ "role": "assistant", "content": [
            { "type": "tool_use", "id": "i", "name": "n", "input": { "a": vec![0; count] } }] });
        let transcript = whole(format!("{line}\n").as_bytes());
        assert_eq!(transcript.messages.len(), usize::from(held));
        assert_eq!(codes(&transcript).is_empty(), held);
    }
}
