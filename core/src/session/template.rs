//! What the notes of a session begin as, and how texts with placeholders are filled in (facts 8.2).

use serde::{Deserialize, Serialize};

/// Ten headings, each with a line that says what belongs below it.
pub(crate) const TEMPLATE: &str = "\
# Session Title
_What this session is about, in five to ten words that nothing else would be called by_

# Current State
_What is being worked on right now, what is still open, and what comes next_

# Task specification
_What the user asked for, with the decisions and constraints that came with it_

# Files and Functions
_The files and functions that matter, what each is for, and why it matters here_

# Workflow
_The commands that are run, in which order, and how to read what they print_

# Errors & Corrections
_What went wrong and how it was mended; what the user corrected; what was tried in vain and is not to be tried again_

# Codebase and System Documentation
_The parts that the system is made of, and how they work together_

# Learnings
_What has proved good, what has not, and what to keep away from_

# Key results
_Results that the user asked for, such as an answer, a table or a text, in full_

# Worklog
_What was done, step by step, in a few words each_
";

/// What is filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateValues {
    /// For `{{currentNotes}}`.
    pub current_notes: String,
    /// For `{{notesPath}}`.
    pub notes_path: String,
}

/// Puts the values in place of words in double braces. Other words stay as they are, and what is put in is
/// not looked at again.
#[must_use]
pub fn fill_template(text: &str, values: &TemplateValues) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        filled.push_str(before);
        let inside = from.strip_prefix("{{").unwrap_or_default();
        let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, after) = end
            .and_then(|end| inside.split_at_checked(end))
            .unwrap_or_default();
        let value = match word {
            "currentNotes" => Some(&values.current_notes),
            "notesPath" => Some(&values.notes_path),
            _ => None,
        };
        match (value, after.strip_prefix("}}")) {
            (Some(value), Some(after)) => {
                filled.push_str(value);
                rest = after;
            }
            // The word may begin at the next brace.
            _ => {
                filled.push('{');
                rest = from.strip_prefix('{').unwrap_or_default();
            }
        }
    }
    filled.push_str(rest);
    filled
}
