//! What the headers of a request say about versions. A version may come weak (`W/"…"`): proxies that
//! compress make it so, and the content is the same.

use axum::http::HeaderMap;
use axum::http::header::{IF_MATCH, IF_NONE_MATCH};

use crate::problem::Problem;
use crate::storage::Condition;

/// Whether the client has this version already.
pub(crate) fn is_known(headers: &HeaderMap, checksum: &str) -> Result<bool, Problem> {
    Ok(match versions(headers, &IF_NONE_MATCH)? {
        Some(Versions::Any) => true,
        Some(Versions::These(known)) => known.iter().any(|known| known == checksum),
        None => false,
    })
}

/// What an upload asks for.
pub(crate) fn of_upload(headers: &HeaderMap) -> Result<Condition, Problem> {
    let wanted = versions(headers, &IF_MATCH)?;
    match (wanted, versions(headers, &IF_NONE_MATCH)?) {
        (None, None) => Ok(Condition::None),
        (None, Some(Versions::Any)) => Ok(Condition::New),
        (Some(Versions::Any), None) => Ok(Condition::Any),
        (Some(Versions::These(known)), None) => Ok(Condition::Version(known)),
        _ => Err(Problem::bad_request(
            "an upload says `If-Match: \"<checksum>\"`, or `If-None-Match: *` for the first one",
        )),
    }
}

enum Versions {
    Any,
    These(Vec<String>),
}

fn versions(
    headers: &HeaderMap,
    name: &axum::http::HeaderName,
) -> Result<Option<Versions>, Problem> {
    let bad = || Problem::bad_request(format!("the header {name} holds no quoted version"));
    let mut known = Vec::new();
    for value in headers.get_all(name) {
        for one in value.to_str().map_err(|_| bad())?.split(',') {
            let one = one.trim();
            if one == "*" {
                return Ok(Some(Versions::Any));
            }
            let quoted = one.strip_prefix("W/").unwrap_or(one);
            let version = quoted
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'))
                .filter(|version| !version.is_empty() && !version.contains('"'));
            known.push(version.ok_or_else(bad)?.to_owned());
        }
    }
    Ok((!known.is_empty()).then_some(Versions::These(known)))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName, HeaderValue};

    use super::{is_known, of_upload};
    use crate::storage::Condition;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            let value = HeaderValue::from_str(value).unwrap();
            (HeaderName::from_static(name), value)
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn conditions_are_read_as_proxies_leave_them() {
        let of = |pairs: &[(&'static str, &str)]| of_upload(&headers(pairs)).ok();
        let version = |names: &[&str]| {
            Some(Condition::Version(
                names.iter().map(ToString::to_string).collect(),
            ))
        };
        assert_eq!(of(&[]), Some(Condition::None));
        assert_eq!(of(&[("if-none-match", "*")]), Some(Condition::New));
        assert_eq!(of(&[("if-match", "*")]), Some(Condition::Any));
        assert_eq!(of(&[("if-match", "\"a\"")]), version(&["a"]));
        assert_eq!(of(&[("if-match", "W/\"a\", \"b\"")]), version(&["a", "b"]));
        for bad in ["a", "\"a", "\"\"", "", "\"a\"b\""] {
            assert_eq!(of(&[("if-match", bad)]), None, "{bad}");
        }
        assert_eq!(of(&[("if-none-match", "\"a\"")]), None);
        assert_eq!(of(&[("if-match", "\"a\""), ("if-none-match", "*")]), None);
    }

    #[test]
    fn a_version_is_known_by_any_of_its_spellings() {
        let known = |value: &str| is_known(&headers(&[("if-none-match", value)]), "a").unwrap();
        assert!(known("\"a\"") && known("W/\"a\"") && known("\"b\", \"a\"") && known("*"));
        assert!(!known("\"b\""));
        assert!(!is_known(&headers(&[]), "a").unwrap());
    }
}
