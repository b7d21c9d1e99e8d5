//! Recall: the memories that help with a query (facts 5, documents 000 §5 and 002). Everything that
//! is in the store is looked at; a model chooses when there is one, and when it cannot, or there is
//! none, what the words of query and memories have in common decides.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::cache::Known;
use super::find::Found;
use super::scan::{Catalogue, Change};
use super::{Place, Store, heads, scan, uses};
use crate::error::{Error, ErrorCode};
use crate::flow::{Head, Host, join};
use crate::limits::{
    QUERY_MAX_BYTES, RECALL_MAX_BYTES, RECALL_MAX_MEMORIES, RECALL_SESSION_BYTES, SELECT_TIMEOUT_MS,
};
use crate::memory::{MemoryHeader, Scope, format_manifest, memory_age};
use crate::model::{self, Model};
use crate::recall::{
    Index, RecallState, Standing, ToolResult, Uses, candidates, cut_memory, grant_bytes,
    read_selection, recent_tools, render, selection_request, tokenize, what_is_shown,
};
use crate::report::{ReportCode, ReportEntry};
use crate::text;

/// How a recall chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// By the model, if the store was opened with one, else by words.
    #[default]
    Auto,
    /// By the model.
    Model,
    /// By the words of query and memories; no model is asked.
    Lexical,
}

/// What a recall is given besides its query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RecallOptions {
    /// How many memories at most, from 1; never more than five.
    pub limit: Option<u32>,
    /// How they are chosen.
    pub strategy: Strategy,
    /// Tools that the agent is using: a model leaves out how they are used and keeps warnings.
    pub recent_tools: Vec<String>,
    /// What tools gave since the user's message before the last one; those that only succeeded count
    /// as recent (facts 5.3).
    pub tool_results: Vec<ToolResult>,
    /// Memories that were shown already, relative to the store or absolute; they are not recalled.
    pub surfaced: Vec<String>,
    /// Files that the agent has read itself, relative to the store or absolute; neither are they.
    pub already_read: Vec<String>,
    /// What the last recall of this conversation gave.
    pub state: RecallState,
}

/// What a recall found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recall {
    /// The best first.
    pub memories: Vec<RecalledMemory>,
    /// What was skipped, cut or repaired, by path.
    pub report: Vec<ReportEntry>,
    /// To be passed to the next recall of this conversation.
    pub state: RecallState,
}

impl Recall {
    /// What the agent's model is shown: the texts of all memories. The same to the byte in every
    /// later turn.
    #[must_use]
    pub fn render(&self) -> String {
        let texts: Vec<&str> = self
            .memories
            .iter()
            .map(|memory| memory.text.as_str())
            .collect();
        texts.join("\n\n")
    }
}

/// Why a memory was recalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecallReason {
    /// A model chose it.
    Model,
    /// Its words fit the query's.
    Lexical,
}

/// One memory as shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecalledMemory {
    /// Relative to the store, with `/`.
    pub path: String,
    /// The same for tools that read files.
    pub absolute_path: String,
    /// The file's modification time, whole milliseconds since the epoch.
    pub mtime_ms: i64,
    /// What a scan says of it.
    pub header: MemoryHeader,
    /// Whole days since it was written.
    pub age_days: i64,
    /// `today`, `yesterday`, `3 days ago`.
    pub age: String,
    /// What to keep in mind when using it; null while it is fresh.
    pub warning: Option<String>,
    /// The beginning of the file, frontmatter included, as far as it is shown.
    pub content: String,
    /// What was cut and where the rest is; null when nothing was.
    pub note: Option<String>,
    /// Who chose it.
    pub reason: RecallReason,
    /// How well its words fit, to be compared within one answer; null when they do not.
    pub score: Option<f64>,
    /// All of it for the agent's model: header, warning, content, note.
    pub text: String,
}

/// What is kept of a store between recalls.
#[derive(Clone, Debug, Default)]
pub(super) struct Library {
    /// Nothing while a flow reads what is new: should it be stopped midway, the next reads all anew.
    pub catalogue: Catalogue,
    /// Locked for as long as a memory is put in or a query is answered, never over an await.
    index: Arc<Mutex<Index>>,
    /// Counts the flows that read what was new.
    edition: u64,
}

