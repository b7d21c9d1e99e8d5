//! The wording of the prompt, one section each.

use super::{Past, Saving};
use crate::agents::{AgentOptions, AgentScope};
use crate::limits::{INDEX_NAME, LOGS_FOLDER, TEAM_FOLDER};
use crate::text;

/// What memory is, where it is, and that nothing needs to be created for it.
pub(super) fn what_and_where(directory: &str) -> String {
    format!(
        "\
# Memory

You have a memory that outlives this conversation: a folder of Markdown files at `{directory}`. \
The folder already exists, so write into it directly; do not run mkdir or list it to make sure.

Build it up over time, so that in later conversations you know who the user is, how they want to \
work with you, what they have told you to repeat or avoid, and what lies behind their requests. \
When the user asks you to remember something, save it at once under the type that fits best. When \
they ask you to forget something, find the memory and remove it together with its line in \
`{INDEX_NAME}`."
    )
}

/// Which of the two folders a memory goes to, and what holds for the one that teammates read (facts 11.7).
pub(super) fn two_scopes(directory: &str) -> String {
    format!(
        "\
## Private and team memory

Two folders hold memories. `{directory}` is private: it is yours and this user's. \
`{directory}{TEAM_FOLDER}/` belongs to the team: whoever works on this project gets what is saved there, \
and what they save arrives here. Each has an index of its own, `{INDEX_NAME}` in the folder; a memory's \
line goes into the index of its folder. The scope under each type below says where a memory belongs.

- Never write a secret into team memory: no key, token, password or the like, and nothing personal about \
the user.
- Before you save a private feedback memory, look whether a team feedback memory says otherwise. If one \
does, do not contradict it silently: leave yours out, or write it down as this user's exception.
- When the user asks you to remember something \"for all of us\" it goes to the team; \"for me\" is private."
    )
}

/// The same for an agent, and who else reads it (facts 9).
pub(super) fn of_agent(directory: &str, agent: &AgentOptions) -> String {
    let name = text::one_line(&agent.name);
    let scope = match agent.scope {
        AgentScope::User => {
            "It is read in every project of this user, so keep to what holds in all of them."
        }
        AgentScope::Project => {
            "It is kept with the project's files and shared with everybody who works on it, so keep to \
this project, and write nothing personal and no secrets."
        }
        AgentScope::Local => {
            "It is about this project on this machine and is shared with nobody, so keep to this project."
        }
    };
    format!(
        "\
# Memory of the agent {name}

You have a memory of your own that outlives this task: a folder of Markdown files at `{directory}`. \
It is created with the first file that you write into it; do not run mkdir. {scope}

Build it up over time: what you learn while you work as {name} and will want to know the next time. \
Keep it short and true: correct what has changed, remove what no longer helps."
    )
}

/// Saving where notes go to a log of the day (facts 12). The place is a pattern, so that the text
/// stays the same from day to day.
pub(super) fn daily_log(directory: &str) -> String {
    format!(
        "\
## How to save a memory

Append what is worth remembering to the log of the day, \
`{directory}{LOGS_FOLDER}/YYYY/MM/YYYY-MM-DD.md`, with today's date in the name: one short bullet \
each, beginning with the time, such as `- 14:05 the user prefers small commits`. Make the file when \
it is not there; after midnight begin the next one. Only append: never change, order or remove what \
stands in a log.

Do not write memories or `{INDEX_NAME}` yourself. The logs are distilled into them later, and \
`{INDEX_NAME}` is loaded for you to read."
    )
}

/// The four types: what they hold, when to save, how to use.
pub(super) const TYPES: &str = "\
## Types of memory

There are exactly four types. Choose the one that fits best.

### user

Who the user is: role, goals, responsibilities, what they know well and what is new to them.
- Save when you learn any such thing, also when it comes up in passing.
- Use it to pitch your answers: explain to a newcomer differently than to an expert in the field. \
Keep to what helps the work; never write a judgement of the person.

### feedback

