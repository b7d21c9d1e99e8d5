//! One function per effect, as in every host.

use memdir_core::flow::FailureCode as Code;
use memdir_core::flow::{Bytes, Clock, Effect, Failure, Head, HostInfo, Listing, Outcome, Stream};
use memdir_core::limits::{READ_MANY_BYTES, READ_MANY_FILES};
use memdir_core::paths::Platform;

use crate::failures::{Answer, fail};
use crate::network::Exchange;
use crate::{HOST_ID, SimHost};

impl SimHost {
    /// Does what an effect asks; nothing is answered to `emit`.
    pub(crate) fn perform(&mut self, effect: &Effect) -> Option<Outcome> {
        if let Some(script) = &mut self.script
            && let Some(outcome) = script(effect, &mut self.tree)
        {
            return Some(outcome);
        }
        let outcome = match effect {
            Effect::Emit { event } => {
                self.events.push(event.clone());
                return None;
            }
            other => self.answer(other),
        };
        Some(outcome.unwrap_or_else(Outcome::Failed))
    }

    fn answer(&mut self, effect: &Effect) -> Answer<Outcome> {
        let now = self.clock_ms;
        let tree = &mut self.tree;
        Ok(match effect {
            Effect::List { path, within } => {
                let path = tree.within(path.as_bytes(), within.as_deref())?;
                let mut entries = tree.list(&path)?;
                self.random.shuffle(&mut entries);
                Outcome::Listing(Listing {
                    entries,
                    incomplete: false,
                })
            }
            Effect::Read {
                path,
                within,
                offset,
                length,
            } => Outcome::Content(Bytes(self.read(
                path,
                within.as_deref(),
                *offset,
                *length,
            )?)),
            Effect::ReadMany {
                paths,
                within,
                length,
            } => Outcome::Heads(self.read_many(paths, within.as_deref(), *length)?),
            Effect::Stat { path } => Outcome::Stat(tree.find(path.as_bytes(), true)?.1.stat()),
            Effect::Lstat { path } => Outcome::Stat(tree.find(path.as_bytes(), false)?.1.stat()),
            Effect::ReadLink { path } => match &tree.find(path.as_bytes(), false)?.1.body {
                crate::Body::Link(target) => Outcome::Text(text(target.clone())?),
                _ => return fail(Code::Other),
            },
            Effect::RealPath { path } => {
                let (at, _) = tree.find(path.as_bytes(), true)?;
                Outcome::Text(if at.is_empty() {
                    "/".to_owned()
                } else {
                    text(at)?
                })
            }
            Effect::Write {
                path,
                within,
                content,
                via,
                mode,
                sync: _,
            } => {
                let place = |path: &str| tree.place(path.as_bytes(), within.as_deref());
                let (path, via) = (place(path)?, via.as_deref().map(place).transpose()?);
                tree.write(&path, content.as_bytes(), via.as_deref(), *mode, now)?;
                Outcome::Done
            }
            Effect::Append {
                path,
                content,
                mode,
            } => {
                tree.append(path.as_bytes(), content.as_bytes(), *mode, now)?;
                Outcome::Done
            }
            Effect::MakeDir { path, within, mode } => {
                let path = tree.within(path.as_bytes(), within.as_deref())?;
                tree.make_dir(&path, *mode, now)?;
                Outcome::Done
            }
            Effect::Remove { path, within } => {
                let path = tree.place(path.as_bytes(), within.as_deref())?;
                tree.remove(&path, now)?;
                Outcome::Done
            }
            Effect::Rename {
                from,
                to,
                within,
                replace,
                sync: _,
            } => {
                let place = |path: &str| tree.place(path.as_bytes(), within.as_deref());
                let (from, to) = (place(from)?, place(to)?);
                tree.rename(&from, &to, *replace, now)?;
                Outcome::Done
            }
            Effect::Link { from, to, within } => {
                let place = |path: &str| tree.place(path.as_bytes(), within.as_deref());
                let (from, to) = (place(from)?, place(to)?);
                tree.add_name(&from, &to, now)?;
                Outcome::Done
            }
            Effect::SetMtime { path, mtime_ms } => {
                tree.set_mtime(path.as_bytes(), *mtime_ms, now)?;
                Outcome::Done
            }
            Effect::ProcessAlive { pid } => Outcome::Alive(self.processes.contains(pid)),
            Effect::Http {
                method,
                url,
                headers,
                body,
                timeout_ms,
                max_bytes,
            } => {
                let request = Exchange {
                    method: method.clone(),
                    url: url.clone(),
                    headers: headers.clone(),
                    body: body.clone(),
                };
                let Some(network) = &mut self.network else {
                    return fail(Code::Unsupported);
                };
                let (answer, took) =
                    network.exchange(&request, *timeout_ms, *max_bytes, &mut self.random);
                self.pass(took);
                Outcome::Http(answer?)
            }
            Effect::Model {
                request,
                timeout_ms,
            } => {
                let Some(model) = &mut self.model else {
                    return fail(Code::Unsupported);
                };
                let (answer, took) = model(request).within(*timeout_ms);
                self.pass(took);
                Outcome::Text(answer?)
            }
            Effect::Token { timeout_ms } => {
                let Some(token) = &mut self.token else {
                    return fail(Code::Unsupported);
                };
                let (answer, took) = token().within(*timeout_ms);
                self.pass(took);
                Outcome::Text(answer?)
            }
            Effect::Approve {
                path,
                parent,
                timeout_ms,
            } => {
                let Some(approve) = &mut self.approve else {
                    return fail(Code::Unsupported);
                };
                let (answer, took) = approve(path, parent).within(*timeout_ms);
                self.pass(took);
                Outcome::Approved(answer?)
            }
            Effect::Run { .. } | Effect::Watch { .. } | Effect::OpenEditor { .. } => {
                return fail(Code::Unsupported);
            }
            Effect::Now => Outcome::Now(Clock {
                ms: now,
                offset_minutes: self.offset_minutes,
            }),
            Effect::Sleep { ms } => {
                self.pass(ms.saturating_add(self.oversleep_ms));
                Outcome::Done
            }
            Effect::Random { length } => {
                let length = usize::try_from(*length).unwrap_or_default();
                Outcome::Content(Bytes(self.random.bytes(length)))
            }
            Effect::Print { stream, text } => {
                match stream {
                    Stream::Stdout => self.stdout.push_str(text),
                    Stream::Stderr => self.stderr.push_str(text),
                }
                Outcome::Done
            }
            Effect::ReadStdin { max_bytes, .. } if self.stdin.len() as u64 > *max_bytes => {
                return fail(Code::TooLarge);
            }
            Effect::ReadStdin { line: true, .. } => {
                let mut rest = std::mem::take(&mut self.stdin);
                let end = rest.iter().position(|byte| *byte == b'\n');
                self.stdin = rest.split_off(end.map_or(rest.len(), |end| end.saturating_add(1)));
                rest.truncate(end.unwrap_or(rest.len()));
                Outcome::Content(Bytes(rest))
            }
            Effect::ReadStdin { .. } => Outcome::Content(Bytes(std::mem::take(&mut self.stdin))),
            Effect::HostInfo => Outcome::HostInfo(HostInfo {
                host_id: HOST_ID.to_owned(),
                pid: self.pid,
                platform: Platform::Posix,
            }),
            Effect::Emit { .. } => return fail(Code::Unsupported),
        })
    }

