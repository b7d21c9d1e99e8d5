//! What a rule is: data, which `matcher` understands.

use crate::secrets::alphabet::Alphabet;

/// One kind of token. Kinds with more than one shape have a rule for each, with the same id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// In findings and in what replaces a token.
    pub(crate) id: &'static str,
    /// For people.
    pub(crate) label: &'static str,
    /// What it is found by: one of these stands in every token.
    pub(crate) keys: &'static [&'static str],
    /// How many bytes of the token stand before that.
    pub(crate) before: u8,
    /// Whether upper and lower case of the key are the same.
    pub(crate) any_case: bool,
    /// Whether the key only leads to the token and is no part of it.
    pub(crate) leads: bool,
    /// What must stand before the token.
    pub(crate) edge: Edge,
    /// Tenths of a bit per character that a token must be above (Shannon). These floors are for
    /// placeholders: of 20,000 random tokens not one in five thousand is lost to them.
    pub(crate) floor: u8,
    /// What must follow the key.
    pub(crate) shape: Shape,
}

/// What must stand before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// No ASCII letter, digit or `_`.
    Word,
    /// Anything.
    Open,
}

/// What a token consists of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// These parts, from the key on; from the beginning of the token when the key stands inside.
    Parts(&'static [Part]),
    /// A block with a header and a footer.
    PrivateKey,
    /// Base64 that holds a JSON Web Token, over line ends if need be.
    WrappedJwt,
    /// The password in an address.
    UrlPassword,
}

/// A part of a token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// At least so many characters of an alphabet, and at most so many.
    Run(Alphabet, u16, u16),
    /// Exactly this.
    Text(&'static str),
    /// Up to so many `=`.
    Padding(u8),
    /// A run with one of these markers inside.
    Marked(&'static Marked),
}

/// A run of an alphabet with a marker inside: the bounds are for what stands before and after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marked {
    pub(crate) alphabet: Alphabet,
    pub(crate) markers: &'static [&'static str],
    pub(crate) before: (usize, usize),
    pub(crate) after: (usize, usize),
}

/// No upper bound.
pub(crate) const OPEN: u16 = u16::MAX;

/// A rule as most are: the key begins the token.
pub(crate) const fn rule(
    id: &'static str,
    label: &'static str,
    keys: &'static [&'static str],
    parts: &'static [Part],
    floor: u8,
) -> Rule {
    Rule {
        id,
        label,
        keys,
        before: 0,
        any_case: false,
        leads: false,
        edge: Edge::Word,
        floor,
        shape: Shape::Parts(parts),
    }
}

impl Rule {
    pub(crate) const fn before(self, before: u8) -> Self {
        Self { before, ..self }
    }

    pub(crate) const fn any_case(self) -> Self {
        Self {
            any_case: true,
            ..self
        }
    }

    pub(crate) const fn leads(self) -> Self {
        Self {
            leads: true,
            ..self
        }
    }

    pub(crate) const fn edge(self, edge: Edge) -> Self {
        Self { edge, ..self }
    }

    pub(crate) const fn shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }
}

/// Exactly so many characters.
pub(crate) const fn n(alphabet: Alphabet, count: u16) -> Part {
    Part::Run(alphabet, count, count)
}

/// Exactly this text.
pub(crate) const fn t(text: &'static str) -> Part {
    Part::Text(text)
}