impl Library {
    fn header(&self, path: &str) -> Option<&MemoryHeader> {
        self.catalogue.known.find(path)?.header.as_ref()
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A memory that was chosen.
struct Chosen {
    path: String,
    reason: RecallReason,
    score: Option<f64>,
}

/// What choosing needs.
struct Question<'a> {
    query: &'a str,
    limit: usize,
    tools: Vec<String>,
    model: Option<&'a Model>,
    /// Memories that are not to be recalled.
    gone: HashSet<String, FxBuildHasher>,
    now_ms: i64,
}

impl Store {
    pub(crate) async fn recall_in(
        &self,
        host: &Host,
        query: &str,
        options: RecallOptions,
    ) -> Result<Recall, Error> {
        let mut recall = Recall {
            state: options.state.clone(),
            ..Recall::default()
        };
        let found = self.found(host).await?;
        let model = match options.strategy {
            Strategy::Lexical => None,
            Strategy::Auto => found.model.as_ref(),
            Strategy::Model if found.model.is_none() => {
                return Err(Error::new(
                    ErrorCode::NoModel,
                    "no model was given to this store; open it with one, or recall with the strategy lexical",
                ));
            }
            Strategy::Model => found.model.as_ref(),
        };
        let limit = limit_of(options.limit, &mut recall.report)?;
        if !found.opened.enabled {
            recall.report.push(self.disabled_entry(host).await?);
            return Ok(recall);
        }
        let query = cut_query(query, &mut recall.report);
        let words = tokenize(query).len();
        let is_one_word = !text::trim(query).contains(char::is_whitespace);
        let says_something = |word: &&str| word.contains(char::is_alphanumeric);
        let spoken = query.split_whitespace().filter(says_something).count();
        // A model may know what to make of `who am I`.
        if words == 0 && (model.is_none() || spoken < 2) {
            let message =
                "the query has no words that a memory could be found by; ask in full words";
            note(&mut recall.report, ReportCode::QueryEmpty, message);
            return Ok(recall);
        }
        if recall.state.bytes >= RECALL_SESSION_BYTES {
            note(
                &mut recall.report,
                ReportCode::SessionBudget,
                "the conversation has been shown as many memories as fit into it; recall goes on after it is compacted",
            );
            return Ok(recall);
        }
        let model = match model {
            // The sources ask no model about a single word (facts 5.1): it says too little.
            Some(_) if words == 1 && is_one_word => {
                note(
                    &mut recall.report,
                    ReportCode::ModelSkipped,
                    "a query of one word is answered without the model",
                );
                None
            }
            model => model,
        };
        let (library, uses, now_ms) = self.refresh(host, &found, &mut recall.report).await?;
        let place = found.place();
        let question = Question {
            query,
            limit,
            tools: tools(&options),
            model,
            gone: left_out(&place, &options),
            now_ms,
        };
        let chosen = choose(host, &question, &library, &uses, &mut recall.report).await?;
        show(host, &found, &library, chosen, now_ms, &mut recall).await?;
        self.count_uses(host, &found, now_ms, &recall).await?;
        scan::sort(&mut recall.report);
        Ok(recall)
    }

    /// Reads what is new or changed in the store.
    async fn refresh(
        &self,
        host: &Host,
        found: &Found,
        report: &mut Vec<ReportEntry>,
    ) -> Result<(Library, Uses, i64), Error> {
        let (generation, mut library) = {
            let mut state = self.state();
            let wasteful = state.library.index().is_wasteful();
            if wasteful {
                state.library = Library::default();
            }
            (state.generation, state.library.clone())
        };
        let place = found.place();
        let counts = self.shared.options.features.count_uses;
        let counted = async {
            match counts {
                true => uses::counted(host, found, report).await,
                false => Uses::default(),
            }
        };
        let (mut uses, now) = join(counted, host.now()).await;
        host.stop_if_cancelled()?;
        let now_ms = now
            .map_err(|failure| Error::from_failure(&failure, "asking for", "the time"))?
            .ms;
        let index = Arc::clone(&library.index);
        let edition = &mut library.edition;
        let changed = scan::read_changed(&place, host, &library.catalogue, report, |change| {
            let index = || index.lock().unwrap_or_else(PoisonError::into_inner);
            match change {
                Change::Begins => *edition = self.begin_reading(generation),
                Change::Memory { header, text, body } => {
                    index().put(header, text, body, *edition);
                }
                Change::Unreadable(path) => index().remove(path, *edition),
            }
        })
        .await?;
        let mut state = self.state();
        uses.merge(&state.uses.pending);
        if let Some(catalogue) = changed {
            library
                .index()
                .retain(|path| catalogue.known.find(path).is_some(), library.edition);
            library.catalogue = catalogue;
            // When another flow has begun to read since, it is the one that is believed.
            if state.generation == generation && state.library.edition == library.edition {
                state.library = library.clone();
            }
        }
        Ok((library, uses, now_ms))
    }

