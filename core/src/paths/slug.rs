//! Decides the folder name of a project (facts 1.1), compatible with folders that exist already.

use crate::limits::SLUG_MAX_UNITS;

/// The name of a project's folder, from its absolute path: every UTF-16 unit that is no ASCII
/// letter or digit becomes `-`; beyond 200 units the name is cut and a hash of the whole path
/// follows. Distinct paths can share a slug.
#[must_use]
pub fn project_slug(path: &str) -> String {
    let mut slug: String = path
        .encode_utf16()
        .map(|unit| match u8::try_from(unit).map(char::from) {
            Ok(c) if c.is_ascii_alphanumeric() => c,
            _ => '-',
        })
        .collect();
    if slug.len() > SLUG_MAX_UNITS {
        slug.truncate(SLUG_MAX_UNITS);
        slug.push('-');
        slug.push_str(&base36(hash(path).unsigned_abs()));
    }
    slug
}

/// A name that no other path can have: the slug, and the beginning of the path's SHA-256. Used when
/// a folder with the plain slug belongs to another project.
#[must_use]
pub fn injective_key(path: &str) -> String {
    let digest = crate::team::checksum(path);
    let hash = digest
        .strip_prefix("sha256:")
        .and_then(|hex| hex.get(..8))
        .unwrap_or_default();
    format!("{}-{hash}", project_slug(path))
}

/// The rolling hash of the original path: times 31 plus unit, 32 bits with wrap-around.
fn hash(path: &str) -> i32 {
    path.encode_utf16().fold(0i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    })
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}
