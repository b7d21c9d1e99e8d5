//! The Rust runner of the files beside it, for every host that is driven from Rust. A test
//! includes it by its path and brings its machine; the README tells the format.

use std::path::Path;

use memdir_core::flow::{Effect, Outcome};
use serde_json::{Map, Value};

/// What a machine or a host may lack.
const NEEDS: [&str; 9] = [
    "links",
    "fifo",
    "raw-names",
    "modes",
    "not-root",
    "inodes",
    "pre-epoch",
    "processes",
    "run",
];

/// A machine with a host under test and an empty folder.
pub trait Machine {
    /// That folder: every link resolved, no trailing separator.
    fn root(&self) -> String;
    /// The number of the host's process.
    fn pid(&self) -> u32;
    /// Whether the machine and the host have this.
    fn has(&self, need: &str) -> bool;
    /// Does one action, by other means than the host.
    fn set_up(&mut self, action: SetUp);
    /// Has the host perform effects that do not depend on each other.
    fn perform(&mut self, effects: Vec<Effect>) -> Vec<Outcome>;
}

/// One action that prepares a scenario.
pub enum SetUp {
    Folder(String),
    File(Vec<u8>, String),
    Link(String, Vec<u8>),
    Fifo(String),
    Chmod(String, u32),
    Mtime(String, i64),
    Rename(String, String),
}

/// Runs every file of the folder, each on a machine of its own.
pub fn run_folder<M: Machine>(folder: &Path, machine: impl Fn() -> M) {
    let mut steps = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") {
            steps.push(run_file(&path, machine()));
        }
    }
    let files = steps.iter().filter(|count| **count > 0).count();
    assert!(files >= 8, "only {files} files had a step to run");
}

fn run_file(path: &Path, mut machine: impl Machine) -> usize {
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let file = expand(&file, &machine);
    set_up_all(&file["setup"], &mut machine);
    let mut count = 0;
    for step in file["steps"].as_array().unwrap() {
        let step = step.as_object().unwrap();
        if !runs(step, &machine) {
            continue;
        }
        if let Some(actions) = step.get("setup") {
            set_up_all(actions, &mut machine);
        }
        let effects = serde_json::from_value(step["effects"].clone()).unwrap();
        let outcomes = machine.perform(effects);
        let expected = step["outcomes"].as_array().unwrap();
        assert_eq!(expected.len(), outcomes.len());
        for (expected, outcome) in expected.iter().zip(outcomes) {
            let actual = serde_json::to_value(&outcome).unwrap();
            assert!(
                fits(expected, &actual),
                "{}: {}\nexpected {expected}\ngot      {actual}",
                path.file_name().unwrap().display(),
                step["name"],
            );
        }
        count += 1;
    }
    count
}

fn runs(part: &Map<String, Value>, machine: &impl Machine) -> bool {
    let needs = part.get("needs").and_then(Value::as_array);
    needs.into_iter().flatten().all(|need| {
        let need = need.as_str().unwrap();
        assert!(NEEDS.contains(&need), "unknown need {need}");
        machine.has(need)
    })
}

/// Abbreviations and placeholders replaced.
fn expand(value: &Value, machine: &impl Machine) -> Value {
    match value {
        Value::String(text) if text == "{pid}" => machine.pid().into(),
        Value::String(text) => text.replace("{root}", &machine.root()).into(),
        Value::Array(values) => values.iter().map(|value| expand(value, machine)).collect(),
        Value::Object(map) => match (map.len(), map.get("repeat")) {
            (1, Some(parts)) => {
                let parts: Vec<(String, usize)> = serde_json::from_value(parts.clone()).unwrap();
                let text: String = parts
                    .iter()
                    .map(|(text, count)| text.repeat(*count))
                    .collect();
                text.replace("{root}", &machine.root()).into()
            }
            _ => map
                .iter()
                .map(|(key, value)| (key.clone(), expand(value, machine)))
                .collect::<Map<_, _>>()
                .into(),
        },
        other => other.clone(),
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    serde_json::from_value(value.clone()).unwrap()
}

fn set_up_all(actions: &Value, machine: &mut impl Machine) {
    for action in actions.as_array().into_iter().flatten() {
        let action = action.as_object().unwrap();
        if runs(action, machine) {
            machine.set_up(set_up(action));
        }
    }
}

fn set_up(action: &Map<String, Value>) -> SetUp {
    let text = |key: &str| action.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(path) = text("folder") {
        SetUp::Folder(path)
    } else if let Some(mut path) = text("file").map(String::into_bytes) {
        if let Some(name) = action.get("rawName") {
            path.push(b'/');
            path.extend(bytes(name));
        }
        SetUp::File(path, text("text").unwrap())
    } else if let Some(path) = text("link") {
        let target = action.get("rawTo").map(bytes);
        SetUp::Link(
            path,
            target.unwrap_or_else(|| text("to").unwrap().into_bytes()),
        )
    } else if let Some(path) = text("fifo") {
        SetUp::Fifo(path)
    } else if let Some(path) = text("chmod") {
        SetUp::Chmod(
            path,
            u32::try_from(action["mode"].as_u64().unwrap()).unwrap(),
        )
    } else if let Some(path) = text("mtime") {
        SetUp::Mtime(path, action["ms"].as_i64().unwrap())
    } else if let Some(path) = text("rename") {
        SetUp::Rename(path, text("to").unwrap())
    } else {
        panic!("unknown set-up {action:?}");
    }
}

fn fits(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Object(map), _) if map.keys().any(|key| key.starts_with('$')) => {
            matches(map, actual)
        }
        (Value::Object(expected), Value::Object(actual)) => expected.iter().all(|(key, value)| {
            actual.get(key).is_some_and(|actual| match key.as_str() {
                "entries" => fits(&by_name(value), &by_name(actual)),
                _ => fits(value, actual),
            })
        }),
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len() && expected.iter().zip(actual).all(|(e, a)| fits(e, a))
        }
        (Value::String(text), Value::Array(_)) => text.as_bytes() == bytes(actual),
        _ => expected == actual,
    }
}

fn by_name(entries: &Value) -> Value {
    let mut entries = entries.as_array().cloned().unwrap_or_default();
    entries.sort_by_key(|entry| entry["name"].as_str().map(str::to_owned));
    Value::Array(entries)
}

fn matches(matcher: &Map<String, Value>, actual: &Value) -> bool {
    let (name, argument) = matcher.iter().next().unwrap();
    match name.as_str() {
        "$length" => {
            let length = actual
                .as_array()
                .map(Vec::len)
                .or(actual.as_str().map(str::len));
            length.map(Value::from).as_ref() == Some(argument)
        }
        "$between" => actual.as_i64().is_some_and(|number| {
            (argument[0].as_i64().unwrap()..=argument[1].as_i64().unwrap()).contains(&number)
        }),
        "$anyOf" => argument
            .as_array()
            .unwrap()
            .iter()
            .any(|expected| fits(expected, actual)),
        name => panic!("unknown matcher {name}"),
    }
}