    /// Forgets what is known of the store until the flow that reads it anew has ended; gives the
    /// number of that reading.
    fn begin_reading(&self, generation: u64) -> u64 {
        let mut state = self.state();
        // What was dropped meanwhile is not this flow's to forget.
        if state.generation == generation {
            state.library.edition = state.library.edition.wrapping_add(1);
            state.library.catalogue = Catalogue::default();
        }
        state.library.edition
    }
}

fn note(report: &mut Vec<ReportEntry>, code: ReportCode, message: impl Into<String>) {
    report.push(ReportEntry::new("", code, message));
}

fn limit_of(limit: Option<u32>, report: &mut Vec<ReportEntry>) -> Result<usize, Error> {
    let limit = limit.map_or(RECALL_MAX_MEMORIES, |limit| limit as usize);
    if limit == 0 {
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            "limit must be a whole number from 1",
        ));
    }
    if limit > RECALL_MAX_MEMORIES {
        let message = format!("a recall gives at most {RECALL_MAX_MEMORIES} memories, not {limit}");
        note(report, ReportCode::LimitLowered, message);
    }
    Ok(limit.min(RECALL_MAX_MEMORIES))
}

fn cut_query<'a>(query: &'a str, report: &mut Vec<ReportEntry>) -> &'a str {
    let mut end = query.len().min(QUERY_MAX_BYTES);
    while !query.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    if end < query.len() {
        let message = format!(
            "only the first {QUERY_MAX_BYTES} bytes of the query were looked at; ask for what matters in it"
        );
        note(report, ReportCode::QueryCut, message);
    }
    query.get(..end).unwrap_or_default()
}

fn tools(options: &RecallOptions) -> Vec<String> {
    let named = options.recent_tools.iter().map(|tool| ToolResult {
        tool: tool.clone(),
        ok: Some(true),
    });
    let used = recent_tools(&options.tool_results).into_iter();
    let used = used.map(|tool| ToolResult {
        tool,
        ok: Some(true),
    });
    recent_tools(&named.chain(used).collect::<Vec<_>>())
}

/// The memories that are not to be recalled, relative to the store.
fn left_out(place: &Place, options: &RecallOptions) -> HashSet<String, FxBuildHasher> {
    let given = [
        &options.surfaced,
        &options.already_read,
        &options.state.surfaced,
    ];
    given
        .into_iter()
        .flatten()
        .filter_map(|path| place.relative(path))
        .collect()
}

/// The model's choice, else the best ranked.
async fn choose(
    host: &Host,
    question: &Question<'_>,
    library: &Library,
    uses: &Uses,
    report: &mut Vec<ReportEntry>,
) -> Result<Vec<Chosen>, Error> {
    let ranked = library.index().rank(question.query, |path| {
        let header = library
            .header(path)
            .filter(|_| !question.gone.contains(path))?;
        Some(standing(header, uses, question.now_ms))
    });
    if let Some(model) = question.model {
        let newest: Vec<&MemoryHeader> = library
            .catalogue
            .newest
            .iter()
            .filter_map(|known| known.header.as_ref())
            .filter(|header| !question.gone.contains(&header.path))
            .collect();
        if newest.is_empty() {
            return Ok(Vec::new());
        }
        let headers = candidates(&ranked, newest);
        let shown: Vec<String> = headers.iter().map(|header| header.path.clone()).collect();
        let request =
            selection_request(question.query, &format_manifest(&headers), &question.tools);
        let answer = model::complete(host, model, &request, SELECT_TIMEOUT_MS).await;
        host.stop_if_cancelled()?;
        match answer.and_then(|answer| read_selection(&answer, &shown)) {
            Ok(selection) => {
                if !selection.dropped.is_empty() {
                    let message = format!(
                        "the model named what it could not choose: {}",
                        model.hide(&text::list(&selection.dropped))
                    );
                    note(report, ReportCode::ModelAnswerCut, message);
                }
                if selection.paths.len() > question.limit {
                    let over = selection.paths.get(question.limit..).unwrap_or_default();
                    let message = format!(
                        "the model chose more than were asked for: {}",
                        text::list(over)
                    );
                    note(report, ReportCode::ModelAnswerCut, message);
                }
                let score = |path: &str| {
                    ranked
                        .iter()
                        .find(|found| found.path == path)
                        .map(|found| found.score)
                };
                return Ok(selection
                    .paths
                    .into_iter()
                    .take(question.limit)
                    .map(|path| Chosen {
                        score: score(&path),
                        reason: RecallReason::Model,
                        path,
                    })
                    .collect());
            }
            Err(error) => {
                let message = format!("the model could not choose, so words decided: {error}");
                note(report, ReportCode::ModelFailed, text::one_line(&message));
            }
        }
    }
    Ok(ranked
        .into_iter()
        .take(question.limit)
        .map(|found| Chosen {
            path: found.path,
            reason: RecallReason::Lexical,
            score: Some(found.score),
        })
        .collect())
}

