//! What a store's prompt is made of: its folder, its indexes, and what its options say (document 000 §3, facts 12).

use super::{Found, OpenOptions, Place, PromptOptions, Store, read, warning};
use crate::error::{Error, ErrorCode};
use crate::flow::{Event, Host};
use crate::instructions::{
    Context, ContextKind, InstructionSource, LoadEntry, LoadKind, LoadNote, LoadOutcome,
};
use crate::limits::{FILE_MAX_BYTES, FOLDER_MODE, INDEX_NAME, TEAM_INDEX};
use crate::memory::truncate_index;
use crate::prompt::{self, Index, Kind, Past, Saving};
use crate::report::ReportCode;

pub(super) async fn build(
    open: &OpenOptions,
    found: &Found,
    host: &Host,
    options: &PromptOptions,
    warnings: &mut Vec<Event>,
) -> Result<String, Error> {
    make_folder(found, host, warnings).await?;
    let parts = read_parts(open, found, host, options.index, warnings).await?;
    Ok(parts.prompt(open, found, options, &parts.index, parts.team.as_ref()))
}

/// The prompt says that the folder exists. When it cannot be made, the model's first write shows the real error; the
/// user hears of it now. An agent's folder comes with its first memory.
async fn make_folder(found: &Found, host: &Host, warnings: &mut Vec<Event>) -> Result<(), Error> {
    let directory = &found.opened.directory;
    if found.agent.is_some() {
        return Ok(());
    }
    let made = host.make_dir(directory, None, FOLDER_MODE).await;
    host.stop_if_cancelled()?;
    if let Err(failure) = made {
        let message = format!(
            "the memory folder {directory} cannot be created: {}",
            failure.message
        );
        warnings.push(warning("", message));
    }
    Ok(())
}

/// What the prompt of a store is made of.
struct Parts {
    saving: Saving,
    index: Index,
    /// Where there is a team.
    team: Option<Index>,
}

async fn read_parts(
    open: &OpenOptions,
    found: &Found,
    host: &Host,
    with_index: bool,
    warnings: &mut Vec<Event>,
) -> Result<Parts, Error> {
    let place = found.place();
    let saving = if open.features.one_step {
        Saving::OneStep
    } else {
        Saving::TwoSteps
    };
    let index = match saving {
        Saving::TwoSteps if with_index => read_index(&place, host, INDEX_NAME, warnings).await?,
        _ => Index::LeftOut,
    };
    // Agents keep an index only where there is one already.
    let (saving, index) = match index {
        Index::Text(text) if found.agent.is_some() && text.trim().is_empty() => {
            (Saving::OneStep, Index::LeftOut)
        }
        index => (saving, index),
    };
    // A daily log has no team (facts 12).
    let team = match saving {
        _ if !open.features.team || open.features.daily_log || found.agent.is_some() => None,
        Saving::TwoSteps if with_index => {
            Some(read_index(&place, host, TEAM_INDEX, warnings).await?)
        }
        _ => Some(Index::LeftOut),
    };
    Ok(Parts {
        saving,
        index,
        team,
    })
}

impl Parts {
    /// The prompt that shows these indexes.
    fn prompt(
        &self,
        open: &OpenOptions,
        found: &Found,
        options: &PromptOptions,
        index: &Index,
        team: Option<&Index>,
    ) -> String {
        let extra = crate::paths::variable(&open.env, "CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES");
        let guidelines = extra
            .into_iter()
            .chain(options.guidelines.iter().map(String::as_str))
            .collect();
        let directory = &found.opened.directory;
        let past = options.past_context.then(|| Past {
            directory,
            transcripts: found.transcripts.as_deref(),
        });
        prompt::prompt(
            kind(open, found, team),
            directory,
            self.saving,
            guidelines,
            past,
            index,
        )
    }
}

fn kind<'a>(open: &OpenOptions, found: &'a Found, team: Option<&'a Index>) -> Kind<'a> {
    match &found.agent {
        Some(agent) => Kind::Agent(agent),
        None if open.features.daily_log => Kind::DailyLog,
        None => team.map_or(Kind::Single, Kind::Team),
    }
}

