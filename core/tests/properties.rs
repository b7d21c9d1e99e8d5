//! What holds for the rules whatever they are given.

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::conversation::{Block, Content, Message};
use memdir_core::limits::{
    COMMAND_MAX_CHARS, FRONTMATTER_MAX_BYTES, HEAD_BYTES, INDEX_MAX_BYTES, INDEX_MAX_LINES,
};
use memdir_core::lint::{LintInput, LintMemory};
use memdir_core::memory::{Frontmatter, MemoryHeader, MemoryType, Scope};
use memdir_core::model::Role;
use memdir_core::model::{Key, ModelOptions, ToolDefinition, ToolRequest, ToolTurn};
use memdir_core::paths::{DirectoryQuestion, Environment, PerSource, Platform};
use memdir_core::report::ReportCode;
use memdir_core::rules::{
    batch_entries, choose_directory, compaction_cut, decode_tool_answer, encode_tool_request,
    env_flag, estimate_tokens, fill_template, format_manifest, injective_key, lint_memories,
    measure_notes, memory_age, notes_are_empty, parse_frontmatter, project_slug, read_only_command,
    team_delta, truncate_index, validate_memory_path,
};
use memdir_core::session::{CompactionQuestion, TemplateValues};
use memdir_core::team::checksum;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

/// A failure prints its smallest input, which then becomes a vector; no file keeps seeds.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Text made of pieces that mean something to one of the rules, and of anything.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("---\n".to_owned()),
        Just("...\n".to_owned()),
        Just("\u{FEFF}".to_owned()),
        Just("e\u{301}👩‍👩‍👧🇫🇷中\u{2028}\u{85}".to_owned()),
        "(name|description|type|metadata|modified|pinned|x): ?",
        "[ \t:#'\"\\[\\]{},&*!|>%@`~.?-]{1,3}",
        "[a-z0-9]{1,8}",
        "\\PC{0,4}",
        any::<String>(),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// An index around and beyond both limits.
fn index() -> impl Strategy<Value = String> {
    let line = (
        text(),
        0usize..400,
        prop_oneof![Just("x"), Just("é"), Just("👩‍👩‍👧"), Just(" "), Just("\u{301}")],
    )
        .prop_map(|(text, count, filler)| text + &filler.repeat(count));
    let lines = vec(line, 0..24).prop_map(|lines| lines.join("\n"));
    (lines, 1usize..40, any::<bool>()).prop_map(|(lines, count, wide)| {
        let text = if wide { format!("{lines}\n") } else { lines };
        text.repeat(count)
    })
}

/// Trims as the rules do.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
}

