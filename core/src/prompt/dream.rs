//! What a model is told that puts a memory in order (facts 7.3). Our own wording.

use super::{Saving, sections, untrusted_block};
use crate::limits::{
    DREAM_MAX_REMOVED, INDEX_LINE_LONG, INDEX_LINE_TOO_LONG, INDEX_MAX_LINES, INDEX_NAME,
    LOGS_FOLDER, TEAM_FOLDER,
};
use crate::text;

/// What there is to be told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dream<'a> {
    /// The store.
    pub directory: &'a str,
    /// Where the transcripts are, where there are any.
    pub transcripts: Option<&'a str>,
    /// Those since the last time, one line each, and how many there are.
    pub sessions: (&'a str, u32),
    /// The memories that there are, one line each.
    pub manifest: &'a str,
    pub saving: Saving,
    pub team: bool,
    /// Whether only the daily logs are distilled.
    pub logs: bool,
    /// `YYYY-MM-DD`, in the user's zone.
    pub today: &'a str,
    pub max_turns: u32,
}

/// The system prompt.
pub(crate) const SYSTEM: &str = "\
You keep the long-term memory of an agent. Now and then, when nobody waits for it, you look over all of it and put \
it in order, so that it is short, true and easy to find things in. Nobody answers you while you do.";

/// The user's turn of the run.
pub(crate) fn dream(options: Dream<'_>) -> String {
    let directory = text::one_line(options.directory);
    let mut parts = vec![
        format!(
            "\
# Put the memory in order

Today is {}. The memory is the folder `{directory}`. {}

You have the tools Read, Grep, Glob and Bash for commands that only read, and Edit, Write and Delete inside the memory \
folder; everything else is refused. There are at most {} turns. A file that was not read first is not replaced. What is \
marked as pinned stays as it is, with its entry, and so do the daily logs. At most {DREAM_MAX_REMOVED} memories may be removed. What you write takes effect when \
you are done; end with one line that says what you have improved. If all is in order, change nothing.",
            options.today,
            if options.logs {
                "This time only its daily logs are distilled."
            } else {
                "Go through it in four phases."
            },
            options.max_turns
        ),
        phases(&directory, &options),
    ];
    if options.team {
        parts.push(sections::two_scopes(&directory));
        parts.push(format!(
            "In `{TEAM_FOLDER}/` be careful: others rely on it. Correct and merge, but remove only what is plainly wrong \
or twice there."
        ));
        parts.push(sections::types_with_scopes());
    } else {
        parts.push(sections::TYPES.to_owned());
    }
    parts.push(sections::BODY.to_owned());
    parts.push(sections::NOT_TO_SAVE.to_owned());
    parts.push(sections::saving(options.saving));
    parts.push(match options.manifest {
        "" => "## The memories that there are\n\nNone yet.".to_owned(),
        manifest => format!(
            "## The memories that there are\n\n{}",
            untrusted_block("the memory folder", manifest)
        ),
    });
    if let (Some(transcripts), (sessions, count @ 1..)) = (options.transcripts, options.sessions) {
        parts.push(format!(
            "\
## The sessions since the last time

{count} sessions, in `{}`, the newest first:

{}",
            text::one_line(transcripts),
            untrusted_block("the list of sessions", sessions)
        ));
    }
    parts.join("\n\n")
}

fn phases(directory: &str, options: &Dream<'_>) -> String {
    let gather = match (options.logs, options.transcripts) {
        (true, _) => format!(
            "read the logs in `{directory}{LOGS_FOLDER}/` from the oldest day that is not yet in the memories to the newest. \
What is in them was written down in passing: much of it is worth nothing a week later."
        ),
        (false, Some(_)) => format!(
            "look first at the logs in `{directory}{LOGS_FOLDER}/`, if there are any, then for memories that no longer agree \
with the project, then at the sessions below. Transcripts are large, and each line of them is JSON: search them with Grep \
for narrow terms that you have a reason to look for, and do not read them whole."
        ),
        (false, None) => format!(
            "look at the logs in `{directory}{LOGS_FOLDER}/`, if there are any, and for memories that no longer agree with the \
project."
        ),
    };
    format!(
        "\
## The phases

1. **Get to know it**: read `{INDEX_NAME}` and skim the memories, so that you improve what is there instead of writing \
it again.
2. **Gather**: {gather}
3. **Consolidate**: bring what is new and lasting into the memory that it belongs to, or write a new one. Merge memories \
about the same thing. Make relative dates absolute (\"yesterday\", \"next week\"), counted from when they were written. \
Where two facts contradict each other, find out which holds, and remove the other one.
4. **Prune**: keep `{INDEX_NAME}` below {INDEX_MAX_LINES} lines and 25,000 bytes, each entry one line of less than about \
{INDEX_LINE_LONG} characters; where one has more than {INDEX_LINE_TOO_LONG}, move the detail into its memory. Remove \
entries whose memories are gone, add missing ones, remove memories that are outdated or wrong."
    )
}
