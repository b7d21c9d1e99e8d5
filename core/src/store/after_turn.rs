//! What is done in the background after a turn: extraction, the notes of the session, dreaming, in this order and
//! each by its own gates (document 001 §3).

use serde::{Deserialize, Serialize};

use super::Store;
use super::extract::Asked;
use super::session::AskedNotes;
use crate::conversation::Conversation;
use crate::dream::{Awake, Dream, DreamOptions, DreamOutcome};
use crate::error::{Error, ErrorCode};
use crate::extract::{AgentRole, ExtractOptions, Extraction, ExtractionOutcome, ExtractionState};
use crate::flow::{Flow, Host};
use crate::session::{NotesOptions, NotesOutcome, NotesResult, NotesSkip, NotesState};

/// How the turn is to be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AfterTurnOptions {
    /// Whose conversation it is; after a turn of another agent than the main one nothing is done.
    pub agent: AgentRole,
    /// Whether a person takes part in it.
    pub interactive: bool,
    /// Whether it runs on somebody else's machine.
    pub remote: bool,
    /// Which session it is: the one whose notes are kept, and whose transcript no dream looks at. Null for
    /// none, without notes.
    pub session: Option<String>,
    /// As [`ExtractOptions::request`].
    pub request: Option<String>,
    /// As [`ExtractOptions::read_roots`].
    pub read_roots: Vec<String>,
    /// As [`ExtractOptions::review`].
    pub review: bool,
    /// As [`NotesOptions::natural_break`].
    pub natural_break: bool,
    /// How far the extractions had come before a restart.
    pub extraction: Option<ExtractionState>,
    /// How far the notes had come before a restart.
    pub notes: Option<NotesState>,
}

impl Default for AfterTurnOptions {
    fn default() -> Self {
        Self {
            agent: AgentRole::Main,
            interactive: true,
            remote: false,
            session: None,
            request: None,
            read_roots: Vec::new(),
            review: false,
            natural_break: false,
            extraction: None,
            notes: None,
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AfterTurn {
    /// Of the extraction.
    pub extraction: Extraction,
    /// Of the notes; null without a session.
    pub notes: Option<NotesResult>,
    /// Of the dream.
    pub dream: Dream,
}

impl Store {
    /// Does what is to be done after a turn. `messages` are all of the conversation. What fails is told in its
    /// result and does not keep the others from their turn. When the store is closed meanwhile, the extraction comes
    /// to its end, and what has not begun by then is skipped (`closed`).
    ///
    /// All three are run with the store's model. An agent that makes extractions with a runner of its own
    /// ([`Store::begin_extraction`]) calls the three by themselves, in this order: its extraction,
    /// [`super::SessionNotes::update`], [`Store::dream`]; each has its own gates there too.
    ///
    /// The flow fails with `invalid-argument` for what are no messages and for an id of a session that is no
    /// single file name, and with `closed`.
    #[must_use]
    pub fn after_turn(
        &self,
        messages: &dyn Conversation,
        options: AfterTurnOptions,
    ) -> Flow<AfterTurn> {
        let asked = self.asked_after_turn(messages, options);
        self.flow(|store, host| async move { store.after_turn_in(&host, asked?).await })
    }

    fn asked_after_turn(
        &self,
        messages: &dyn Conversation,
        options: AfterTurnOptions,
    ) -> Result<AskedAfterTurn, Error> {
        let AfterTurnOptions {
            agent,
            interactive,
            remote,
            session,
            request,
            read_roots,
            review,
            natural_break,
            extraction,
            notes,
        } = options;
        let extract = ExtractOptions {
            agent,
            interactive,
            remote,
            session: session.clone().unwrap_or_default(),
            state: extraction,
            request: request.clone(),
            read_roots: read_roots.clone(),
            review,
        };
        let extraction = self.asked(messages, extract)?;
        let notes = match session.clone().filter(|_| agent == AgentRole::Main) {
            None => None,
            Some(session) => {
                let options = NotesOptions {
                    force: false,
                    natural_break,
                    request,
                    state: notes,
                };
                Some(self.session(session).asked(messages, options)?)
            }
        };
        let dream = (agent == AgentRole::Main).then(|| DreamOptions {
            session: session.clone(),
            remote,
            read_roots,
            ..DreamOptions::default()
        });
        Ok(AskedAfterTurn {
            session: session.unwrap_or_default(),
            extraction,
            notes,
            dream,
        })
    }

    async fn after_turn_in(&self, host: &Host, asked: AskedAfterTurn) -> Result<AfterTurn, Error> {
        let session = asked.session;
        let extraction = match self.extract_in(host, asked.extraction, false).await {
            Ok(extraction) => extraction,
            // Nothing was done yet.
            Err(error) if error.code == ErrorCode::Closed => return Err(error),
            Err(error) => {
                let (code, message) = told(host, error)?;
                let state = self.extraction_state(&session);
                Extraction {
                    code: Some(code),
                    message: Some(message),
                    ..Extraction::new(ExtractionOutcome::Failed, state)
                }
            }
        };
        let notes = match asked.notes {
            None => None,
            Some(asked) => {
                let notes = self.session(session);
                match notes.update_in(host, asked, false).await {
                    Ok(notes) => Some(notes),
                    Err(error) if error.code == ErrorCode::Closed => {
                        Some(NotesResult::skipped(NotesSkip::Closed, None, notes.state()))
                    }
                    Err(error) => {
                        let (code, message) = told(host, error)?;
                        Some(NotesResult {
                            code: Some(code),
                            message: Some(message),
                            ..NotesResult::new(NotesOutcome::Failed, None, notes.state())
                        })
                    }
                }
            }
        };
        let dream = match asked.dream {
            None => Dream::skipped(Awake::SubAgent),
            Some(options) => match self.dream_in(host, options, false).await {
                Ok(dream) => dream,
                Err(error) if error.code == ErrorCode::Closed => Dream::skipped(Awake::Closed),
                Err(error) => {
                    let (code, message) = told(host, error)?;
                    Dream {
                        code: Some(code),
                        message: Some(message),
                        ..Dream::new(DreamOutcome::Failed)
                    }
                }
            },
        };
        Ok(AfterTurn {
            extraction,
            notes,
            dream,
        })
    }
}

/// What is to be done.
struct AskedAfterTurn {
    /// Empty without one.
    session: String,
    extraction: Asked,
    notes: Option<AskedNotes>,
    /// None after a turn of another agent.
    dream: Option<DreamOptions>,
}

/// What a failure is in a result; what ends everything stays an error.
fn told(host: &Host, error: Error) -> Result<(ErrorCode, String), Error> {
    if error.code == ErrorCode::Protocol || host.cancelled() {
        return Err(error);
    }
    Ok((error.code, error.message))
}