    /// Half of what a write would leave behind.
    pub(crate) fn tear(&mut self, effect: &Effect) {
        if let Effect::Write {
            path,
            within,
            content,
            via,
            mode,
            sync: _,
        } = effect
        {
            let (bytes, now) = (content.as_bytes(), self.clock_ms);
            let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
            let path = via.as_ref().unwrap_or(path).as_bytes();
            // One that cannot be made leaves nothing.
            if let Ok(path) = self.tree.place(path, within.as_deref()) {
                let _ = self.tree.write(&path, half, None, *mode, now);
            }
        }
    }

    fn read(
        &mut self,
        path: &str,
        within: Option<&str>,
        offset: u64,
        length: u64,
    ) -> Answer<Vec<u8>> {
        let found = self.tree.within(path.as_bytes(), within)?;
        let bytes = self.tree.read(&found, offset, length)?;
        let end = offset.saturating_add(bytes.len() as u64);
        let furthest = self.reads.entry(path.to_owned()).or_default();
        *furthest = end.max(*furthest);
        Ok(bytes)
    }

    /// Refuses what no flow may ask for, so that a test sees it.
    fn read_many(
        &mut self,
        paths: &[String],
        within: Option<&str>,
        length: u64,
    ) -> Answer<Vec<Head>> {
        let bytes = length.saturating_mul(paths.len() as u64);
        if paths.len() > READ_MANY_FILES || bytes > READ_MANY_BYTES as u64 {
            return Err(Failure::new(
                Code::TooLarge,
                "one read-many asks for too much",
            ));
        }
        if let Some(within) = within {
            self.tree.find(within.as_bytes(), true)?;
        }
        Ok(paths
            .iter()
            .map(|path| match self.read(path, within, 0, length) {
                Ok(bytes) => Head::Content(Bytes(bytes)),
                Err(failure) => Head::Failed(failure),
            })
            .collect())
    }

    fn pass(&mut self, ms: u64) {
        self.clock_ms = self.clock_ms.saturating_add_unsigned(ms);
    }
}

fn text(bytes: Vec<u8>) -> Answer<String> {
    String::from_utf8(bytes).or_else(|_| fail(Code::InvalidName))
}
