//! Which English words count as the same word, and which say nothing. Light on purpose: two forms
//! of a word must meet in one stem, which need not be a word itself.

/// Words that stand in any text, sorted; a query of nothing else asks for nothing.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "actually",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "anyone",
    "anything",
    "are",
    "aren't",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "but",
    "by",
    "can",
    "can't",
    "cannot",
    "could",
    "did",
    "didn't",
    "do",
    "does",
    "doesn't",
    "doing",
    "don't",
    "done",
    "each",
    "else",
    "ever",
    "fine",
    "for",
    "from",
    "get",
    "gets",
    "getting",
    "give",
    "go",
    "going",
    "good",
    "got",
    "great",
    "had",
    "has",
    "have",
    "having",
    "he",
    "hello",
    "her",
    "here",
    "hey",
    "hi",
    "him",
    "his",
    "how",
    "how's",
    "however",
    "i",
    "i'd",
    "i'll",
    "i'm",
    "i've",
    "if",
    "in",
    "into",
    "is",
    "isn't",
    "it",
    "it's",
    "its",
    "itself",
    "just",
    "kind",
    "know",
    "let",
    "let's",
    "like",
    "look",
    "looks",
    "lot",
    "make",
    "makes",
    "many",
    "may",
    "maybe",
    "me",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "need",
    "needs",
    "nice",
    "no",
    "not",
    "now",
    "of",
    "off",
    "oh",
    "ok",
    "okay",
    "on",
    "one",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "out",
    "over",
    "please",
    "put",
    "really",
    "s",
    "said",
    "say",
    "says",
    "see",
    "she",
    "should",
    "shouldn't",
    "so",
    "some",
    "someone",
    "something",
    "still",
    "such",
    "sure",
    "t",
    "tell",
    "than",
    "thank",
    "thanks",
    "that",
    "that's",
    "the",
    "their",
    "them",
    "then",
    "there",
    "there's",
    "these",
    "they",
    "thing",
    "things",
    "think",
    "this",
    "those",
    "to",
    "too",
    "try",
    "trying",
    "up",
    "us",
    "very",
    "want",
    "was",
    "wasn't",
    "way",
    "we",
    "we'd",
    "we'll",
    "we're",
    "we've",
    "well",
    "were",
    "what",
    "what's",
    "when",
    "where",
    "where's",
    "whether",
    "which",
    "while",
    "who",
    "who's",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "won't",
    "would",
    "yes",
    "yet",
    "you",
    "you'd",
    "you'll",
    "you're",
    "you've",
    "your",
    "yours",
];

/// Words that say what is to be done and not with what, as stems, sorted: the only one of a sentence
/// (`run it again`) asks for nothing.
const WEAK_STEMS: &[&str] = &[
    "add", "appli", "build", "chang", "check", "clean", "cod", "commit", "continu", "delet",
    "deploy", "error", "explain", "fail", "fil", "find", "fix", "install", "issu", "merg", "mov",
    "nam", "open", "problem", "push", "read", "refact", "remov", "renam", "revert", "review",
    "run", "send", "show", "start", "stop", "test", "undo", "updat", "use", "work", "writ",
];

/// Whether a stem alone does not make a question of a sentence.
pub(super) fn is_weak(stem: &str) -> bool {
    WEAK_STEMS.binary_search(&stem).is_ok()
}

/// Words by which a sentence asks for what is known, sorted. What asks for something to be done (`can
/// you fix it`) has others.
const QUESTION_WORDS: &[&str] = &[
    "how", "may", "must", "should", "when", "where", "which", "who", "whom", "whose",
];

/// Whether a word makes a sentence ask for what is known.
pub(super) fn is_question_word(word: &str) -> bool {
    QUESTION_WORDS.binary_search(&word).is_ok()
}

/// For each letter of the alphabet where the stop words begin that begin with it, and at last where
/// all end.
const STOP_WORD_STARTS: [usize; 27] = stop_word_starts();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where it cannot fail"
)]
const fn stop_word_starts() -> [usize; 27] {
    let mut starts = [0; 27];
    let mut at = 0;
    while at < STOP_WORDS.len() {
        // How many begin with a letter before each.
        let mut letter = (STOP_WORDS[at].as_bytes()[0] - b'a') as usize + 1;
        while letter < 27 {
            starts[letter] += 1;
            letter += 1;
        }
        at += 1;
    }
    starts
}

/// Whether a lower-case word says nothing by itself.
pub(super) fn is_stop_word(word: &str) -> bool {
    let Some(first) = word.bytes().next() else {
        return false;
    };
    let letter = usize::from(first.wrapping_sub(b'a'));
    let Some([start, end]) = STOP_WORD_STARTS.get(letter..letter.saturating_add(2)) else {
        return false;
    };
    let alike = STOP_WORDS.get(*start..*end).unwrap_or_default();
    alike.contains(&word)
}

