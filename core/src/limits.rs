//! Every constant of the system, in one table. Where a number comes from stands beside it;
//! "facts" is the collection of public facts that this implementation was built from.

/// Name of the index file (facts 3).
pub const INDEX_NAME: &str = "MEMORY.md";
/// Lines of the index that reach the prompt (facts 3.1).
pub const INDEX_MAX_LINES: usize = 200;
/// UTF-8 bytes of the index that reach the prompt (facts 3.1).
pub const INDEX_MAX_BYTES: usize = 25_000;
/// Characters that a lost entry is named by when it has no link.
pub const LOST_NAME_CHARS: usize = 80;
/// Memories that a scan reads and returns, the newest (facts 4.4).
pub const SCAN_MAX_MEMORIES: usize = 200;
/// Lines within which a frontmatter block must close (facts 4.1).
pub const FRONTMATTER_MAX_LINES: usize = 30;
/// Bytes within which a frontmatter block must close; no source, bounds one-line blocks.
pub const FRONTMATTER_MAX_BYTES: usize = 65_536;
/// Aliases in a frontmatter block; no source: beyond it the block is a bomb or an accident.
pub const FRONTMATTER_MAX_ALIASES: usize = 32;
/// Bytes of a memory read first; enough for nearly every frontmatter block.
pub const HEAD_BYTES: usize = 4_096;
/// Files in one `read-many` effect (design, "Effects").
pub const READ_MANY_FILES: usize = 256;
/// Heads that a scan asks for at a time: few enough that their memory is used again (measured: a
/// sixth faster natively than [`READ_MANY_FILES`]).
pub const SCAN_READ_FILES: usize = 64;
/// Bytes in one `read-many` effect (design, "Effects").
pub const READ_MANY_BYTES: usize = 4 * 1024 * 1024;
/// A memory above this is reported as large: recall cuts it to a small part anyway.
pub const LARGE_MEMORY_BYTES: u64 = 1024 * 1024;
/// The most that is read of one whole file (the sources' limit for instruction files, facts 10.4).
pub const FILE_MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Folders deeper than this below the store are reported and not entered.
pub const SCAN_MAX_DEPTH: usize = 32;
/// Percent of an index limit from which an entry too many is near (no source).
pub const INDEX_NEAR_PERCENT: usize = 90;
/// Lines that an index over its limit should be brought down to (facts 3.3).
pub const INDEX_TARGET_LINES: usize = 140;
/// Bytes that an index over its limit should be brought down to (no source: 70%).
pub const INDEX_TARGET_BYTES: usize = 17_500;
/// Characters of an index line above which it is long (document 002).
pub const INDEX_LINE_LONG: usize = 150;
/// Characters of an index line above which it is too long (facts 7.3).
pub const INDEX_LINE_TOO_LONG: usize = 200;
/// UTF-8 bytes of the part of a file name that is made from the name of a memory; no source, short
/// enough that its index line has room for more than the name.
pub const FILE_SLUG_BYTES: usize = 48;
/// Characters of a name in an index line; no source.
pub const INDEX_TITLE_CHARS: usize = 48;
/// Characters that a hook in an index line has at least, or it is left out; no source.
pub const INDEX_HOOK_LEAST: usize = 10;
/// Folder of the daily logs inside a store (facts 12).
pub const LOGS_FOLDER: &str = "logs";
/// Folder of all projects below the config home (facts 1.2).
pub const PROJECTS_FOLDER: &str = "projects";
/// Folder of the store inside a project's folder (facts 1.2).
pub const STORE_FOLDER: &str = "memory";
/// Characters of `CLAUDE_CODE_PROJECT_DIR_NAME` (list of pains 2).
pub const PROJECT_DIR_NAME_MAX: usize = 64;
/// The most that is read of a settings file; no source, real ones have a few kilobytes.
pub const SETTINGS_MAX_BYTES: u64 = 1024 * 1024;
/// The most that is read of a `.git` file and its kin, which hold one path.
pub const GIT_FILE_MAX_BYTES: u64 = 16 * 1024;
/// Folders that are looked at on the way up to a git root.
pub const GIT_MAX_PARENTS: usize = 256;
/// How recently a file may have changed for a cached header to be trusted, in milliseconds: file
/// systems stamp times coarsely (the design's "Warm reads").
pub const WARM_MIN_AGE_MS: i64 = 2_000;
/// Prompts that a store remembers, one for each set of options.
pub const PROMPTS_REMEMBERED: usize = 32;
/// Bytes of each memory that lint looks at, and by which recall finds it.
pub const MEMORY_READ_BYTES: usize = 65_536;
/// Units of a project slug before it is cut and given a hash (facts 1.1).
pub const SLUG_MAX_UNITS: usize = 200;
/// UTF-16 units of the shortest memory directory (facts 1.5).
pub const MEMORY_PATH_MIN_UNITS: usize = 3;
/// Bytes of one team upload, envelope counted (facts 11.3).
pub const TEAM_BATCH_BYTES: usize = 200_000;
/// UTF-8 bytes of one team entry; larger ones are skipped in both directions (facts 11.3).
pub const TEAM_ENTRY_BYTES: u64 = 250_000;
/// How long the team's server may take to answer, in milliseconds (facts 11.3).
pub const TEAM_TIMEOUT_MS: u64 = 30_000;
/// Tries after the first one of an upload that another one overtook (facts 11.3).
pub const TEAM_CONFLICT_RETRIES: u32 = 2;
/// Bytes of an answer of the team's server; no source.
pub const TEAM_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// The path of the API, up to the name of the repository (facts 11.2).
pub const TEAM_API: &str = "/api/claude_code/team_memory?repo=";
/// How long a change may go on before it is uploaded, in milliseconds (facts 11.3).
pub const TEAM_DEBOUNCE_MS: u64 = 2_000;
/// How long the last upload may take, in milliseconds (facts 11.3).
pub const TEAM_FLUSH_MS: u64 = 2_000;
/// How long beyond that is looked what it has not reached, in milliseconds; no source.
pub const TEAM_FLUSH_LOOK_MS: u64 = 250;
/// From one sync of a watched folder to the next, in milliseconds; no source.
pub const TEAM_PERIOD_MS: u64 = 300_000;
/// How long a host watches the team folder at a time, in milliseconds; no source.
pub const TEAM_WATCH_MS: u64 = 5_000;
/// How often it is looked at where the host cannot watch, in milliseconds; no source.
pub const TEAM_POLL_MS: u64 = 1_000;
/// How long a forgotten memory stays on the server when deletions propagate, in milliseconds (design).
pub const TEAM_DELETE_AFTER_MS: i64 = 7 * 86_400_000;
/// How many of them go at a time (design).
pub const TEAM_DELETE_MAX: usize = 10;
/// The content of an entry that was deleted: servers know no deletion (facts 11.4).
pub const TEAM_DELETED: &str = "<!-- memdir: deleted -->\n";
/// Name of the state of the last sync in memdir's own folder.
pub const TEAM_STATE_NAME: &str = "team.json";
/// The most that is read of it; no source, 10,000 entries have one megabyte.
pub const TEAM_STATE_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// The mark of the team folder, in that folder.
pub const TEAM_MARKER: &str = ".memdir/.gitignore";
/// Entries that are written under one lock; no source, each takes about a millisecond.
pub const TEAM_RECEIVE_FILES: usize = 32;
/// How often a sync begins anew when another one on this machine was faster; no source.
pub const TEAM_SYNC_ATTEMPTS: u32 = 10;
/// Folder of our versions of what the server's replaced, in memdir's own folder.
pub const CONFLICTS_FOLDER: &str = "conflicts";
/// Folder of what background runs propose, in memdir's own folder (design, "Our own files").
pub const INBOX_FOLDER: &str = "inbox";
/// The most that one proposal may have as JSON; no source, a run writes a few short memories.
pub const INBOX_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Lines around a change that a diff shows: as many as `diff -u` and git.
pub const DIFF_CONTEXT_LINES: usize = 3;
/// Lines of both texts between their common beginning and end up to which a diff looks for more in common;
/// no source, measured: a tenth of a second at most.
pub const DIFF_MAX_LINES: usize = 20_000;
/// The longest pause that a server may ask for before another try, in milliseconds; no source.
pub const RETRY_AFTER_MAX_MS: u64 = 60_000;
/// UTF-8 bytes of the path of a team entry (list of pains 10).
pub const TEAM_KEY_MAX_BYTES: usize = 1_024;
/// UTF-8 bytes of one name in it: what file systems take.
pub const TEAM_KEY_PART_MAX_BYTES: usize = 255;
/// How often a team key may be decoded and normalised until nothing changes any more; no honest name
/// needs more than two.
pub const TEAM_KEY_MAX_READINGS: usize = 8;
/// Permission bits of every file that memdir creates.
pub const FILE_MODE: u32 = 0o600;
/// Permission bits of a new file that belongs to a project, as others work with it, too.
pub const SHARED_FILE_MODE: u32 = 0o644;
/// Permission bits of every folder that memdir creates.
pub const FOLDER_MODE: u32 = 0o700;
/// Folder of memdir's own files inside a store.
pub const OWN_FOLDER: &str = ".memdir";
/// Ending of memdir's temporary files.
pub const TEMPORARY_ENDING: &str = ".memdir-tmp";
/// Folder of the team memories inside a store (facts 11.1).
pub const TEAM_FOLDER: &str = "team";
/// The index of that folder.
pub const TEAM_INDEX: &str = "team/MEMORY.md";
/// Bytes up to which an identifier is found as a whole, not only by its parts.
pub const CHUNK_MAX_BYTES: usize = 64;
/// Bytes of one word that count; what is longer is noise, such as encoded data.
pub const WORD_MAX_BYTES: usize = 40;
/// Bytes up to which a chunk of a script without blanks is remembered whole.
pub const CHUNK_CACHED_BYTES: usize = 24;
/// Places of words of memories that were taken out which an index may keep before it is made anew.
pub const INDEX_MIN_WASTE: u64 = 50_000;
/// What a word in the body of a memory counts for.
pub const BODY_WEIGHT: f32 = 1.0;
/// What a word in the name of a memory counts for.
pub const NAME_WEIGHT: f32 = 2.0;
/// What a word in the description of a memory counts for.
pub const DESCRIPTION_WEIGHT: f32 = 2.0;
/// What a word in the path of a memory counts for.
pub const FILE_NAME_WEIGHT: f32 = 2.0;
/// What the type of a memory counts for.
pub const TYPE_WEIGHT: f32 = 0.5;
/// BM25: how soon a word that comes again stops to count.
pub const BM25_K1: f64 = 1.2;
/// BM25: how much longer memories are held to have more words.
pub const BM25_B: f64 = 0.75;
/// How sure it must be that a memory is meant, see `recall::rank`.
pub const CONFIDENCE_FLOOR: f64 = 0.65;
/// What the amount that matched counts for in that, beside its share of the query.
pub const EVIDENCE_WEIGHT: f64 = 0.3;
/// How much a small amount can take from it: so much that the whole query is still enough.
pub const EVIDENCE_LEAST: f64 = CONFIDENCE_FLOOR - 1.0;
/// How rare the only word of a sentence must be that says something: 1 for one that stands in a single
/// memory.
pub const LONELY_EVIDENCE: f64 = 0.75;
/// How strongly a memory must have it: more than once in its body, or in its name or description.
pub const LONELY_STRENGTH: f64 = 1.4;
/// What the score counts for in that.
pub const STRENGTH_WEIGHT: f64 = 0.25;
/// What the parts of an identifier count for beside the whole.
pub const PART_WEIGHT: f64 = 0.6;
/// Different words of a query that count.
pub const QUERY_MAX_WORDS: usize = 1_000;
/// Of those that stand in some memory, how many are looked for: the rarest.
pub const QUERY_MAX_KNOWN_WORDS: usize = 64;
/// Words up to which a query as a whole can mean a memory; in a longer one any memory has some.
pub const QUERY_SHORT_WORDS: usize = 24;
/// Parts of a query that are looked at one by one, beside the whole: half of them from its beginning,
/// half from its end.
pub const QUERY_MAX_SEGMENTS: usize = 128;
/// How much surer it must be that a part of a query means a memory than that the whole does.
pub const SEGMENT_MARGIN: f64 = 0.15;
/// Words of a sentence above which it is looked at in windows.
pub const SENTENCE_MAX_WORDS: usize = 8;
/// Words of such a window; each overlaps half of the next.
pub const WINDOW_WORDS: usize = 6;
/// For how many memories a smaller store is taken when words are weighed.
pub const RARITY_LEAST_MEMORIES: f64 = 20.0;
/// How much age can take from a score.
pub const AGE_WEIGHT: f64 = 0.1;
/// Days after which half of it is taken.
pub const AGE_HALF_DAYS: f64 = 180.0;
/// How much use can add to a score.
pub const USE_WEIGHT: f64 = 0.1;
/// Uses after which half of it is added.
pub const USE_HALF: f64 = 5.0;
/// Letters that the stem of an English word has at least when one near to it is taken in its place.
pub const NEAR_MIN_LETTERS: usize = 5;
/// Letters from which two of them may differ instead of one.
pub const NEAR_LONG_LETTERS: usize = 9;
/// What a word counts for that is only near to the one asked for.
pub const NEAR_WEIGHT: f64 = 0.7;
/// Words of a query that stand in no memory and are looked up in this way.
pub const NEAR_MAX_WORDS: usize = 8;
/// What a piece of two letters that stands in no memory counts for among the words of a query.
pub const UNKNOWN_PIECE_WEIGHT: f64 = 0.35;
/// What a piece that begins with Hiragana counts for.
pub const GRAMMAR_WEIGHT: f64 = 0.2;
/// How much less sure it must be of a memory beside one that is surely meant.
pub const COMPANY_BONUS: f64 = 0.1;
/// Memories that a recall gives (facts 5.2).
pub const RECALL_MAX_MEMORIES: usize = 5;
/// UTF-8 bytes of one recalled memory (facts 5.4).
pub const RECALL_MAX_BYTES: u64 = 4_096;
/// Lines of one recalled memory (facts 5.4).
pub const RECALL_MAX_LINES: u32 = 200;
/// UTF-8 bytes of all memories of one recall (facts 5.4).
pub const RECALL_TURN_BYTES: u64 = 20 * 1024;
/// UTF-8 bytes of all memories that a conversation is shown (facts 5.1).
pub const RECALL_SESSION_BYTES: u64 = 60 * 1024;
/// Bytes below which a memory is rather left out than cut so far; no source.
pub const RECALL_LEAST_BYTES: u64 = 256;
/// UTF-8 bytes of a query that are looked at; no source, more is a pasted file.
pub const QUERY_MAX_BYTES: usize = 16 * 1024;
/// Memories that a model is shown to choose from (facts 4.4: as many as a scan).
pub const SELECT_CANDIDATES: usize = SCAN_MAX_MEMORIES;
/// Of those, the places kept for the newest when there are more memories; no source.
pub const SELECT_NEWEST: usize = 50;
/// Tokens of a model's choice. The sources give 256 (facts 5.2), which a model that thinks first
/// uses up before it answers.
pub const SELECT_MAX_TOKENS: u32 = 1_024;
/// Bytes of a model's choice; no source, five paths are a few hundred.
pub const SELECT_ANSWER_BYTES: usize = 65_536;
/// Characters of a description that a model is shown when it chooses; no source.
pub const SELECT_DESCRIPTION_CHARS: usize = 500;
/// Objects in a model's answer that are looked at for its choice; no source.
pub const SELECT_MAX_OBJECTS: usize = 256;
/// How long a model may take to choose (design).
pub const SELECT_TIMEOUT_MS: u64 = 10_000;
/// Bytes of a model's answer; no source.
pub const MODEL_ANSWER_BYTES: u64 = 1024 * 1024;
/// Tokens above which a provider's count is taken for none; no source, a thousand large contexts.
pub const MODEL_MAX_TOKENS: u64 = 1_000_000_000;
/// Marks for the prompt cache in one request to Anthropic (its documentation of prompt caching).
pub const CACHE_MARKS: usize = 4;
/// Tries after the first one of anything that is asked over HTTP (facts 11.3).
pub const RETRIES: u32 = 3;
/// The pause before the first of them, in milliseconds (facts 11.3).
pub const RETRY_FIRST_MS: u64 = 500;
/// The longest pause, in milliseconds (facts 11.3).
pub const RETRY_MAX_MS: u64 = 32_000;
/// Random bytes of a name that no other writer has.
pub const TOKEN_BYTES: u32 = 8;
/// Name of the lock in memdir's own folder (design, "Our own files").
pub const LOCK_NAME: &str = "lock";
/// The most that is read of it.
pub const LOCK_MAX_BYTES: u64 = 4 * 1024;
/// How long the same lock must be seen before it is taken over, in milliseconds (design).
pub const LOCK_TAKEOVER_MS: u64 = 5_000;
/// How long a writer waits for the lock, in milliseconds (design).
pub const LOCK_WAIT_MS: u64 = 30_000;
/// The first pause of a writer that waits, in milliseconds; each next one is twice as long.
pub const LOCK_FIRST_PAUSE_MS: u64 = 1;
/// The longest one.
pub const LOCK_MAX_PAUSE_MS: u64 = 32;
/// The longest pause behind other writes of the same store, in milliseconds.
pub const QUEUE_MAX_PAUSE_MS: u64 = 500;
/// How often a change is made anew when another program writes the same files; no source.
pub const WRITE_ATTEMPTS: u32 = 20;
/// Memories of one name that get a file name with a number; no source.
pub const FILE_MAX_NUMBER: u32 = 1_000;
/// Age after which a temporary file is one that was left behind, in milliseconds; no source.
pub const TEMPORARY_MAX_AGE_MS: i64 = 60_000;
/// Folder of what was replaced or forgotten, in memdir's own folder.
pub const TRASH_FOLDER: &str = "trash";
/// What is kept in it (design).
pub const TRASH_MAX_ITEMS: usize = 100;
/// How long, in milliseconds (design).
pub const TRASH_MAX_AGE_MS: i64 = 30 * 86_400_000;
/// Name of the record of forgotten team memories in memdir's own folder.
pub const TOMBSTONES_NAME: &str = "tombstones.json";
/// UTF-8 bytes of an agent's name that is a folder name as it is; no source.
pub const AGENT_NAME_MAX_BYTES: usize = 100;
/// Folders that are looked at on the way up to one that holds `.claude`.
pub const CLAUDE_FOLDER_MAX_PARENTS: usize = 256;
/// The most that is looked through for secrets at once from the command line; no source.
pub const SECRETS_MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes of a file that the memory tool shows at once; no source, about what a model reads in one go.
pub const TOOL_VIEW_BYTES: usize = 65_536;
/// Entries of a folder that it shows; no source.
pub const TOOL_VIEW_ENTRIES: usize = 1_000;
/// Name of the file of use counts in memdir's own folder.
pub const USES_NAME: &str = "uses.json";
/// The most that is read of it.
pub const USES_MAX_BYTES: u64 = 4 * 1024 * 1024;
/// How long use counts may wait before they are written, in milliseconds; no source.
pub const USES_WRITE_MS: i64 = 60_000;
/// Characters of a model's shell command (facts 6.3).
pub const COMMAND_MAX_CHARS: usize = 10_000;
/// Words of it; no source.
pub const COMMAND_MAX_WORDS: usize = 256;
/// Programs that it puts in one pipe; no source.
pub const COMMAND_MAX_STAGES: usize = 8;

