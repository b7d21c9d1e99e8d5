//! Tokens for tests, put together when a test runs: none stands in any file.

/// A small generator: the same tokens in every run.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    pub fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length)
            .map(|_| letters[self.below(letters.len())])
            .collect()
    }
}

pub const DIGITS: &str = "0123456789";
pub const HEX: &str = "0123456789abcdef";
pub const ANY_HEX: &str = "0123456789abcdefABCDEF";
pub const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub const ALNUM: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
pub const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
pub const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
pub const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub const BECH32: &str = "ACDEFGHJKLMNPQRSTUVWXYZ023456789";
pub const A_TO_H: &str = "abcdefgh0123456789";
pub const WORD: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
pub const BASE64: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";
pub const URL: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
pub const ALNUM_DASH: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
pub const PADDED: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=";
pub const DOTTED: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.";
pub const AZURE: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~.";
pub const AZURE_HEAD: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_~";
pub const COOKIE: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+/%";

/// A part of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// As it is.
    Is(&'static str),
    /// One of these.
    Of(&'static [&'static str]),
    /// Letters of an alphabet, from so many to so many.
    Run(&'static str, usize, usize),
}

/// A kind of token.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub id: &'static str,
    pub pieces: &'static [Piece],
    /// Whether its case does not matter.
    pub any_case: bool,
    /// Whether something longer is a token, too, or another kind.
    pub open: bool,
}

impl Kind {
    /// A token: the shortest, the longest, or one between.
    pub fn token(&self, random: &mut Random, size: Size) -> String {
        let mut token = String::new();
        for piece in self.pieces {
            match *piece {
                Piece::Is(text) => token.push_str(text),
                Piece::Of(texts) => token.push_str(texts[random.below(texts.len())]),
                Piece::Run(alphabet, least, most) => {
                    let length = match size {
                        Size::Least => least,
                        Size::Most => most,
                        Size::Any => least + random.below(most - least + 1),
                    };
                    token.push_str(&body(random, alphabet, length));
                }
            }
        }
        token
    }

    /// What it begins with.
    pub fn prefix(&self) -> Option<&'static str> {
        match self.pieces.first()? {
            Piece::Is(text) => Some(text),
            Piece::Of(texts) => texts.first().copied(),
            Piece::Run(..) => None,
        }
    }

    /// What its last part consists of; a token with a fixed end goes on with nothing.
    pub fn last_alphabet(&self) -> &'static str {
        let mut alphabet = "";
        for piece in self.pieces {
            if let Piece::Run(of, ..) = piece {
                alphabet = of;
            }
        }
        alphabet
    }

    /// Whether this after a token makes it another one, or belongs to it.
    pub fn may_go_on_with(&self, after: &str) -> bool {
        match self.id {
            // Padding, and looser alphabets.
            "jwt"
            | "grafana-api-key"
            | "grafana-cloud-api-token"
            | "1password-service-account-token"
            | "aws-bedrock-api-key-long-lived"
            | "aws-bedrock-api-key-short-lived"
            | "flyio-access-token" => after == "=",
            "slack-bot-token" => after == "-x",
            "sendgrid-api-token" => after == "=",
            "github-fine-grained-pat" => after == "_x",
            _ => false,
        }
    }

    /// The same with one letter for all letters.
    pub fn placeholder(&self, letter: char) -> String {
        let mut token = String::new();
        for piece in self.pieces {
            match *piece {
                Piece::Is(text) => token.push_str(text),
                Piece::Of(texts) => token.push_str(texts[0]),
                Piece::Run(alphabet, least, _) => {
                    let letter = if alphabet.contains(letter) {
                        letter
                    } else {
                        alphabet.chars().next().unwrap()
                    };
                    token.extend(std::iter::repeat_n(letter, least));
                }
            }
        }
        token
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Least,
    Any,
    Most,
}

/// Letters that no placeholder is made of: some of each kind that the alphabet has, and neither a
/// dot nor a joint at the ends, nor two dashes, which may end a token.
pub fn body(random: &mut Random, alphabet: &str, length: usize) -> String {
    let classes: [fn(char) -> bool; 3] = [
        |c| c.is_ascii_digit(),
        |c| c.is_ascii_uppercase(),
        |c| c.is_ascii_lowercase(),
    ];
    loop {
        let text = random.text(alphabet, length).replace("--", "-7");
        let has_all = length < 8
            || classes
                .iter()
                .all(|class| !alphabet.chars().any(class) || text.chars().any(class));
        let is_solid = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
        if has_all && is_solid(text.chars().next()) && is_solid(text.chars().last()) {
            return text;
        }
    }
}