/// Every character that some reader takes for the end of a line.
fn ends_line(c: char) -> bool {
    matches!(
        c,
        '\n' | '\u{B}' | '\u{C}' | '\r' | '\u{1C}'..='\u{1E}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The first bytes of a text, as a host that reads only so far gives them.
fn head(text: &str, bytes: usize) -> &str {
    text.split_at_checked(text.floor_char_boundary(bytes))
        .unwrap_or_default()
        .0
}

/// Without the remark on a second block, for which a head may be too short.
fn without_second_block(mut frontmatter: Frontmatter) -> Frontmatter {
    frontmatter
        .problems
        .retain(|problem| problem.code != ReportCode::SecondFrontmatter);
    frontmatter
}

/// A block whose closing line, or something like one, stands around the limit in bytes.
fn block_at_the_limit() -> impl Strategy<Value = String> {
    let fence = prop_oneof![
        Just("---\n"),
        Just("---"),
        Just("...\r\n"),
        Just("---   \t\n"),
        Just("---é\n"),
        Just("---👩‍👩‍👧\n"),
        Just("----\n"),
        Just("--- x\n"),
    ];
    let end = prop_oneof![
        Just(String::new()),
        Just("Body\n".to_owned()),
        Just("---\nname: b\n---\n".to_owned()),
        Just("Body ".repeat(2000)),
    ];
    (0usize..16, prop_oneof![Just('x'), Just('é')], fence, end).prop_map(
        |(offset, filler, fence, end)| {
            let start = "---\nname: a\ndescription: ";
            let length = FRONTMATTER_MAX_BYTES - 8 - start.len() - offset;
            let filling: String = std::iter::repeat_n(filler, length / filler.len_utf8()).collect();
            format!("{start}{filling}\n{fence}{end}")
        },
    )
}

fn header() -> impl Strategy<Value = MemoryHeader> {
    let kind = option::of(proptest::sample::select(MemoryType::ALL.to_vec()));
    let hostile = prop_oneof![
        text(),
        "[\\x00-\\x1F\u{7F}-\u{A0}\u{2028}\u{2029}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{200E}\u{200F}\u{61C} a-]{0,20}"
    ];
    (hostile, option::of(text()), kind, any::<i64>()).prop_map(
        |(path, description, kind, mtime_ms)| MemoryHeader {
            scope: Scope::of(&path),
            path,
            name: None,
            description,
            kind,
            pinned: false,
            modified_ms: None,
            mtime_ms,
            size: 0,
        },
    )
}

fn path() -> impl Strategy<Value = String> {
    let start = prop_oneof![
        Just(""),
        Just("/"),
        Just("//"),
        Just("\\"),
        Just("\\\\"),
        Just("~/"),
        Just("~\\"),
        Just("C:"),
        Just("c:\\"),
        Just("C:/"),
    ];
    let part = prop_oneof![
        Just(String::new()),
        Just(".".to_owned()),
        Just("..".to_owned()),
        Just("~".to_owned()),
        Just("C:".to_owned()),
        Just("re\u{301}ne\u{301}".to_owned()),
        Just("\u{212A}\u{1100}\u{1161}".to_owned()),
        "[a-z.:~ \\\\]{1,4}",
        "\\PC{1,4}",
    ];
    let parts = vec((part, prop_oneof![Just("/"), Just("\\")]), 0..6);
    (start, parts, any::<bool>()).prop_map(|(start, parts, bare)| {
        let mut path = String::from(start);
        for (part, separator) in &parts {
            path.push_str(part);
            path.push_str(separator);
        }
        if bare {
            path.pop();
        }
        path
    })
}

/// Times around each other and at both ends.
fn time() -> impl Strategy<Value = i64> {
    let now = 1_773_570_600_000;
    prop_oneof![
        now - 400 * 86_400_000i64..now + 86_400_000,
        any::<i64>(),
        Just(i64::MIN),
        Just(i64::MAX),
        Just(0)
    ]
}

/// Every place that can name a directory, with anything in it.
fn question() -> impl Strategy<Value = DirectoryQuestion> {
    let names = [
        "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE",
        "CLAUDE_CODE_REMOTE_MEMORY_DIR",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_PROJECT_DIR_NAME",
    ];
    let value = prop_oneof![path(), "[A-Za-z0-9_-]{1,70}"];
    let env = btree_map(proptest::sample::select(names.to_vec()), value, 0..3);
    let settings = vec(option::weighted(0.2, path()), 5);
    let home = prop_oneof![
        Just("/home/u".to_owned()),
        Just("C:\\Users\\u".to_owned()),
        path()
    ];
    let project = prop_oneof![path(), path().prop_map(|path| format!("/{path}"))];
    (any::<bool>(), option::of(home), env, settings, project).prop_map(
        |(windows, home, env, settings, project_root)| {
            let mut settings = settings.into_iter().map(Option::unwrap_or_default);
            let mut next = || settings.next().filter(|path| !path.is_empty());
            DirectoryQuestion {
                platform: if windows {
                    Platform::Windows
                } else {
                    Platform::Posix
                },
                home,
                env: env
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Environment>(),
                settings: PerSource {
                    policy: next(),
                    flag: next(),
                    local: next(),
                    project: next(),
                    user: next(),
                },
                project_root,
            }
        },
    )
}

/// Index lines that may link to the memories beside them, and anything.
fn lint_input() -> impl Strategy<Value = LintInput> {
    let path = prop_oneof![
        "[a-c]{1}\\.md",
        "team/[a-c]\\.md",
        "logs/[a-c]\\.md",
        text()
    ];
    let line = prop_oneof![
        "- \\[[a-c]\\]\\((\\.\\./|team/|%2e)?[a-c]\\.md(#x)?\\)",
        "[-\\[\\]()%a-c. ]{0,250}",
        text(),
    ];
    let index = || option::of(vec(line.clone(), 0..8).prop_map(|lines| lines.join("\n")));
    let memory = (path, text(), any::<bool>()).prop_map(|(path, text, block)| LintMemory {
        path,
        text: if block {
            format!("---\n{text}\n---\n")
        } else {
            text
        },
    });
    (index(), index(), vec(memory, 0..6)).prop_map(|(index, team_index, memories)| LintInput {
        index,
        team_index,
        memories,
    })
}

fn entries() -> impl Strategy<Value = BTreeMap<String, String>> {
    btree_map(
        prop_oneof!["[a-c]{1,2}\\.md", text()],
        prop_oneof!["[a-b]?", text()],
        0..12,
    )
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn a_truncated_index_is_within_both_limits_and_a_prefix(raw in index()) {
        let truncation = truncate_index(&raw);
        let (content, whole) = (truncation.content.as_str(), trim(&raw));
        prop_assert!(content.split('\n').count() <= INDEX_MAX_LINES);
        prop_assert!(content.len() <= INDEX_MAX_BYTES);
        prop_assert!(whole.starts_with(content));
        let cut = truncation.lines_cut || truncation.bytes_cut;
        prop_assert_eq!(content.len() < whole.len(), cut);
        prop_assert_eq!(truncation.warning.is_some(), cut);
        prop_assert_eq!(truncation.bytes, whole.len());
        prop_assert!(cut || truncation.lost.is_empty());
        prop_assert!(!content.is_empty() || whole.is_empty());

        let again = truncate_index(content);
        prop_assert_eq!(again.content.as_str(), trim(content));
        prop_assert_eq!((again.warning, again.lost), (None, vec![]));
    }

    #[test]
    fn any_text_has_a_frontmatter_and_a_body(text in text()) {
        for text in [text.clone(), format!("---\n{text}\n---\nBody\n")] {
            let frontmatter = parse_frontmatter(&text);
            prop_assert!(text.is_char_boundary(frontmatter.body));
            prop_assert!(frontmatter.found || frontmatter.body == 0);
            for value in [&frontmatter.name, &frontmatter.description].into_iter().flatten() {
                prop_assert!(!value.is_empty() && trim(value) == value);
            }
            prop_assert!(frontmatter.problems.iter().all(|problem| !problem.message.is_empty()));
        }
    }

    #[test]
    fn any_bytes_have_a_frontmatter(bytes in vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        for text in [text.clone().into_owned(), format!("---\n{text}\n---\n")] {
            prop_assert!(parse_frontmatter(&text).body <= text.len());
        }
    }

    #[test]
    fn a_valid_memory_path_is_absolute_plain_and_a_fixed_point(
        path in path(),
        windows in any::<bool>(),
        with_home in any::<bool>(),
    ) {
        let (platform, home, separator) =
            if windows { (Platform::Windows, "C:\\Users\\u", '\\') } else { (Platform::Posix, "/home/u", '/') };
        let Ok(valid) = validate_memory_path(&path, platform, with_home.then_some(home)) else { return Ok(()) };
        prop_assert!(platform.is_absolute(&valid));
        let inner = valid.strip_suffix(separator);
        prop_assert!(inner.is_some_and(|inner| !inner.ends_with(separator)), "{}", valid);
        let parts: Vec<&str> = inner.unwrap_or_default().split(separator).skip(1).collect();
        prop_assert!(parts.iter().all(|part| !matches!(*part, "" | "." | "..")), "{}", valid);
        prop_assert!(!windows || !valid.contains('/'), "{}", valid);
        if path.starts_with('~') {
            prop_assert!(valid.starts_with(home) && valid.len() > home.len() + 2, "{}", valid);
        }
        prop_assert_eq!(validate_memory_path(&valid, platform, with_home.then_some(home)), Ok(valid.clone()));
        prop_assert_eq!(validate_memory_path(&valid, platform, None), Ok(valid));
    }

    #[test]
    fn an_age_is_never_negative_and_grows_with_the_clock(
        mtime in time(),
        modified in option::of(time()),
        now in time(),
        later in 0..i64::MAX,
    ) {
        let age = memory_age(mtime, modified, now);
        prop_assert!(age.days >= 0);
        prop_assert_eq!(age.warning.is_some(), age.days >= 2);
        let later = now.saturating_add(later);
        let then = memory_age(mtime, modified, later);
        prop_assert!(then.days >= 0);
        // While the clock passes `modified`, that time takes the place of the other.
        let same = modified.is_none_or(|modified| (modified <= now) == (modified <= later));
        prop_assert!(!same || then.days >= age.days, "{:?} then {:?}", age, then);
        // Without one, or with one in the future, the file's own time counts.
        if modified.is_none_or(|modified| modified > now) {
            prop_assert_eq!(age, memory_age(mtime, None, now));
        } else {
            prop_assert_eq!(age, memory_age(i64::MAX, modified, now));
        }
    }

    #[test]
    fn a_chosen_directory_is_valid_as_it_is(question in question()) {
        let Ok(choice) = choose_directory(&question) else { return Ok(()) };
        let directory = choice.directory;
        prop_assert_eq!(
            validate_memory_path(&directory, question.platform, None),
            Ok(directory.clone())
        );
        // Never what the project's own settings say, unless another place says the same.
        prop_assert!(choice.chosen_by.name() != "settings-project");
        if question.settings.project.is_some() {
            prop_assert!(choice.refused.iter().any(|refused| refused.source.name() == "settings-project"));
        }
        prop_assert_eq!(choice.project_key.is_some(), choice.chosen_by.name() == "default");
    }

    #[test]
    fn findings_are_sorted_and_each_says_what_to_do(input in lint_input()) {
        let findings = lint_memories(&input);
        prop_assert!(findings.is_sorted_by_key(|found| (found.path.clone(), found.line, found.code.name())));
        for found in &findings {
            prop_assert!(!found.message.is_empty() && !found.remedy.is_empty(), "{:?}", found);
            prop_assert!(found.line != Some(0));
            let text = match found.path.as_str() {
                "MEMORY.md" => input.index.as_ref(),
                "team/MEMORY.md" => input.team_index.as_ref(),
                path => input.memories.iter().find(|memory| memory.path == path).map(|memory| &memory.text),
            };
            prop_assert!(text.is_some(), "{:?}", found);
        }
        prop_assert_eq!(lint_memories(&input), findings);
    }

    #[test]
    fn keys_of_differing_paths_differ(path in path(), at in any::<proptest::sample::Index>(), other in path()) {
        // One character put in the place of another leaves the slug alone as often as not.
        let mut characters: Vec<char> = path.chars().collect();
        if !characters.is_empty() {
            let at = at.index(characters.len());
            if let Some(character) = characters.get_mut(at) {
                *character = if *character == '_' { '.' } else { '_' };
            }
        }
        for other in [other, characters.into_iter().collect(), format!("{path}/"), path.to_uppercase()] {
            prop_assert_eq!(injective_key(&path) == injective_key(&other), path == other);
        }
        prop_assert!(injective_key(&path).starts_with(&project_slug(&path)));
    }

    #[test]
    fn a_switch_does_not_look_at_case_or_blanks(
        word in prop_oneof!["1|0|true|false|yes|no|on|off", text()],
        upper in vec(any::<bool>(), 8),
        blanks in "[ \t\n]{0,3}",
    ) {
        let mixed: String = word
            .chars()
            .zip(upper.into_iter().cycle())
            .map(|(c, upper)| if upper { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
            .collect();
        prop_assert_eq!(env_flag(Some(&mixed)), env_flag(Some(&word)));
        prop_assert_eq!(env_flag(Some(&format!("{blanks}{mixed}{blanks}"))), env_flag(Some(&word)));
    }

    #[test]
    fn batches_keep_everything_in_order_within_the_limit(entries in entries(), max_bytes in 0usize..400) {
        let batches = batch_entries(entries.clone(), max_bytes);
        let length = |batch: &BTreeMap<String, String>| {
            serde_json::to_string(&serde_json::json!({ "entries": batch })).map(|json| json.len()).unwrap_or(usize::MAX)
        };
        for batch in &batches {
            prop_assert!(!batch.is_empty());
            prop_assert!(length(batch) <= max_bytes || batch.len() == 1);
        }
        // Greedy: no batch had room for the first entry of the next.
        for (batch, next) in batches.iter().zip(batches.iter().skip(1)) {
            let mut fuller = batch.clone();
            fuller.extend(next.first_key_value().map(|(key, content)| (key.clone(), content.clone())));
            prop_assert!(length(&fuller) > max_bytes);
        }
        let all: Vec<(String, String)> = batches.into_iter().flatten().collect();
        prop_assert_eq!(all, entries.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_delta_makes_the_server_hold_what_is_local(old in entries(), local in entries()) {
        let server = old.iter().map(|(key, content)| (key.clone(), checksum(content))).collect();
        let delta = team_delta(local.clone(), &server);
        for (key, content) in &delta {
            prop_assert_ne!(old.get(key), Some(content));
        }
        let mut new = old.clone();
        new.extend(delta);
        let mut wanted = old;
        wanted.extend(local);
        prop_assert_eq!(new, wanted);
    }

    #[test]
    fn a_manifest_has_one_inert_line_per_memory(memories in vec(header(), 0..6)) {
        let manifest = format_manifest(&memories);
        let lines: Vec<&str> = if manifest.is_empty() { vec![] } else { manifest.split(ends_line).collect() };
        prop_assert_eq!(lines.len(), memories.len());
        for line in lines {
            prop_assert!(line.starts_with("- "));
            prop_assert!(!line.chars().any(|c| c.is_control() || is_bidirectional(c)), "{:?}", line);
        }
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn the_head_of_a_memory_says_what_the_whole_says(text in prop_oneof![block_at_the_limit(), text()]) {
        let whole = without_second_block(parse_frontmatter(&text));
        // What a scan reads of a long one.
        let cut = without_second_block(parse_frontmatter(head(&text, FRONTMATTER_MAX_BYTES + HEAD_BYTES)));
        prop_assert_eq!(cut, whole);
    }
}

/// Commands of programs and flags that are known, of signs that mean something to a shell, and of anything.
fn command() -> impl Strategy<Value = String> {
    let program = "(ls|find|grep|cat|stat|wc|head|tail|pwd|echo|which|diff|du) ";
    let flag = "(-[a-zA-Z0-9]{1,3}|--?[a-z]{1,5}(=[a-z]{1,3})?|-name|-perm|--|-) ";
    let word = prop_oneof![
        program,
        flag,
        "[a-z./-]{1,6} ",
        "'[^'\\PC]{0,4}' ",
        "\"[a-z*~!# ]{0,4}\" ",
        "\\\\[ $~*a]",
        "[|;&<>$`(){}~!#*?=\"' \t\n\\\\-]",
        Just("| ".to_owned()),
        any::<String>(),
    ];
    let words = vec(word, 0..10).prop_map(|words| words.concat());
    (program, words).prop_map(|(program, words)| program + &words)
}

proptest! {
    #![proptest_config(config(2048))]

    #[test]
    fn a_command_is_refused_in_one_line_or_means_the_same_when_all_is_quoted(
        command in prop_oneof![command(), any::<String>()]
    ) {
        let pipe = match read_only_command(&command) {
            Ok(pipe) => pipe,
            Err(refusal) => {
                prop_assert!(!refusal.message.contains('\n') && refusal.message.chars().count() < 400);
                return Ok(());
            }
        };
        for stage in &pipe {
            let is_said = |path: &String| stage.argv.iter().any(|word| word.ends_with(path.as_str()));
            prop_assert!(stage.paths.iter().all(is_said));
        }
        let quote = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
        let programs = pipe.iter().map(|stage| stage.argv.iter().map(quote).collect::<Vec<_>>().join(" "));
        let quoted = programs.collect::<Vec<_>>().join("|");
        if quoted.chars().count() <= COMMAND_MAX_CHARS {
            prop_assert_eq!(read_only_command(&quoted), Ok(pipe));
        }
    }
}

/// Values under the names that the providers have, and under others.
fn json() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("\"\\u0073ystem\"".to_owned()),
        "\"(content|type|text|name|input|id|role|cache_control|function|arguments|source|x)\"",
        "\"(messages|tools|system|model|max_tokens|stream|thinking|budget_tokens|tool_choice|usage)\"",
        "\"(choices|message|tool_calls|stop_reason|prompt_tokens|output_tokens|input_tokens)\"",
    ];
    let leaf = prop_oneof![
        "null|true|-?[0-9]{1,3}|1[.]0|1e9|99999999999999999999",
        "\"(text|tool_use|auto|any|tool|x|max_tokens|length|\\\\ud800|\\\\u00e4|ä)\"",
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let member = (name.clone(), " ?: ?", inner.clone())
            .prop_map(|(name, colon, value)| name + &colon + &value);
        prop_oneof![
            vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(" , "))),
            vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(", "))),
        ]
    })
}