How you should work: what the user corrected, and just as much what they confirmed as right.
- Save when they correct your approach (\"don't do that\", \"stop …\") or approve a choice that was \
not obvious (\"yes, exactly like this\"). Approval is easy to miss; watch for it, or you will \
only ever grow more careful.
- Use it so that the user never has to say the same thing twice.

### project

What is going on that the files and their history do not tell: who does what, why, until when; \
goals, decisions, incidents, constraints.
- Save when you learn about them. Turn relative dates into absolute ones (\"Thursday\" becomes \
\"2026-03-05\"), because the memory is read on another day.
- Use it to understand what is behind a request and to suggest what fits the situation.

### reference

Where information lives outside the project: trackers, dashboards, documents, channels.
- Save when you learn that such a place exists and what it is for.
- Use it when the user mentions an outside system, or when the answer is likely to be there.";

/// Where memories of each type belong when there is a team, below the headings of [`TYPES`].
const SCOPES: [(&str, &str); 4] = [
    ("### user", "always private"),
    (
        "### feedback",
        "private, unless it is a convention that everybody on the project should follow",
    ),
    (
        "### project",
        "private or team; choose team when it would help a teammate as well",
    ),
    ("### reference", "usually team"),
];

/// The four types, each with its scope.
pub(super) fn types_with_scopes() -> String {
    SCOPES
        .iter()
        .fold(TYPES.to_owned(), |types, (heading, scope)| {
            types.replace(
                &format!("{heading}\n\n"),
                &format!("{heading}\n\n<scope>{scope}</scope>\n\n"),
            )
        })
}

/// The three parts of a body.
pub(super) const BODY: &str = "\
### What a memory's body holds

For feedback and project memories, three parts: first the rule or fact itself; then a line \
beginning `**Why:**` with the reason given, often an earlier incident or a strong preference; then \
a line beginning `**How to apply:**` with when and where it holds. With the reason at hand you can \
judge a borderline case instead of following the rule blindly. The other types may use the same \
form where it helps.";

/// The exclusions, which hold even on request.
pub(super) const NOT_TO_SAVE: &str = "\
## What not to save

- Code patterns, conventions, architecture, file paths, project structure: read the project.
- What changed recently or who changed it: the version history is the authority.
- How a bug was fixed: the fix is in the code and its reason in the commit message.
- Anything that an instructions file such as CLAUDE.md already says.
- Details of the task at hand: what is in progress, what this conversation is about.

This holds even when the user asks you to save such a thing. If they want a list of changes or a \
summary of activity kept, ask what about it was surprising or not obvious, and save that part.";

/// Saving: the file, then its line in the index; or the file alone.
pub(super) fn saving(saving: Saving) -> String {
    match saving {
        Saving::TwoSteps => {
            format!("{SAVE}\n\nStep 1: {SAVE_FILE}\n\nStep 2: {SAVE_INDEX_LINE}\n\n{SAVE_CARE}")
        }
        Saving::OneStep => format!("{SAVE}\n\nOne step is enough: {SAVE_FILE}\n\n{SAVE_CARE}"),
    }
}

const SAVE: &str = "## How to save a memory";

const SAVE_FILE: &str = "\
write the memory to a file of its own, named after its type and topic (for example \
`feedback_testing.md`), beginning with this block:

```markdown
---
name: the name of the memory
description: one line that tells later whether this memory matters to a question, so be specific
type: user, feedback, project or reference
---

the memory
```

Put a value in double quotes when it contains `: `, ` #` or begins with a special character.";

const SAVE_INDEX_LINE: &str = "\
add one line for it to `MEMORY.md`: `- [Title](file.md) — what makes it worth opening`. \
`MEMORY.md` is an index, not a memory: it has no frontmatter, each entry is one line of less than \
about 150 characters, and no memory is written into it. It is loaded into every conversation and \
cut after 200 lines or 25,000 bytes, so keep it short.";

const SAVE_CARE: &str = "\
Keep a memory's name, description and type true to its content. Order by topic, not by date. \
Before writing a new file, look whether an existing one should be updated instead, and correct or \
remove memories that turn out to be wrong or outdated.";

/// How to look into earlier conversations, cheapest first.
pub(super) fn past_context(past: Past<'_>) -> String {
    let mut section = format!(
        "\
## Searching the past

When something from an earlier conversation is missing:

1. Search the memories for a narrow term: `grep -rn \"term\" {} --include=\"*.md\"`",
        text::shell_word(past.directory)
    );
    if let Some(transcripts) = past.transcripts {
        section.push_str(&format!(
            "
2. Only if that finds nothing, search the transcripts, which are large and slow to search: \
`grep -rn \"term\" {} --include=\"*.jsonl\"`",
            text::shell_word(transcripts)
        ));
    }
    section.push_str("\n\nUse narrow terms, such as an error message, a path or a function name, not common words.");
    section
}

/// When memory is read, and what happens when it is wrong.
pub(super) const WHEN_TO_ACCESS: &str = "\
## When to read memory

- When a memory seems to matter, or the user refers to earlier work with you.
- Always when the user asks you to check, recall or remember.
- When the user tells you to ignore memory, act as if it were empty: do not use it, compare with \
it or mention it.

A memory says what was true when it was written. When it disagrees with what you see now, trust \
what you see, and update or remove the memory.";

/// Verification before a memory becomes advice.
pub(super) const BEFORE_RECOMMENDING: &str = "\
## Before you recommend from memory

A memory that names a file, function or option claims that it existed when the memory was \
written. It may since have been renamed or removed, or never have been merged. Before you build \
on it:

- it names a file: check that the file is there;
- it names a function or an option: search for it;
- the user is about to act on your word, rather than asking about the past: verify first.

A summary of the project's state in memory is a snapshot. For questions about what is recent or \
current, prefer the version history and the code.";

/// What memory is not for.
pub(super) const OTHER_PERSISTENCE: &str = "\
## Memory, plans and tasks

Memory is for what helps in later conversations. Within this one there are better places: a plan, \
when you are about to begin larger work and want to agree on the approach, or changed your \
approach; a task list, when the work at hand has steps to keep track of.";
