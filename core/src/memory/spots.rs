//! Where the values of known keys stand in a YAML block, for those who change one of them and leave
//! every other byte alone.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// One known key of a block with its value.
pub(crate) struct Spot {
    /// Whether it stands below `metadata:`.
    pub nested: bool,
    pub key: String,
    /// Bytes of the key.
    pub name: Range<usize>,
    /// Bytes of the value, from its first character or the `|` of a block to its last; from the colon
    /// when it begins on a later line. Empty, after the colon, when nothing is written there.
    pub value: Range<usize>,
    /// Whether an alias elsewhere refers to it, so that it cannot be changed alone.
    pub shared: bool,
}

/// A block as somebody sees it who wants to change some of its keys.
pub(crate) struct Survey<'a> {
    pub spots: Vec<Spot>,
    /// Everything that does not belong to a known key, in order.
    pub rest: Vec<Event<'a>>,
}

/// Whether a key is one that memdir writes.
fn is_known(nested: bool, key: &str) -> bool {
    matches!(key, "type" | "modified") || (!nested && matches!(key, "name" | "description"))
}

/// Surveys a block; none when it is no YAML map or when a collection is a key.
pub(crate) fn survey(block: &str) -> Option<Survey<'_>> {
    let mut nodes = Nodes {
        events: Vec::new(),
        offsets: block.char_indices().map(|(at, _)| at).collect(),
    };
    nodes.offsets.push(block.len());
    for event in Parser::new_from_str(block) {
        let (event, span) = event.ok()?;
        let outside = matches!(
            event,
            Event::Nothing
                | Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(_)
                | Event::DocumentEnd
        );
        if !outside {
            let place = span.start.index()..span.end.index();
            nodes.events.push((event, place));
        }
    }
    let mut survey = Survey {
        spots: Vec::new(),
        rest: Vec::new(),
    };
    match nodes.events.first() {
        None => {}
        Some((Event::Scalar(text, ..), _)) if super::yaml::is_null(text) => {}
        Some((Event::MappingStart(..), _)) => {
            let end = nodes.map(0, false, block, &mut survey)?;
            // A second document.
            if end < nodes.events.len() {
                return None;
            }
        }
        Some(_) => return None,
    }
    Some(survey)
}

/// The nodes of a block in the order of its text, and where its characters begin.
struct Nodes<'a> {
    events: Vec<(Event<'a>, Range<usize>)>,
    offsets: Vec<usize>,
}

impl<'a> Nodes<'a> {
    /// Goes through the map that begins at `at`; gives what follows it.
    fn map(&self, at: usize, nested: bool, block: &str, survey: &mut Survey<'a>) -> Option<usize> {
        let mut at = at.saturating_add(1);
        loop {
            let (event, name) = self.events.get(at)?;
            let key = match event {
                Event::MappingEnd => return Some(at.saturating_add(1)),
                Event::Scalar(text, ..) => text,
                _ => return None,
            };
            let value = at.saturating_add(1);
            let end = self.end(value)?;
            let (first, _) = self.events.get(value)?;
            if is_known(nested, key) {
                let inside = self.events.get(value..end)?;
                let name = self.bytes(name)?;
                survey.spots.push(Spot {
                    nested,
                    key: key.clone().into_owned(),
                    value: self.written(block, &name, inside)?,
                    name,
                    shared: inside.iter().any(|(event, _)| self.is_referred_to(event)),
                });
                at = end;
            } else if !nested && key == "metadata" && matches!(first, Event::MappingStart(..)) {
                survey.rest.extend([event.clone(), first.clone()]);
                at = self.map(value, true, block, survey)?;
                survey.rest.push(Event::MappingEnd);
            } else {
                let passed = self.events.get(at..end)?;
                survey
                    .rest
                    .extend(passed.iter().map(|(event, _)| event.clone()));
                at = end;
            }
        }
    }

    /// What follows the node at `at`.
    fn end(&self, at: usize) -> Option<usize> {
        let mut depth: usize = 0;
        for (number, (event, _)) in self.events.iter().enumerate().skip(at) {
            match event {
                Event::MappingStart(..) | Event::SequenceStart(..) => {
                    depth = depth.saturating_add(1);
                }
                Event::MappingEnd | Event::SequenceEnd => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(number.saturating_add(1));
            }
        }
        None
    }

    fn is_referred_to(&self, event: &Event<'_>) -> bool {
        let refers = |(other, _): &(Event<'_>, _)| matches!(other, Event::Alias(to) if Some(*to) == anchor(event));
        anchor(event).is_some() && self.events.iter().any(refers)
    }

    /// What stands for a value in the text.
    fn written(
        &self,
        block: &str,
        name: &Range<usize>,
        inside: &[(Event<'a>, Range<usize>)],
    ) -> Option<Range<usize>> {
        let colon = block.get(name.end..)?.find(':')?;
        let after = name.end.checked_add(colon)?.checked_add(1)?;
        let mut last = None;
        for (event, place) in inside.iter().rev() {
            let place = self.bytes(place)?;
            last = end_of(block, event, &place);
            if last.is_some() {
                break;
            }
        }
        let Some(end) = last.filter(|end| *end > after) else {
            return Some(after..after);
        };
        let rest = block.get(after..end)?;
        let start = rest.trim_start_matches([' ', '\t']);
        let later = start.starts_with(['#', '\r', '\n']);
        let start = if later {
            after
        } else {
            end.checked_sub(start.len())?
        };
        Some(start..end)
    }

    fn bytes(&self, characters: &Range<usize>) -> Option<Range<usize>> {
        let start = *self.offsets.get(characters.start)?;
        Some(start..*self.offsets.get(characters.end)?.max(&start))
    }
}

/// Where a node ends, if it is one that has an end of its own; the parser counts comments and
/// empty lines that follow.
fn end_of(block: &str, event: &Event<'_>, place: &Range<usize>) -> Option<usize> {
    let text = block.get(place.clone())?;
    let length = match event {
        Event::MappingEnd | Event::SequenceEnd => usize::from(text.starts_with([']', '}'])),
        Event::Scalar(_, ScalarStyle::DoubleQuoted, ..) => quoted_end(text, '"')?,
        Event::Scalar(_, ScalarStyle::SingleQuoted, ..) => quoted_end(text, '\'')?,
        Event::Scalar(..) | Event::Alias(_) => text.trim_end().len(),
        _ => 0,
    };
    (length > 0).then(|| place.start.saturating_add(length))
}

/// Where the closing quote ends.
fn quoted_end(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices();
    characters.find(|(_, c)| *c == quote)?;
    let mut characters = characters.peekable();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' if quote == '"' => {
                characters.next();
            }
            c if c == quote => {
                let doubled = quote == '\'' && characters.peek().is_some_and(|(_, c)| *c == quote);
                if !doubled {
                    return Some(at.saturating_add(1));
                }
                characters.next();
            }
            _ => {}
        }
    }
    None
}

fn anchor(event: &Event<'_>) -> Option<usize> {
    match event {
        Event::Scalar(_, _, anchor, _)
        | Event::SequenceStart(anchor, _)
        | Event::MappingStart(anchor, _) => (*anchor > 0).then_some(*anchor),
        _ => None,
    }
}