/// A memory that was recalled lately is as good as one that was written lately.
fn standing(header: &MemoryHeader, uses: &Uses, now_ms: i64) -> Standing {
    let used = uses.get(&header.path);
    let written = memory_age(header.mtime_ms, header.modified_ms, now_ms).days;
    let idle = memory_age(used.last_ms, None, now_ms).days;
    Standing {
        age_days: if used.count > 0 {
            written.min(idle)
        } else {
            written
        },
        uses: used.count,
        pinned: header.pinned,
    }
}

/// Who wrote a memory, if it was others.
fn whose(scope: Scope, found: &Found) -> Option<&'static str> {
    match scope {
        _ if found.is_shared() => Some("memory of the project's agent"),
        Scope::Team => Some("team memory"),
        Scope::Private => None,
    }
}

/// Reads the chosen memories and cuts them down to what may be shown.
async fn show(
    host: &Host,
    found: &Found,
    library: &Library,
    chosen: Vec<Chosen>,
    now_ms: i64,
    recall: &mut Recall,
) -> Result<(), Error> {
    let place = &found.place();
    if chosen.is_empty() {
        return Ok(());
    }
    let known: Vec<(Chosen, &Arc<Known>)> = chosen
        .into_iter()
        .filter_map(|chosen| Some((library.catalogue.known.find(&chosen.path)?, chosen)))
        .map(|(known, chosen)| (chosen, known))
        .collect();
    let files = known
        .iter()
        .map(|(chosen, known)| known.file(place, &chosen.path))
        .collect();
    // A character more shows whether the last one is whole.
    let length = RECALL_MAX_BYTES.saturating_add(4);
    let heads = host.read_many(files, Some(&place.directory), length).await;
    host.stop_if_cancelled()?;
    let heads = heads.unwrap_or_else(|failure| vec![Head::Failed(failure); known.len()]);
    let mut readable = Vec::new();
    let mut sizes = Vec::new();
    for ((chosen, known), head) in known.into_iter().zip(heads) {
        // It may have changed since it was listed.
        let size = match &head {
            Head::Content(bytes) if (bytes.0.len() as u64) < length => bytes.0.len() as u64,
            _ => known.size(),
        };
        match heads::text_of(&chosen.path, size, head) {
            Ok(text) => {
                sizes.push(size.max(text.len() as u64));
                readable.push((chosen, known, text));
            }
            Err(entry) => recall.report.push(entry),
        }
    }
    let granted = grant_bytes(recall.state.bytes, &sizes);
    for (((chosen, known, text), size), granted) in readable.into_iter().zip(sizes).zip(granted) {
        let Some(header) = known.header.clone() else {
            continue;
        };
        if granted == 0 && size > 0 {
            let message = "it fits the query and was left out, because the conversation has been shown as much as it may be; read it if it matters";
            recall.report.push(ReportEntry::new(
                chosen.path,
                ReportCode::SessionBudget,
                message,
            ));
            continue;
        }
        let absolute_path = place.path(&chosen.path);
        let cut = cut_memory(&text, size, &absolute_path, granted);
        if cut.note.is_some() {
            let message = format!(
                "only {}; read {absolute_path} for the rest",
                what_is_shown(cut.lines)
            );
            recall.report.push(ReportEntry::new(
                &chosen.path,
                ReportCode::ContentCut,
                message,
            ));
        }
        let age = memory_age(header.mtime_ms, header.modified_ms, now_ms);
        recall.state.bytes = recall.state.bytes.saturating_add(cut.content.len() as u64);
        recall.state.surfaced.push(chosen.path.clone());
        recall.memories.push(RecalledMemory {
            text: render(
                &absolute_path,
                whose(header.scope, found),
                &age,
                &cut.content,
                cut.note.as_deref(),
            ),
            path: chosen.path,
            absolute_path,
            mtime_ms: header.mtime_ms,
            header,
            age_days: age.days,
            age: age.text,
            warning: age.warning,
            content: cut.content,
            note: cut.note,
            reason: chosen.reason,
            score: chosen.score,
        });
    }
    Ok(())
}