impl Store {
    /// Adds the parts of a context that memory makes: how it works, and what there is in the indexes.
    pub(super) async fn memory_in(&self, host: &Host, context: &mut Context) -> Result<(), Error> {
        let found = self.found(host).await?;
        if !found.opened.enabled || self.hides_memory() {
            return Ok(());
        }
        let open = &self.shared.options;
        let mut warnings = Vec::new();
        make_folder(&found, host, &mut warnings).await?;
        let parts = read_parts(open, &found, host, true, &mut warnings).await?;
        let nothing = Index::LeftOut;
        let team = parts.team.as_ref().map(|_| &nothing);
        let text = parts.prompt(open, &found, &PromptOptions::default(), &nothing, team);
        context.put(ContextKind::Memory, text);
        let indexes = [
            (
                ContextKind::Index,
                INDEX_NAME,
                Some(&parts.index),
                prompt::index(kind(open, &found, team), &parts.index),
            ),
            (
                ContextKind::TeamIndex,
                TEAM_INDEX,
                parts.team.as_ref(),
                parts.team.as_ref().and_then(prompt::team_index),
            ),
        ];
        for (kind, name, index, text) in indexes {
            let told = warnings
                .iter()
                .filter(|event| event.path.as_deref() == Some(name));
            let told: Vec<&str> = told.map(|event| event.message.as_str()).collect();
            context
                .report
                .extend(index.and_then(|index| entry(&found.place(), name, index, &told)));
            context.put(kind, text.unwrap_or_default());
        }
        warnings.into_iter().for_each(|event| host.emit(event));
        Ok(())
    }
}

/// What became of an index; none where there is none yet.
fn entry(place: &Place, name: &str, index: &Index, told: &[&str]) -> Option<LoadEntry> {
    let text = match index {
        Index::LeftOut => return None,
        Index::Unreadable => None,
        Index::Text(text) if text.is_empty() => return None,
        Index::Text(text) => Some(text),
    };
    let source = if name == TEAM_INDEX {
        InstructionSource::Team
    } else {
        InstructionSource::Memory
    };
    let (outcome, code) = match text {
        Some(_) => (LoadOutcome::Loaded, None),
        None => (LoadOutcome::Skipped, Some(ReportCode::Unreadable)),
    };
    let notes = told
        .iter()
        .filter(|_| text.is_some())
        .map(|message| LoadNote {
            code: ReportCode::IndexOverLimit,
            message: (*message).to_owned(),
        });
    Some(LoadEntry {
        path: place.path(name),
        source,
        kind: LoadKind::Index,
        outcome,
        code,
        message: code.map(|_| told.join("; ")),
        parent: None,
        depth: 0,
        bytes: text.map(|text| text.len() as u64),
        lines: text.map(|text| text.lines().count() as u64),
        globs: None,
        notes: notes.collect(),
    })
}

/// The index for the prompt. What is wrong with it is said in a warning, and the prompt does not
/// claim that an index that cannot be read is empty.
async fn read_index(
    place: &Place,
    host: &Host,
    name: &str,
    warnings: &mut Vec<Event>,
) -> Result<Index, Error> {
    match read::read_beginning(place, host, name).await {
        Ok((text, whole)) => {
            if !whole {
                let message = format!(
                    "the index has more than {FILE_MAX_BYTES} bytes; what follows was not looked at"
                );
                warnings.push(warning(name, message));
            } else if let lost @ 1.. = truncate_index(&text).lost.len() {
                let message =
                    format!("entries that do not fit into the prompt: {lost}; see memdir lint");
                warnings.push(warning(name, message));
            }
            Ok(Index::Text(text))
        }
        Err(error) if error.code == ErrorCode::NotFound => Ok(Index::Text(String::new())),
        Err(error) => {
            host.stop_if_cancelled()?;
            warnings.push(warning(
                name,
                format!("the index is left out of the prompt: {error}"),
            ));
            Ok(Index::Unreadable)
        }
    }
}
