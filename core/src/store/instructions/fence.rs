//! What a project may bring in from outside of its working tree: nothing that nobody has approved.

use std::collections::HashMap;

use super::files::Refusal;
use crate::error::Error;
use crate::flow::{FailureCode, Host};
use crate::limits::APPROVE_MS;
use crate::paths::Platform;
use crate::report::ReportCode;
use crate::text::quoted;

/// Where a project's instructions may come from. Every path has its links resolved.
#[derive(Debug)]
pub(super) struct Fence {
    pub platform: Platform,
    /// The working tree, and additional folders.
    pub roots: Vec<String>,
    /// Files and folders outside that the caller has approved.
    pub approved: Vec<String>,
    /// What a person has said about others.
    pub approvals: HashMap<String, bool>,
}

impl Fence {
    /// Why a file or a folder is not looked at: it lies outside, and nobody has approved it. `how` it comes in, from
    /// `parent`.
    pub async fn refusal(
        &mut self,
        host: &Host,
        real: &str,
        parent: &str,
        how: &str,
    ) -> Result<Option<Refusal>, Error> {
        let lies_in = |folder: &String| self.platform.below(real, folder).is_some();
        let said_yes = self.approvals.iter().filter(|(_, yes)| **yes);
        let mut inside = self.roots.iter().chain(&self.approved);
        if inside.any(lies_in) || said_yes.map(|(folder, _)| folder).any(lies_in) {
            return Ok(None);
        }
        let approved = match self.approvals.get(real) {
            Some(approved) => *approved,
            None => {
                let approved = host.approve(real, parent, APPROVE_MS).await;
                host.stop_if_cancelled()?;
                match approved {
                    Ok(approved) => {
                        self.approvals.insert(real.to_owned(), approved);
                        approved
                    }
                    // Nobody to ask; whoever comes later is asked.
                    Err(failure) if failure.code == FailureCode::Unsupported => false,
                    Err(failure) => {
                        let message = format!(
                            "whether it may be loaded could not be asked: {}",
                            failure.message
                        );
                        return Ok(Some((ReportCode::NeedsApproval, message)));
                    }
                }
            }
        };
        let message = format!(
            "it {how} to {}, outside of the working tree; approve that to load it",
            quoted(real)
        );
        Ok((!approved).then_some((ReportCode::NeedsApproval, message)))
    }
}
