//! What `memdir --help` says.

pub(super) const TEXT: &str = "\
memdir: file-based long-term memory for AI agents

Usage: memdir COMMAND [OPTIONS]

Commands:
  path          say which memory folder is used, why, and what was refused
  scan          list the memories of a store, newest first
  prompt        print what an agent is told about its memory; creates the folder
  instructions [FILE]
                say what people have written for an agent in this project, file
                by file: what is loaded, what is skipped, and why (also --tree,
                --text); with FILE, what comes with that file
  context       print everything that an agent should start with: instructions,
                how its memory works, and the indexes; creates the folder
  edit [NAME]   open instructions, the index or a memory in an editor: that of
                VISUAL, of EDITOR, or the system's; without a name or a number
                asks which
  show PATH     print one memory; PATH is relative to the store
  recall QUERY  print the memories that help with a query
  save          write a memory; its body comes from standard input. A new one
                needs --type and --name; with --path one that is there is
                changed, and what is not given stays, also an empty body
  forget PATH   take a memory and its index lines away; forget --undo [PATH]
                brings the last one back
  secrets FILE  say which lines of a file hold what looks like a secret; - is
                standard input; exit code 1 when one does
  log NOTE      append a note to the log of the day; without one, standard input
  agent NAME [COMMAND]
                the same commands over the memory of an agent; without one,
                where it is
  team pull     bring what teammates have shared; team push: share what was
                changed here; team sync: both; team watch: both, again and
                again; when it is interrupted, what is left is uploaded, for two
                seconds at most
  team status   say what a push would upload, without asking the server
  team conflicts [show ID | restore ID | drop ID]
                our versions that a sync has kept, because teammates had changed
                the same memories
  extract FILE  let a model (--model) write down what a transcript has that later
                conversations should know: a session of Claude Code (.jsonl), or
                messages as JSON; - is standard input. The next time only what
                has been said since is looked at
  session ID [FILE]
                print the notes of a session (also --show); with a transcript as
                for extract, let a model (--model) bring them up to date when the
                conversation has grown enough
  dream         let a model (--model) put the whole memory in order, when it is
                time: 24 hours and five sessions after the last time
  inbox [show ID | apply ID [PATH...] | drop ID [PATH...]]
                what background runs propose instead of doing it: list it, show
                the diffs, apply or drop all or some of it; exit code 1 when
                something could not be applied and still waits
  lint          say what is wrong with a store and what to do about it; exit
                code 1 when something is an error

Options:
  --dir DIR     the memory folder; without it, that of the project
  --cwd DIR     the folder whose project is meant; without it, the current one
  --json        print JSON
  --limit N     recall: at most so many memories, up to 5
  --model NAME  recall, extract, session, dream: the model, anthropic/NAME or
                openai/NAME; its key and address come from ANTHROPIC_API_KEY,
                ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL. Recall does
                without it: then words decide
  --agents-md, --add-dir DIR, --exclude GLOB, --approve PATH, --no-user,
  --no-project, --no-local
                instructions, context: AGENTS.md, too; what another folder has;
                files that are left out; a file outside of the working tree, or
                a folder of such, that may be imported; whose are left out
  --force       session: whether the conversation has grown enough or not; dream:
                whatever time it is
  --dry-run     dream: change nothing, show the diffs of what would be changed
  --logs        dream: only distil the daily logs into memories
  --undo        forget, dream: take the last one back
  --review      extract: change nothing yet, but leave it in the inbox
  --type T      save: user, feedback, project or reference
  --name N      save: a few words
  --description D
                save: one line that says when the memory helps
  --scope S     save: private or team; without it, by the type; agent: user,
                project (the usual one) or local
  --path P      save: the file, relative to the store
  --expect H    save, forget: do nothing unless the file has this hash (show
                --json gives it); save: or absent
  --url URL     team: the server; without it, MEMDIR_TEAM_URL. Its token comes
                from MEMDIR_TEAM_TOKEN
  --repo R      team: owner/repo; without it, what the git remote says
  --deletions D team: keep (the usual one), or propagate: what was forgotten here
                goes from the server after 7 days
  --help        print this text
  --version     print the version

Exit codes: 0 done, 1 failed, 2 wrong usage, 128 and the signal's number when
interrupted. Results go to stdout; what was
skipped, cut or repaired, and errors, go to stderr.
";
