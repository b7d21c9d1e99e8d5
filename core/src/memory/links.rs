//! Links from an index to memories, read the way Markdown writes them.

use crate::text::percent_decoded;

/// An inline link of a line: `[text](target)`, `[text](<target>)`, either with a title.
pub(crate) struct Link<'a> {
    /// Where `](` stands.
    pub at: usize,
    pub target: &'a str,
    /// What follows the link.
    pub end: usize,
}

/// The inline links of a line.
pub(crate) fn links(line: &str) -> impl Iterator<Item = Link<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = line.get(from..)?.find("](")?.checked_add(from)?;
            let inside = at.checked_add(2)?;
            from = inside;
            let rest = line.get(inside..)?;
            if let Some((target, length)) = target(rest) {
                let end = inside.checked_add(length)?;
                from = end;
                return Some(Link { at, target, end });
            }
        }
    })
}

/// The target that a link begins with, and how much of the text the link takes.
fn target(text: &str) -> Option<(&str, usize)> {
    let rest = text.trim_start_matches([' ', '\t']);
    let (target, after) = match rest.strip_prefix('<') {
        Some(rest) => rest.split_once('>')?,
        None => {
            let mut depth: usize = 0;
            let end = rest.find(|c: char| {
                match c {
                    '(' => depth = depth.saturating_add(1),
                    ')' if depth > 0 => depth = depth.saturating_sub(1),
                    ')' | ' ' | '\t' => return true,
                    _ => {}
                }
                false
            })?;
            rest.split_at_checked(end)?
        }
    };
    let after = after.trim_start_matches([' ', '\t']);
    let title = after.chars().next().filter(|c| matches!(c, '"' | '\''));
    let after = match title {
        Some(quote) => after.get(1..)?.split_once(quote)?.1,
        None => after,
    };
    let after = after.trim_start_matches([' ', '\t']).strip_prefix(')')?;
    Some((target, text.len().checked_sub(after.len())?))
}

/// The memory that a link target names, relative to the store; none for other links and for
/// targets outside the store, which are no memories.
pub(crate) fn memory_of(folder: &str, target: &str) -> Option<String> {
    let target = target.split_once('#').map_or(target, |(path, _)| path);
    let scheme = target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    });
    let target = percent_decoded(target);
    if scheme || target.starts_with('/') || !target.ends_with(".md") {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let mut outside: usize = 0;
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    outside = outside.saturating_add(1);
                }
            }
            part => parts.push(part),
        }
    }
    Some("../".repeat(outside) + &parts.join("/"))
}