/// A request or an answer that is nearly one.
fn conversation() -> impl Strategy<Value = String> {
    let messages = vec(json(), 0..3).prop_map(|messages| format!("[{}]", messages.join(",")));
    let list = prop_oneof![messages, json()];
    let object = prop_oneof![
        (list.clone(), json())
            .prop_map(|(messages, tools)| format!("{{\"messages\":{messages},\"tools\":{tools}}}")),
        list.clone()
            .prop_map(|content| format!("{{\"content\":{content}, \"usage\":{{}}}}")),
        (json(), list).prop_map(|(content, calls)| format!(
            "{{\"choices\":[{{\"message\":{{\"content\":{content},\"tool_calls\":{calls}}}}}]}}"
        )),
    ];
    prop_oneof![object, json(), any::<String>()]
}

proptest! {
    #![proptest_config(config(2048))]

    #[test]
    fn a_conversation_with_tools_goes_out_as_it_came_or_is_refused(
        (prefix, answer) in (conversation(), conversation()),
        name in prop_oneof![Just("anthropic/x"), Just("openai/x")],
    ) {
        let model = ModelOptions {
            name: name.to_owned(),
            api_key: Some(Key("sk-0451".to_owned())),
            base_url: None,
        };
        let mut request = ToolRequest {
            purpose: "test".to_owned(),
            prefix: None,
            system: "Be brief.".to_owned(),
            tools: vec![ToolDefinition {
                name: "Read".to_owned(),
                description: String::new(),
                input_schema: serde_json::json!({}),
            }],
            prompt: "Go.".to_owned(),
            turns: Vec::new(),
            max_tokens: 256,
        };
        // Whatever is taken for an answer can be sent back.
        match decode_tool_answer(name, 200, &answer) {
            Ok(answer) => request.turns.push(ToolTurn { answer: answer.answer, results: Vec::new() }),
            Err(error) => prop_assert_eq!(error.code, ErrorCode::ModelAnswer),
        }
        prop_assert!(encode_tool_request(&model, &request).is_ok());
        request.prefix = Some(prefix.clone());
        match encode_tool_request(&model, &request) {
            Ok(http) => {
                let sent = serde_json::from_str::<serde::de::IgnoredAny>(&http.body);
                prop_assert!(sent.is_ok(), "{}", http.body);
                prop_assert!(!http.body.contains("sk-0451"));
                if let Some(turn) = request.turns.first() {
                    prop_assert!(http.body.contains(&turn.answer));
                }
            }
            Err(error) => {
                prop_assert_eq!(error.code, ErrorCode::InvalidArgument);
                prop_assert!(!error.message.contains('\n'));
            }
        }
    }
}