/// Lines that a background agent's `Read` shows unless it is told how many.
pub const READ_LINES: usize = 2_000;
/// Files that one search of a background agent looks through.
pub const WALK_MAX_FILES: usize = 20_000;
/// Folders that are listed in one step of a search.
pub const WALK_FOLDERS: usize = 64;
/// Bytes of texts that one search reads; the transcripts of months.
pub const GREP_MAX_BYTES: u64 = 512 * 1024 * 1024;
/// A larger file is searched in pieces of so many bytes.
pub const GREP_FILE_BYTES: u64 = 1024 * 1024;
/// Bytes of a search's texts that are looked through in one step.
pub const GREP_STEP_BYTES: u64 = 512 * 1024;
/// Bytes of a pattern that a background agent searches by.
pub const PATTERN_BYTES: usize = 500;
/// Stars of a pattern of paths: each of them multiplies what matching takes.
pub const PATTERN_STARS: usize = 10;
/// Bytes that a regular expression may take, which bounds its time for each byte of a text.
pub const PATTERN_MAX_STATES: usize = 16 * 1024;
/// Lines that a search answers with unless it is told how many.
pub const GREP_LINES: usize = 250;
/// Bytes of one such line.
pub const GREP_LINE_BYTES: usize = 500;
/// Paths that `Glob` answers with.
pub const GLOB_PATHS: usize = 100;
/// Bytes of a command's output that a background agent is shown.
pub const SHELL_OUTPUT_BYTES: u64 = 30_000;
/// Bytes that go from one program of a pipe to the next.
pub const SHELL_PIPE_BYTES: u64 = 4 * 1024 * 1024;
/// How long one program may take, milliseconds.
pub const SHELL_TIMEOUT_MS: u64 = 10_000;
/// Where the programs of a command are looked for; they get no other variable.
pub const SHELL_PATH: &str = "/usr/bin:/bin";
/// Calls of tools in one background run.
pub const RUN_MAX_CALLS: u32 = 200;
/// Tokens of one background run (design, decisions); those from the provider's cache count a tenth, as they cost.
pub const RUN_MAX_TOKENS: u64 = 200_000;
/// Bytes that the tools answer with in one turn of a background run; further calls wait for the next one.
pub const RUN_TURN_BYTES: usize = 200_000;
/// Characters of what a model says in a turn of a dream that an event tells.
pub const TURN_TOLD_CHARS: usize = 300;
/// Tokens of one answer in a background run.
pub const RUN_ANSWER_TOKENS: u32 = 8_192;
/// How long one answer in a background run may take, all tries together, milliseconds.
pub const RUN_ANSWER_MS: u64 = 120_000;
/// Turns of an extraction (facts 6.2).
pub const EXTRACT_MAX_TURNS: u32 = 5;
/// Bytes of a conversation that an extraction is shown which shares no request with it.
pub const EXTRACT_TALK_BYTES: usize = 120_000;
/// Bytes of a tool's input or result that such an extraction is shown.
pub const EXTRACT_RESULT_BYTES: usize = 2_000;
/// Bytes of a message's id; a longer one is recognised by its hash.
pub const MESSAGE_ID_BYTES: usize = 200;
/// Messages that one without an id is recognised by, itself and those before it.
pub const MESSAGE_WINDOW: usize = 4;
/// Words that a person must have written for an extraction (facts 6.4).
pub const EXTRACT_LEAST_WORDS: usize = 3;
/// How long extractions rest after the model's provider had no more to give, milliseconds.
pub const EXTRACT_PAUSE_MS: i64 = 15 * 60_000;
/// How far transcripts have come that were extracted from, in a store's own folder.
pub const EXTRACTIONS_NAME: &str = "extractions.json";
/// How many of them are known.
pub const EXTRACTIONS_KEPT: usize = 500;
/// Bytes of that file that are read.
pub const EXTRACTIONS_MAX_BYTES: u64 = 1024 * 1024;
/// How long closing waits for extractions that are under way, milliseconds (facts 6.5).
pub const DRAIN_MS: u64 = 60_000;

