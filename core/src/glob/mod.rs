//! One glob, as git reads it: `*` and `?` stay in a name, `**` as a whole name crosses folders, brackets hold one
//! character of a class, a backslash takes the meaning from what follows. Characters count, not bytes.

mod braces;

use std::str::Chars;

pub(crate) use braces::Budget;

/// A glob that can be compared with paths.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Glob(Vec<Part>);

#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// Any number of folders.
    Folders,
    Name(Vec<Sign>),
}

#[derive(Debug, PartialEq, Eq)]
enum Sign {
    One(char),
    AnyOne,
    Any,
    Class { is_not: bool, members: Vec<Member> },
}

#[derive(Debug, PartialEq, Eq)]
enum Member {
    Range(char, char),
    Named(Class),
}

impl Glob {
    /// None for what is no glob: an open bracket, or a backslash at the end.
    pub fn new(pattern: &str) -> Option<Self> {
        let mut parts = Vec::new();
        for name in pattern.split('/') {
            parts.push(match name {
                "**" => Part::Folders,
                name => Part::Name(signs(name)?),
            });
        }
        // Everything inside a folder is not the folder itself.
        if let Some(Part::Folders) = parts.last() {
            parts.push(Part::Name(vec![Sign::Any]));
        }
        Some(Self(parts))
    }

    /// Whether the whole path fits.
    pub fn fits(&self, path: &str) -> bool {
        let names: Vec<Vec<char>> = path.split('/').map(|name| name.chars().collect()).collect();
        matches(
            &self.0,
            &names,
            |part| matches!(part, Part::Folders),
            |part, name| match part {
                Part::Folders => false,
                Part::Name(signs) => {
                    matches(signs, name, |sign| matches!(sign, Sign::Any), fits_one)
                }
            },
        )
    }
}

/// A glob with braces: all that it stands for.
#[derive(Debug)]
pub(crate) struct Globs(Vec<Glob>);

impl Globs {
    /// None for what is no glob, or stands for more than a rule may.
    pub fn new(pattern: &str) -> Option<Self> {
        let globs = Budget::new().expand(pattern)?;
        let globs = globs.iter().map(|glob| Glob::new(glob));
        Some(Self(globs.collect::<Option<Vec<Glob>>>()?))
    }

    /// Whether the whole path fits.
    pub fn fits(&self, path: &str) -> bool {
        self.0.iter().any(|glob| glob.fits(path))
    }
}

/// Whether items fit patterns one by one, where some patterns stand for any number of items. The last of those takes as
/// few as it can, and more as long as the rest does not fit, which is all that is ever needed.
fn matches<P, T>(
    patterns: &[P],
    items: &[T],
    is_any: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut item) = (0_usize, 0_usize);
    let mut back: Option<(usize, usize)> = None;
    loop {
        match (patterns.get(at), items.get(item)) {
            (Some(pattern), _) if is_any(pattern) => {
                back = Some((at, item));
                at = at.saturating_add(1);
            }
            (None, None) => return true,
            (Some(pattern), Some(next)) if fits(pattern, next) => {
                (at, item) = (at.saturating_add(1), item.saturating_add(1));
            }
            _ => match &mut back {
                Some((any, taken)) if *taken < items.len() => {
                    *taken = taken.saturating_add(1);
                    (at, item) = (any.saturating_add(1), *taken);
                }
                _ => return false,
            },
        }
    }
}

fn fits_one(sign: &Sign, c: &char) -> bool {
    match sign {
        Sign::One(one) => one == c,
        Sign::AnyOne => true,
        Sign::Any => false,
        Sign::Class { is_not, members } => {
            let is_member = members.iter().any(|member| match member {
                Member::Range(from, to) => (from..=to).contains(&c),
                Member::Named(class) => class.has(*c),
            });
            is_member != *is_not
        }
    }
}

fn signs(name: &str) -> Option<Vec<Sign>> {
    let mut signs = Vec::new();
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        signs.push(match c {
            '\\' => Sign::One(chars.next()?),
            '?' => Sign::AnyOne,
            '*' => Sign::Any,
            '[' => class(&mut chars)?,
            c => Sign::One(c),
        });
    }
    Some(signs)
}

/// What follows a start.
fn after<'a>(chars: &Chars<'a>, start: &str) -> Option<Chars<'a>> {
    chars.as_str().strip_prefix(start).map(str::chars)
}

/// What stands in brackets, behind the opening one.
fn class(chars: &mut Chars<'_>) -> Option<Sign> {
    let mut is_not = false;
    if let Some(rest) = after(chars, "!").or_else(|| after(chars, "^")) {
        (*chars, is_not) = (rest, true);
    }
    let mut members = Vec::new();
    loop {
        let c = chars.next()?;
        // As the first one it is a member.
        if c == ']' && !members.is_empty() {
            return Some(Sign::Class { is_not, members });
        }
        if let Some(rest) = after(chars, ":").filter(|_| c == '[')
            && let Some((name, rest)) = rest.as_str().split_once(":]")
        {
            members.push(Member::Named(Class::named(name)?));
            *chars = rest.chars();
            continue;
        }
        let from = if c == '\\' { chars.next()? } else { c };
        let mut to = from;
        if let Some(mut rest) = after(chars, "-")
            && !rest.as_str().starts_with(']')
        {
            to = rest.next()?;
            if to == '\\' {
                to = rest.next()?;
            }
            *chars = rest;
        }
        members.push(Member::Range(from, to));
    }
}

/// The classes that POSIX names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Alnum,
    Alpha,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Xdigit,
}

impl Class {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "alnum" => Self::Alnum,
            "alpha" => Self::Alpha,
            "blank" => Self::Blank,
            "cntrl" => Self::Cntrl,
            "digit" => Self::Digit,
            "graph" => Self::Graph,
            "lower" => Self::Lower,
            "print" => Self::Print,
            "punct" => Self::Punct,
            "space" => Self::Space,
            "upper" => Self::Upper,
            "xdigit" => Self::Xdigit,
            _ => return None,
        })
    }

    fn has(self, c: char) -> bool {
        match self {
            Self::Alnum => c.is_ascii_alphanumeric(),
            Self::Alpha => c.is_ascii_alphabetic(),
            Self::Blank => matches!(c, ' ' | '\t'),
            Self::Cntrl => c.is_ascii_control(),
            Self::Digit => c.is_ascii_digit(),
            Self::Graph => c.is_ascii_graphic(),
            Self::Lower => c.is_ascii_lowercase(),
            Self::Print => c == ' ' || c.is_ascii_graphic(),
            Self::Punct => c.is_ascii_punctuation(),
            Self::Space => c.is_ascii_whitespace(),
            Self::Upper => c.is_ascii_uppercase(),
            Self::Xdigit => c.is_ascii_hexdigit(),
        }
    }
}
