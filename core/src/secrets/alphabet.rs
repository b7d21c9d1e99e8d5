//! Which bytes a token is made of. Every byte belongs to one group, and an alphabet is a set of
//! groups: whether a byte belongs to it is one look into a table.

const LOWER_A_F: u32 = 1;
const LOWER_G_H: u32 = 1 << 1;
const LOWER_REST: u32 = 1 << 2;
const UPPER_B: u32 = 1 << 3;
const UPPER_A_F: u32 = 1 << 4; // without B
const UPPER_I_O: u32 = 1 << 5; // these two
const UPPER_REST: u32 = 1 << 6;
const ONE: u32 = 1 << 7;
const TWO_TO_SEVEN: u32 = 1 << 8;
const OTHER_DIGITS: u32 = 1 << 9;
const UNDERSCORE: u32 = 1 << 10;
const DASH: u32 = 1 << 11;
const DOT: u32 = 1 << 12;
const EQUALS: u32 = 1 << 13;
const PLUS: u32 = 1 << 14;
const SLASH: u32 = 1 << 15;
const TILDE: u32 = 1 << 16;
const PERCENT: u32 = 1 << 17;
const OF_A_PASSWORD: u32 = 1 << 18; // what else may stand in an address before its `@`

const DIGITS: u32 = ONE | TWO_TO_SEVEN | OTHER_DIGITS;
const LOWER: u32 = LOWER_A_F | LOWER_G_H | LOWER_REST;
const UPPER_HEX: u32 = UPPER_A_F | UPPER_B;
const UPPER: u32 = UPPER_HEX | UPPER_I_O | UPPER_REST;
const ALNUM: u32 = DIGITS | LOWER | UPPER;

const GROUPS: [u32; 256] = groups();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where it cannot fail"
)]
const fn groups() -> [u32; 256] {
    let mut groups = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        groups[byte] = match byte as u8 {
            b'a'..=b'f' => LOWER_A_F,
            b'g' | b'h' => LOWER_G_H,
            b'i'..=b'z' => LOWER_REST,
            b'B' => UPPER_B,
            b'A' | b'C'..=b'F' => UPPER_A_F,
            b'I' | b'O' => UPPER_I_O,
            b'G'..=b'Z' => UPPER_REST,
            b'1' => ONE,
            b'2'..=b'7' => TWO_TO_SEVEN,
            b'0' | b'8' | b'9' => OTHER_DIGITS,
            b'_' => UNDERSCORE,
            b'-' => DASH,
            b'.' => DOT,
            b'=' => EQUALS,
            b'+' => PLUS,
            b'/' => SLASH,
            b'~' => TILDE,
            b'%' => PERCENT,
            b'!' | b'$' | b'&' | b'*' | b',' | b';' | b'^' | b':' | b'(' | b')' | b'\'' => {
                OF_A_PASSWORD
            }
            _ => 0,
        };
        byte += 1;
    }
    groups
}

fn belongs(byte: u8, groups: u32) -> bool {
    GROUPS
        .get(usize::from(byte))
        .is_some_and(|group| group & groups != 0)
}

/// What the body of a token, or a part of it, consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alphabet {
    Digits,
    /// Lower case only.
    Hex,
    AnyHex,
    AToH,
    Letters,
    Alnum,
    LowerAlnum,
    UpperAlnum,
    Base32,
    Bech32,
    /// Letters, digits and `_`.
    Word,
    AlnumDash,
    Base64,
    Base64Url,
    /// Both spellings of base64 at once.
    AnyBase64,
    /// That of URLs with its padding.
    PaddedUrl,
    /// The same and `.`.
    Dotted,
    AzureHead,
    AzureTail,
    Cookie,
    Password,
}

/// How many alphabets there are.
pub(crate) const ALPHABETS: usize = Alphabet::Password as usize + 1;

impl Alphabet {
    const fn groups(self) -> u32 {
        match self {
            Self::Digits => DIGITS,
            Self::Hex => DIGITS | LOWER_A_F,
            Self::AnyHex => DIGITS | LOWER_A_F | UPPER_HEX,
            Self::AToH => DIGITS | LOWER_A_F | LOWER_G_H,
            Self::Letters => LOWER | UPPER,
            Self::Alnum => ALNUM,
            Self::LowerAlnum => DIGITS | LOWER,
            Self::UpperAlnum => DIGITS | UPPER,
            Self::Base32 => TWO_TO_SEVEN | UPPER,
            Self::Bech32 => TWO_TO_SEVEN | OTHER_DIGITS | UPPER_A_F | UPPER_REST,
            Self::Word => ALNUM | UNDERSCORE,
            Self::AlnumDash => ALNUM | DASH,
            Self::Base64 => ALNUM | PLUS | SLASH,
            Self::Base64Url => ALNUM | UNDERSCORE | DASH,
            Self::AnyBase64 => ALNUM | PLUS | SLASH | UNDERSCORE | DASH,
            Self::PaddedUrl => ALNUM | UNDERSCORE | DASH | EQUALS,
            Self::Dotted => ALNUM | UNDERSCORE | DASH | EQUALS | DOT,
            Self::AzureHead => ALNUM | UNDERSCORE | TILDE | DOT,
            Self::AzureTail => ALNUM | UNDERSCORE | TILDE | DOT | DASH,
            Self::Cookie => ALNUM | UNDERSCORE | DASH | EQUALS | PLUS | SLASH | PERCENT,
            Self::Password => {
                ALNUM | UNDERSCORE | DASH | EQUALS | PLUS | TILDE | DOT | PERCENT | OF_A_PASSWORD
            }
        }
    }

    /// Whether the byte belongs to it.
    pub(crate) fn has(self, byte: u8) -> bool {
        belongs(byte, self.groups())
    }
}

/// Whether it is an ASCII letter or digit.
pub(crate) fn is_alnum(byte: u8) -> bool {
    belongs(byte, ALNUM)
}

/// Whether it belongs to a word. Only ASCII does: right after a Chinese character a token begins.
pub(crate) fn is_word(byte: u8) -> bool {
    belongs(byte, ALNUM | UNDERSCORE)
}
