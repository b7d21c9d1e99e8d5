//! Every rule, as data. A format stands here when it has a prefix or a marker of its own; what is
//! only a secret because of the name beside it does not (a UUID, 32 hex digits).

mod classic;
mod newer;
mod vendors;

use crate::secrets::rule::Rule;

/// All rules.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    classic::RULES
        .iter()
        .chain(vendors::RULES)
        .chain(newer::RULES)
}
