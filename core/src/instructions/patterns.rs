//! Which files the patterns of people mean (facts 10.4): those of a rule are gitignore's, those that exclude
//! instructions are plain globs over whole paths.

use crate::glob::{Budget, Glob, Globs};
use crate::paths::Platform;

/// Whether a rule with `paths` concerns a file. `path` is relative to the rule's base, with `/`; the last pattern that
/// matches decides, as in a `.gitignore`. What is over the budget of a rule matches nothing.
#[must_use]
pub fn rule_applies(patterns: &[String], path: &str) -> bool {
    RulePatterns::new(patterns).applies(path)
}

/// The patterns of a rule, ready to be compared.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RulePatterns {
    each: Vec<RulePattern>,
    /// Those that match nothing: over the budget, or no patterns at all.
    pub useless: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct RulePattern {
    glob: Glob,
    only_folders: bool,
    /// Whether it takes back what others mean.
    is_back: bool,
}

impl RulePatterns {
    pub fn new(patterns: &[String]) -> Self {
        let mut budget = Budget::new();
        let mut rule = Self::default();
        for pattern in patterns {
            let expanded = budget.expand(pattern).unwrap_or_default();
            let read = expanded.iter().map(|pattern| RulePattern::new(pattern));
            let before = rule.each.len();
            rule.each.extend(read.flatten());
            if rule.each.len() == before {
                rule.useless.push(pattern.clone());
            }
        }
        rule
    }

    pub fn applies(&self, path: &str) -> bool {
        if path.is_empty() || path.starts_with('/') || path.split('/').next() == Some("..") {
            return false;
        }
        let mut applies = false;
        for pattern in &self.each {
            if applies == pattern.is_back && pattern.means(path) {
                applies = !pattern.is_back;
            }
        }
        applies
    }
}

impl RulePattern {
    fn new(pattern: &str) -> Option<Self> {
        let (pattern, is_back) = match pattern.strip_prefix('!') {
            Some(pattern) => (pattern, true),
            None => (pattern, false),
        };
        let (pattern, only_folders) = match pattern.strip_suffix('/') {
            Some(pattern) => (pattern, true),
            None => (pattern, false),
        };
        if pattern.is_empty() {
            return None;
        }
        let glob = match pattern.strip_prefix('/') {
            Some(anchored) => Glob::new(anchored),
            None if pattern.contains('/') => Glob::new(pattern),
            None => Glob::new(&format!("**/{pattern}")),
        };
        Some(Self {
            glob: glob?,
            only_folders,
            is_back,
        })
    }

    /// Whether it means a file, or a folder that it lies in.
    fn means(&self, path: &str) -> bool {
        let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let mut places = folders.chain((!self.only_folders).then_some(path));
        places.any(|place| self.glob.fits(place))
    }
}

/// Whether a file of instructions is excluded: a pattern matches one of its paths (as it was found, and with links
/// resolved) as a whole.
#[must_use]
pub fn instructions_excluded(patterns: &[String], paths: &[String], platform: Platform) -> bool {
    Excludes::new(patterns, platform).exclude(paths)
}

/// The patterns that exclude files, ready to be compared.
#[derive(Debug)]
pub(crate) struct Excludes {
    platform: Platform,
    /// What each stands for, and whether it means all other files.
    each: Vec<(Globs, bool)>,
}

impl Excludes {
    pub fn new(patterns: &[String], platform: Platform) -> Self {
        let each = patterns.iter().filter_map(|pattern| {
            let pattern = comparable(platform, pattern);
            let (pattern, is_not) = match pattern.strip_prefix('!') {
                Some(pattern) => (pattern, true),
                None => (pattern.as_str(), false),
            };
            Some((Globs::new(pattern)?, is_not))
        });
        Self {
            platform,
            each: each.collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    pub fn exclude(&self, paths: &[String]) -> bool {
        let mut paths = paths.iter().map(|path| comparable(self.platform, path));
        paths.any(|path| {
            let mut each = self.each.iter();
            each.any(|(globs, is_not)| globs.fits(&path) != *is_not)
        })
    }
}

fn comparable(platform: Platform, text: &str) -> String {
    match platform {
        Platform::Posix => text.to_owned(),
        Platform::Windows => text.replace('\\', "/").to_lowercase(),
    }
}