/// Endings that are taken off after that of a plural, the first that fits and only that one, with what
/// takes their place and how many letters must stay before them.
const ENDINGS: &[(&str, &str, usize)] = &[
    ("ization", "", 3),
    ("isation", "", 3),
    ("ation", "", 4),
    ("ative", "", 4),
    ("ator", "", 4),
    ("ating", "", 4),
    ("ated", "", 4),
    ("ate", "", 4),
    ("izing", "", 3),
    ("ising", "", 4),
    ("ized", "", 3),
    ("ised", "", 4),
    ("izer", "", 3),
    ("ize", "", 3),
    ("ise", "", 4),
    ("tion", "t", 3),
    ("ment", "", 4),
    ("ness", "", 4),
    ("fully", "", 3),
    ("ful", "", 3),
    ("ity", "", 4),
    ("ing", "", 3),
    ("er", "", 4),
    ("or", "", 5),
    ("ed", "", 3),
    ("ably", "", 4),
    ("able", "", 4),
    ("ibly", "", 4),
    ("ible", "", 4),
    ("ally", "", 4),
    ("al", "", 5),
    ("ly", "", 4),
];

/// The stem of a lower-case English word of ASCII letters: `deploys`, `deployed`, `deploying`,
/// `deployment` and `deployer` give `deploy`; `policy` and `policies` give `polici`; `cache`,
/// `caches` and `caching` give `cach`. Words of up to three letters stay.
pub(super) fn stem(mut word: String) -> String {
    singular(&mut word);
    if let Some((rest, instead)) = without_ending(&word) {
        word.truncate(rest);
        word.push_str(instead);
        undouble(&mut word);
    }
    if word.len() > 3 {
        if word.ends_with('e') {
            word.pop();
        } else if let Some(rest) = word.strip_suffix('y')
            && !rest.ends_with(['a', 'e', 'o', 'u'])
        {
            word.truncate(rest.len());
            word.push('i');
        }
    }
    word
}

/// Takes off the ending of a plural, or of the third person.
fn singular(word: &mut String) {
    if word.len() <= 3 || !word.ends_with('s') {
        return;
    }
    let (rest, instead) = if word.ends_with("ies") {
        (word.len().saturating_sub(3), "y")
    } else if ["xes", "ches", "shes", "sses", "zes"]
        .iter()
        .any(|ending| word.ends_with(ending))
    {
        (word.len().saturating_sub(2), "")
    } else if ["ss", "us", "is"]
        .iter()
        .any(|ending| word.ends_with(ending))
    {
        (word.len(), "")
    } else {
        (word.len().saturating_sub(1), "")
    };
    word.truncate(rest);
    word.push_str(instead);
}

/// How many letters stay without the ending, and what takes its place.
fn without_ending(word: &str) -> Option<(usize, &'static str)> {
    ENDINGS.iter().find_map(|(ending, instead, least)| {
        // Most words end in another letter: then there is no more to compare.
        if word.as_bytes().last() != ending.as_bytes().last() {
            return None;
        }
        let rest = word.strip_suffix(ending)?;
        (rest.len() >= *least && has_vowel(rest)).then_some((rest.len(), *instead))
    })
}

fn has_vowel(text: &str) -> bool {
    text.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// `runn` is `run`; `call`, `pass` and `buzz` stay.
fn undouble(stem: &mut String) {
    let mut last = stem.chars().rev();
    if let (Some(a), Some(b)) = (last.next(), last.next())
        && a == b
        && stem.len() > 3
        && !matches!(a, 'l' | 's' | 'z' | 'a' | 'e' | 'i' | 'o' | 'u')
    {
        stem.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::{STOP_WORDS, WEAK_STEMS, is_stop_word, is_weak};

    fn stem(word: &str) -> String {
        super::stem(word.to_owned())
    }

    #[test]
    fn stop_words_are_sorted_so_that_they_are_found() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && is_stop_word("a") && is_stop_word("yours"));
        assert!(!is_stop_word("deploy"));
    }

    #[test]
    fn weak_words_are_stems_and_sorted() {
        assert!(WEAK_STEMS.is_sorted());
        for word in ["run", "writing", "changed", "tests", "merge"] {
            assert!(is_weak(&stem(word)), "{word}");
        }
        assert!(!is_weak(&stem("invoice")));
    }

    #[test]
    fn forms_of_a_word_meet() {
        for family in [
            &[
                "deploy",
                "deploys",
                "deployed",
                "deploying",
                "deployment",
                "deployer",
            ][..],
            &["policy", "policies"],
            &["cache", "caches", "cached", "caching"],
            &["test", "tests", "tested", "testing"],
            &["run", "runs", "running", "runner"],
            &[
                "migrate",
                "migrates",
                "migrated",
                "migrating",
                "migration",
                "migrations",
            ],
            &["configure", "configured", "configuring", "configuration"],
            &["box", "boxes"],
            &["class", "classes"],
            &["retry", "retries", "retried"],
            &["merge", "merges", "merged", "merging"],
            &["call", "calls", "called", "calling"],
            &["normal", "normalize", "normalized"],
        ] {
            let stems: Vec<String> = family.iter().map(|word| stem(word)).collect();
            assert!(
                stems.windows(2).all(|pair| pair.first() == pair.last()),
                "{family:?}: {stems:?}"
            );
        }
    }

    #[test]
    fn different_words_stay_apart() {
        for word in ["status", "process", "bus", "pass", "species"] {
            assert!(stem(word).len() + 2 >= word.len(), "{word}");
        }
        assert_ne!(stem("test"), stem("text"));
        assert_ne!(stem("port"), stem("part"));
        assert_ne!(stem("status"), stem("state"));
    }
}
