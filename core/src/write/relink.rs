//! How the lines of a memory come back into the indexes that they were cut out of, beside what others have
//! written there since.

use super::commit::{Change, Current, End, Look, commit, look};
use super::index::{IndexEntry, entry_lines, generated, has_line, is_linked, put_back};
use super::lock::Lock;
use super::result::hash;
use super::target::{FOLDERS, index_path};
use super::trash::{IndexCut, IndexLine};
use crate::error::Error;
use crate::flow::Host;
use crate::limits::WRITE_ATTEMPTS;
use crate::report::{ReportCode, ReportEntry};

/// An index with lines that were cut out of it, but for those that it has again. When it has the line that
/// a save writes for the memory as it is now, that one came in place of the first; and such a line is not
/// missed where there is another.
pub(super) fn with_lines(
    text: &str,
    folder: &str,
    path: &str,
    memory: Option<&Current>,
    lines: &[IndexLine],
) -> String {
    let entry = memory.map(|memory| IndexEntry::of(&memory.text, path));
    let is_ours = |line: &str| {
        let ours = entry.as_ref().map(|entry| generated(folder, path, entry));
        ours.as_deref() == Some(line)
    };
    let first = entry_lines(text, folder, path).into_iter().next();
    let is_anew = first.is_some_and(|(_, line)| is_ours(&line));
    let linked = is_linked(text, folder, path);
    let lines = lines.iter().skip(usize::from(is_anew));
    let missing = lines.filter(|cut| !(has_line(text, &cut.line) || linked && is_ours(&cut.line)));
    missing.fold(text.to_owned(), |text, IndexLine { before, line }| {
        put_back(&text, before.as_deref(), line)
    })
}

/// Puts back what was cut out of the indexes with a memory: the whole index where it is as it was left,
/// else the lines, each after the one before it. None when the lock was lost. The memory is there by then:
/// what cannot be done is reported.
pub(super) async fn relink(
    host: &Host,
    lock: &Lock<'_>,
    path: &str,
    cuts: &[IndexCut],
    now_ms: i64,
    report: &mut Vec<ReportEntry>,
) -> Result<Option<bool>, Error> {
    let place = lock.found().place();
    let mut done = false;
    for cut in cuts
        .iter()
        .filter(|cut| FOLDERS.contains(&cut.folder.as_str()))
    {
        let index = index_path(&cut.folder);
        let mut note = |code, message: String| report.push(ReportEntry::new(index, code, message));
        for attempt in 0.. {
            let old = match look(host, &place, index).await? {
                Look::Absent => None,
                Look::File(current) => Some(current),
                Look::Refused(error) | Look::NoText(_, error) => {
                    note(ReportCode::Unreadable, error.message);
                    break;
                }
            };
            let text = old.as_ref().map_or("", |old| old.text.as_str());
            let new = if hash(text.as_bytes()) == cut.after {
                cut.text.clone()
            } else {
                let memory = look(host, &place, path).await?;
                let memory = match &memory {
                    Look::File(current) => Some(current),
                    _ => None,
                };
                with_lines(text, &cut.folder, path, memory, &cut.lines)
            };
            if new == text {
                if is_linked(text, &cut.folder, path) {
                    break;
                }
                note(
                    ReportCode::NotIndexed,
                    format!(
                        "{path} is there, but the index has changed too much to link to it again"
                    ),
                );
                break;
            }
            let change = Change {
                path: index.to_owned(),
                old,
                new,
                keep: false,
            };
            let end = commit(host, lock, &place, &[change], now_ms).await?.end?;
            match end {
                End::Done => {
                    done = true;
                    break;
                }
                End::Lost => return Ok(None),
                End::Changed if attempt >= WRITE_ATTEMPTS => {
                    note(
                        ReportCode::NotIndexed,
                        format!(
                            "{path} is there, but not its line: another program keeps writing the index"
                        ),
                    );
                    break;
                }
                End::Changed => {}
            }
        }
    }
    Ok(Some(done))
}
