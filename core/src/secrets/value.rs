//! Values that have the shape of a token and are none: placeholders and published samples.

use sha2::{Digest, Sha256};

/// Bytes of a value that are looked at.
const LOOKED_AT: usize = 128;
/// Different letters and digits up to which a value is a placeholder.
const FEW: u32 = 3;
/// Bytes from which words are told from random letters.
const WORDS: usize = 8;
/// Steps of a count or an alphabet that nobody draws by chance.
const STEPS: usize = 16;
/// How much finer logarithms are than bits.
const FINE: u32 = 16;

/// Whether there is more than so much in a value: Shannon's entropy of a character, in tenths of a
/// bit.
pub(crate) fn is_above(value: &[u8], floor: u8) -> bool {
    if floor == 0 {
        return true;
    }
    let value = value.get(..LOOKED_AT).unwrap_or(value);
    let mut counts = [0_u8; 256];
    for &byte in value {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count = count.saturating_add(1);
        }
    }
    // Of n characters: log n − Σ count · log count / n.
    let length = u64::try_from(value.len()).unwrap_or(0);
    let logs: u64 = counts
        .iter()
        .filter(|count| **count > 1)
        .map(|count| u64::from(*count).saturating_mul(log2(usize::from(*count))))
        .sum();
    let bits = log2(value.len())
        .saturating_mul(length)
        .saturating_sub(logs)
        .saturating_mul(10);
    bits > u64::from(floor).saturating_mul(length) << FINE
}

fn log2(value: usize) -> u64 {
    LOGS.get(value).copied().map_or(0, u64::from)
}

const LOGS: [u32; LOOKED_AT + 1] = logs();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where it cannot fail"
)]
const fn logs() -> [u32; LOOKED_AT + 1] {
    let mut logs = [0; LOOKED_AT + 1];
    let mut value = 1;
    while value <= LOOKED_AT {
        logs[value] = log2_of(value as u64);
        value += 1;
    }
    logs
}

/// The logarithm to base 2 in fixed point, by squaring: the same on every machine.
const fn log2_of(value: u64) -> u32 {
    let mut log = value.ilog2();
    // The value as a number from 1 to 2.
    let mut rest = value << (31 - log);
    let mut bit = 0;
    while bit < FINE {
        rest = (rest * rest) >> 31;
        log <<= 1;
        if rest >> 32 != 0 {
            rest >>= 1;
            log |= 1;
        }
        bit += 1;
    }
    log
}

/// Whether somebody typed it to stand for a token.
pub(crate) fn is_placeholder(body: &[u8]) -> bool {
    let body = body.get(..LOOKED_AT).unwrap_or(body);
    has_few(body) || is_words(body) || counts_up(body) || body.ends_with(b"EXAMPLE")
}

/// Whether it is made of two or three letters and digits: x, 0 and the like, in rows.
fn has_few(body: &[u8]) -> bool {
    are_few(seen(body))
}

/// The letters and digits in a text, as a set.
pub(crate) fn seen(text: &[u8]) -> u128 {
    let letters = text.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.fold(0, |seen, byte| seen | 1 << (byte & 0x7F))
}

/// Whether it is a set of two or three.
pub(crate) fn are_few(seen: u128) -> bool {
    seen.count_ones() <= FEW
}

/// Whether it is small words, joined: `your-token-goes-here`. Large ones only with joints, because
/// some alphabets have no small letters.
fn is_words(body: &[u8]) -> bool {
    let is_joint = |byte: &u8| matches!(byte, b'-' | b'_' | b'.' | b'/');
    body.len() >= WORDS
        && (body
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || is_joint(byte))
            || (body.contains(&b'_')
                && body
                    .iter()
                    .all(|byte| byte.is_ascii_uppercase() || is_joint(byte))))
}