/// Messages of three kinds, with ids of calls and messages that come again.
fn calls_and_results() -> impl Strategy<Value = Vec<Message>> {
    let message =
        (0u8..4, 0u8..6, any::<bool>(), 0u64..30_000).prop_map(|(kind, id, has_id, tokens)| {
            let call = format!("call{id}");
            let blocks = match kind {
                0 => vec![Block::Text {
                    text: "x".to_owned(),
                }],
                1 => vec![Block::ToolUse {
                    id: call,
                    name: "Read".to_owned(),
                    input: serde_json::Value::Null,
                }],
                2 => vec![Block::ToolResult {
                    tool_use_id: call,
                    content: serde_json::Value::Null,
                    is_error: false,
                }],
                _ => Vec::new(),
            };
            Message {
                id: has_id.then(|| format!("m{id}")),
                role: if kind == 1 {
                    Role::Assistant
                } else {
                    Role::User
                },
                content: Content::Blocks(blocks),
                is_meta: false,
                tokens: Some(tokens),
            }
        });
    vec(message, 0..24)
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn notes_are_measured_whatever_they_are(text in text(), other in text()) {
        let measure = measure_notes(&text);
        let bare = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        prop_assert_eq!(measure.tokens, estimate_tokens(bare));
        prop_assert!(measure.tokens <= 2 * bare.chars().count() as u64);
        // Nothing is lost between sections but what rounding adds.
        let sum: u64 = measure.sections.iter().map(|section| section.tokens).sum();
        let blank = measure.sections.is_empty();
        prop_assert!(blank || sum + measure.sections.len() as u64 + 1 >= measure.tokens);
        prop_assert!(notes_are_empty(&text, &text));
        let values = TemplateValues { current_notes: other, notes_path: String::new() };
        if !text.contains("{{") {
            prop_assert_eq!(fill_template(&text, &values), text);
        }
    }

    #[test]
    fn what_a_compaction_keeps_is_whole_and_misses_nothing(
        messages in calls_and_results(),
        last in option::of(0u8..6),
        boundary in option::of(0usize..24),
    ) {
        let question = CompactionQuestion {
            messages: messages.clone(),
            last_summarised: last.map(|id| format!("m{id}")),
            notes: Some("# A\nx\n".to_owned()),
            template: String::new(),
            boundary,
        };
        let cut = compaction_cut(&question).unwrap();
        let Some(from) = cut.keep_from else {
            prop_assert!(cut.notes.is_none() && cut.reason.is_some());
            return Ok(());
        };
        // What goes is covered, or there is the message of the last compaction in its place.
        let last = messages.iter().position(|message| message.id == question.last_summarised);
        let covered = last.map(|at| at + 1);
        prop_assert!(question.last_summarised.is_some() && covered.is_some());
        let replaced = boundary.filter(|at| *at < messages.len());
        prop_assert!(Some(from) <= covered.max(replaced));
        let ids = |part: &[Message], wants_calls: bool| -> Vec<String> {
            part.iter()
                .flat_map(|message| match &message.content {
                    Content::Blocks(blocks) => blocks.clone(),
                    Content::Text(_) => Vec::new(),
                })
                .filter_map(|block| match block {
                    Block::ToolUse { id, .. } if wants_calls => Some(id),
                    Block::ToolResult { tool_use_id, .. } if !wants_calls => Some(tool_use_id),
                    _ => None,
                })
                .collect()
        };
        // And no answer is torn apart.
        let answers: Vec<(usize, &Message)> = messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.role == Role::Assistant)
            .collect();
        for pair in answers.windows(2) {
            let ((before, one), (after, two)) = (pair[0], pair[1]);
            let mut between = messages.iter().take(after).skip(before + 1);
            let is_one = one.id.is_some()
                && one.id == two.id
                && between.all(|message| !ids(std::slice::from_ref(message), false).is_empty());
            prop_assert!(!is_one || from <= before || after < from);
        }
        let (gone, kept) = messages.split_at(from);
        let (calls, before) = (ids(kept, true), ids(gone, true));
        for result in ids(kept, false) {
            prop_assert!(calls.contains(&result) || !before.contains(&result), "{result}");
        }
    }
}