/// Bytes of a transcript that are read at a time; no source.
pub const TRANSCRIPT_CHUNK_BYTES: u64 = 1024 * 1024;
/// Bytes of one line of a transcript, or one element of an array; longer ones are skipped; no source.
pub const TRANSCRIPT_LINE_BYTES: usize = 8 * 1024 * 1024;
/// JSON values in the tool calls and results of one line, its blocks counted; no source, one value can
/// take a hundred times its length in memory.
pub const TRANSCRIPT_LINE_VALUES: usize = 20_000;
/// Bytes of the messages of a transcript that are kept, the newest: their texts, and what holding each
/// part takes; no source.
pub const TRANSCRIPT_WINDOW_BYTES: usize = 16 * 1024 * 1024;
/// How many are kept; no source.
pub const TRANSCRIPT_MESSAGES: usize = 10_000;
/// UTF-8 bytes of text that are kept of one result of a tool in a transcript; no source.
pub const TRANSCRIPT_RESULT_BYTES: usize = 64 * 1024;
/// Lines of a transcript that are remembered as what others may follow; no source, enough for several
/// such lines a message.
pub const TRANSCRIPT_PARENTS: usize = 65_536;

/// Time from one dream to the next, milliseconds (document 001 §3.3).
pub const DREAM_AFTER_MS: i64 = 24 * 3_600_000;
/// Sessions that must have been held since the last one (document 001 §3.3).
pub const DREAM_SESSIONS: u32 = 5;
/// Time from one counting of sessions to the next, milliseconds (facts 7.1).
pub const DREAM_COUNT_MS: i64 = 10 * 60_000;
/// The lock of dreams, and the time of the last one (facts 7.2).
pub const DREAM_LOCK_NAME: &str = ".consolidate-lock";
/// What a crash in a dream is made good by: that time from before its lock, in a store's own folder.
pub const DREAM_BEFORE_NAME: &str = "dream-before.json";
/// From when on a lock is not held, whoever lives, milliseconds (facts 7.2).
pub const DREAM_LOCK_MAX_MS: u64 = 3_600_000;
/// Turns of a dream; the sources name no limit, its tokens are one.
pub const DREAM_MAX_TURNS: u32 = 60;
/// Memories that one dream removes, and entries that it takes from an index without their memories.
pub const DREAM_MAX_REMOVED: usize = 20;
/// Sessions that a dream is told of by name, the newest.
pub const DREAM_NAMED_SESSIONS: usize = 50;
/// Where what dreams have changed is kept, in a store's own folder.
pub const DREAMS_FOLDER: &str = "dreams";
/// How many of them.
pub const DREAMS_KEPT: usize = 20;
/// Tokens of a conversation from which notes of it are kept (document 001 §3.2, facts 8.1).
pub const SESSION_FIRST_TOKENS: u64 = 10_000;
/// Tokens that it grows by from one update to the next (document 001 §3.2, facts 8.1).
pub const SESSION_GROWTH_TOKENS: u64 = 5_000;
/// Calls of tools from one update to the next (document 001 §3.2, facts 8.1).
pub const SESSION_TOOL_CALLS: u64 = 3;
/// Tokens of one section of the notes (facts 8.3).
pub const SESSION_SECTION_TOKENS: u64 = 2_000;
/// Tokens of all of them (facts 8.3).
pub const SESSION_NOTES_TOKENS: u64 = 12_000;
/// Characters at which a section is cut for a compaction (facts 8.4).
pub const SESSION_CUT_CHARS: usize = 8_000;
/// Tokens of messages beyond which a compaction keeps no more (facts 8.4).
pub const SESSION_KEEP_MOST_TOKENS: u64 = 40_000;
/// Tokens of messages that a compaction keeps at least, if there are so many (facts 8.4).
pub const SESSION_KEEP_LEAST_TOKENS: u64 = 10_000;
/// Messages with text that it keeps at least (facts 8.4).
pub const SESSION_KEEP_MESSAGES: usize = 5;
/// How long a compaction waits for notes that are being written, milliseconds (facts 8.4).
pub const SESSION_WAIT_MS: u64 = 15_000;
/// How long it waits before it looks again, milliseconds (facts 8.4).
pub const SESSION_POLL_MS: u64 = 1_000;
/// From which age on an update is not waited for, milliseconds (facts 8.4).
pub const SESSION_STALE_MS: i64 = 60_000;
/// Turns of an update; no source, as many as an extraction has.
pub const SESSION_MAX_TURNS: u32 = 5;
/// UTF-8 bytes of a session's id; no source, ids are 36.
pub const SESSION_ID_BYTES: usize = 128;
/// Folder of the notes in a session's folder (facts 8.2).
pub const SESSION_FOLDER: &str = "session-memory";
/// Name of the notes (facts 8.2).
pub const SESSION_NAME: &str = "summary.md";
/// Names of the files of instructions (facts 10.1).
pub const INSTRUCTIONS_FILE: &str = "CLAUDE.md";
/// The user's for one project, which is not shared.
pub const LOCAL_INSTRUCTIONS_FILE: &str = "CLAUDE.local.md";
/// That of other agents.
pub const AGENTS_FILE: &str = "AGENTS.md";
/// Folder of rules in a `.claude` folder, or in the user's.
pub const RULES_FOLDER: &str = "rules";
/// Folders above the working directory that are looked at; no source, deeper trees are no projects.
pub const INSTRUCTIONS_MAX_PARENTS: usize = 256;
/// How far imports lead: a file, and four more (facts 10.3).
pub const IMPORT_MAX_DEPTH: u32 = 4;
/// Lines within which the front matter of a rule must close; no source. Its list of patterns may be long.
pub const RULE_FRONTMATTER_MAX_LINES: usize = 200;
/// Patterns that a rule may expand to (facts 10.4).
pub const RULE_MAX_PATTERNS: usize = 1_000;
/// Bytes that they may have together (facts 10.4).
pub const RULE_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Characters of a file of instructions from which on it costs more than it helps (facts 10.4).
pub const INSTRUCTIONS_LARGE_CHARS: usize = 40_000;
/// How long a person may take to approve an import; no source.
pub const APPROVE_MS: u64 = 10 * 60 * 1000;
/// Bytes of the line in which somebody names what is to be edited; no source.
pub const CHOICE_MAX_BYTES: u64 = 4_096;
/// Imports of one file that are followed; no source, a text with more does not mean them as such.
pub const IMPORTS_MAX: usize = 1_000;