/// Whether it holds a long count or the alphabet, in order.
fn counts_up(body: &[u8]) -> bool {
    let mut steps = 1_usize;
    body.windows(2).any(|pair| {
        let next = match pair {
            [b'9', next] => matches!(next, b'0' | b'a' | b'A'),
            [b'0', b'a' | b'A'] => true,
            [one, next] => {
                one.is_ascii_alphanumeric()
                    && next.to_ascii_lowercase() == one.to_ascii_lowercase().wrapping_add(1)
            }
            _ => false,
        };
        steps = if next { steps.saturating_add(1) } else { 1 };
        steps >= STEPS
    })
}

/// Keys of a public SDK's samples, by the first half of their SHA-256: the keys themselves would
/// make a scanner report this file.
const SAMPLES: [u128; 16] = [
    0xf56e_3234_94a6_ffc2_064e_7a95_5908_957d,
    0x2037_abca_ffb2_b777_85da_716c_f7cc_ff4f,
    0x3f37_0c9d_d822_5c63_b5c7_7de1_f785_edc9,
    0xe4a5_542b_b7fd_7b67_e943_c71a_d29c_34b5,
    0xa19f_89ab_3555_eac1_0c40_741f_6df7_9ecf,
    0x0b47_6bdf_9acf_2123_d547_b5ae_76f1_e598,
    0xeb54_0d2b_6ee2_a0a4_7c57_79bc_8a01_4178,
    0x37f8_f09b_df12_c2f2_eae4_ead7_273a_62dd,
    0x8731_261c_b72d_8626_7a32_a532_ebd3_df42,
    0x49f7_77db_995e_8260_da7c_a9ff_df0c_08d6,
    0x27a9_a429_31df_f7eb_2f84_34e2_0a9b_ce97,
    0xdc0f_cf04_6c61_640c_bd1e_8b99_9ada_3262,
    0x4c98_242d_cadc_8b29_005c_6b4a_ad52_6552,
    0xea9b_b108_2cf9_5663_f5fa_ca23_b8b1_5ef2,
    0x3a8b_61d0_f636_b007_840c_0d40_ba12_bcf4,
    0xa6c8_14bc_555a_e62c_7bd8_b58e_c07b_f559,
];

/// Whether it is one of those keys.
pub(crate) fn is_sample(value: &[u8]) -> bool {
    half_hash(value).is_some_and(|hash| SAMPLES.contains(&hash))
}

fn half_hash(value: &[u8]) -> Option<u128> {
    let hash = Sha256::digest(value);
    hash.first_chunk().copied().map(u128::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::{counts_up, half_hash, is_above, is_placeholder, is_words, log2_of};

    #[test]
    fn logarithms_are_right() {
        for value in 1..=128_u32 {
            let exact = f64::from(value).log2() * 65_536.0;
            let ours = f64::from(log2_of(u64::from(value)));
            assert!((exact - ours).abs() < 16.0, "{value}: {exact} {ours}");
        }
    }

    #[test]
    fn entropy_is_strictly_above_its_floor() {
        assert!(!is_above(b"abababab", 10));
        assert!(is_above(b"abababac", 10));
        assert!(is_above(b"aaaaaaaa", 0));
        assert!(!is_above(b"aaaaaaaa", 1));
        assert!(!is_above(b"abcdefgh", 30));
        assert!(is_above(b"abcdefghi", 30));
        assert!(!is_above(b"", 1));
    }

    #[test]
    fn hashes_are_read_as_they_are_written() {
        let known = 0xba78_16bf_8f01_cfea_4141_40de_5dae_2223;
        assert_eq!(half_hash(b"abc"), Some(known));
    }

    #[test]
    fn placeholders_are_known() {
        assert!(is_placeholder(b"xxxxxxxxxxxxxxxxxxxx"));
        assert!(is_placeholder(b"123123123123"));
        assert!(is_placeholder(b"7QIOSFODNNEXAMPLE"));
        assert!(is_words(b"your-token-goes-here"));
        assert!(is_words(b"YOUR_TOKEN_GOES_HERE"));
        assert!(!is_words(b"MFRGGZDFMZTWQ2LK"));
        assert!(counts_up(b"1234567890abcdefghij"));
        assert!(counts_up(b"0xAbCdEfGhIjKlMnOpQrStUvWxYz"));
        assert!(!is_placeholder(b"q8Zt0LmW3xVb"));
    }
}
