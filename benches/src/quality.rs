//! How good recall is: Recall@5 and MRR by class on the fixture in `tests/recall`, beside peers.
//! A no-answer question counts as right when the answer is empty. The misspelt ones are the English
//! ones with a slip each.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;
use std::process::Command;

use memdir_core::recall::{RankedMemory, rank_memories, tokenize};
use serde::{Deserialize, Serialize};

use crate::filler::{Filler, Made};

/// Memories that an answer holds at most.
const AT: usize = 5;

/// The class of questions with a slip.
const MISSPELT: &str = "misspelt";

/// The fixture, or a store with its filler.
pub struct Fixture {
    memories: Vec<Memory>,
    queries: Vec<Query>,
}

#[derive(Serialize)]
struct Memory {
    path: String,
    text: String,
    #[serde(skip)]
    age_days: u32,
}

#[derive(Clone, Deserialize, Serialize)]
struct Query {
    id: String,
    class: String,
    split: String,
    query: String,
    relevant: Vec<String>,
}

#[derive(Deserialize)]
struct Queries {
    queries: Vec<Query>,
}

#[derive(Deserialize)]
struct Ages {
    ages: BTreeMap<String, Age>,
}

#[derive(Deserialize)]
struct Age {
    days: u32,
}

/// A way to answer: a name, and the paths that it gives for each query, best first.
struct Ranking {
    name: String,
    answers: Vec<Vec<String>>,
}

/// Prints the table of one split, with so many filler memories in the store.
pub fn compare(root: &Path, split: &str, filler: usize) -> Result<(), Box<dyn Error>> {
    let mut fixture = load(&root.join("tests/recall"))?;
    let templates = Filler::load(&root.join("tests/recall"))?;
    for i in 0..filler {
        let Made {
            path, text, days, ..
        } = templates.make(i)?;
        fixture.memories.push(Memory {
            path,
            text,
            age_days: days,
        });
    }
    fixture.queries.retain(|query| query.split == split);
    let slips: Vec<Query> = fixture.queries.iter().filter_map(misspelt).collect();
    fixture.queries.extend(slips);
    let mut rankings = vec![memdir(&fixture), plain_bm25(&fixture)];
    rankings.extend(peers(root, &fixture)?);
    println!("### Recall on the {split} split, {filler} filler memories\n");
    println!(
        "{} memories, {} questions; Recall@{AT} and MRR in percent, for no-answer the share of empty answers.\n",
        fixture.memories.len(),
        fixture.queries.len()
    );
    let names: Vec<&str> = rankings
        .iter()
        .map(|ranking| ranking.name.as_str())
        .collect();
    println!("| class | questions | {} |", names.join(" | "));
    println!("| --- | ---: |{}", " ---: |".repeat(names.len()));
    let classes: BTreeSet<&str> = fixture
        .queries
        .iter()
        .map(|query| query.class.as_str())
        .collect();
    for class in classes {
        row(class, &fixture, &rankings, |query| query.class == class);
    }
    row("all that have an answer", &fixture, &rankings, |query| {
        query.class != "no-answer" && query.class != MISSPELT
    });
    println!();
    Ok(())
}

/// The question with a slip in it, if it is in English: in its longest word the two letters in the
/// middle have changed places.
fn misspelt(query: &Query) -> Option<Query> {
    if !matches!(query.class.as_str(), "english" | "body-only" | "old") {
        return None;
    }
    let words = query.query.split(|c: char| !c.is_ascii_lowercase());
    let word = words
        .max_by_key(|word| word.len())
        .filter(|word| word.len() >= 6)?;
    let mut letters: Vec<char> = word.chars().collect();
    let middle = letters.len() / 2;
    letters.swap(middle - 1, middle);
    let slip: String = letters.into_iter().collect();
    (slip != word).then(|| Query {
        class: MISSPELT.into(),
        query: query.query.replacen(word, &slip, 1),
        ..query.clone()
    })
}

fn row(name: &str, fixture: &Fixture, rankings: &[Ranking], of: impl Fn(&Query) -> bool) {
    let chosen: Vec<usize> = (0..fixture.queries.len())
        .filter(|&at| fixture.queries.get(at).is_some_and(&of))
        .collect();
    let cells: Vec<String> = rankings
        .iter()
        .map(|ranking| {
            let (mut recall, mut rank) = (0.0, 0.0);
            for &at in &chosen {
                if let (Some(query), Some(answer)) =
                    (fixture.queries.get(at), ranking.answers.get(at))
                {
                    recall += recall_at(query, answer);
                    rank += reciprocal_rank(query, answer);
                }
            }
            let percent = |sum: f64| 100.0 * sum / chosen.len().max(1) as f64;
            if name == "no-answer" {
                format!("{:.1}", percent(recall))
            } else {
                format!("{:.1} / {:.1}", percent(recall), percent(rank))
            }
        })
        .collect();
    println!("| {name} | {} | {} |", chosen.len(), cells.join(" | "));
}

/// The share of the relevant memories among the first five; 1 for an empty answer to a query that
/// has none.
fn recall_at(query: &Query, answer: &[String]) -> f64 {
    if query.relevant.is_empty() {
        return if answer.is_empty() { 1.0 } else { 0.0 };
    }
    let hits = answer
        .iter()
        .take(AT)
        .filter(|path| query.relevant.contains(path))
        .count();
    hits as f64 / query.relevant.len().min(AT) as f64
}

fn reciprocal_rank(query: &Query, answer: &[String]) -> f64 {
    let place = answer
        .iter()
        .take(AT)
        .position(|path| query.relevant.contains(path));
    place.map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
}

fn memdir(fixture: &Fixture) -> Ranking {
    let memories: Vec<RankedMemory> = fixture
        .memories
        .iter()
        .map(|memory| RankedMemory {
            path: memory.path.clone(),
            text: memory.text.clone(),
            age_days: memory.age_days,
            uses: 0,
        })
        .collect();
    let answers = fixture.queries.iter().map(|query| {
        let found = rank_memories(&query.query, &memories);
        found.into_iter().take(AT).map(|found| found.path).collect()
    });
    Ranking {
        name: "memdir".into(),
        answers: answers.collect(),
    }
}

/// Plain BM25 over the same terms as one field: what the cutting of text gives by itself.
fn plain_bm25(fixture: &Fixture) -> Ranking {
    let terms = |text: &str| -> Vec<String> {
        tokenize(text)
            .into_iter()
            .flat_map(|word| word.whole.into_iter().chain(word.parts))
            .collect()
    };
    let documents: Vec<Vec<String>> = fixture
        .memories
        .iter()
        .map(|memory| terms(&format!("{} {}", memory.path, memory.text)))
        .collect();
    let average =
        documents.iter().map(Vec::len).sum::<usize>() as f64 / documents.len().max(1) as f64;
    let counts: Vec<BTreeMap<&str, f64>> = documents
        .iter()
        .map(|document| {
            let mut counts = BTreeMap::new();
            for term in document {
                *counts.entry(term.as_str()).or_insert(0.0) += 1.0;
            }
            counts
        })
        .collect();
    let (k1, b) = (1.2, 0.75);
    let all = documents.len() as f64;
    let answers = fixture.queries.iter().map(|query| {
        let wanted: BTreeSet<String> = terms(&query.query).into_iter().collect();
        let mut scores = vec![0.0; documents.len()];
        for term in &wanted {
            let having = counts
                .iter()
                .filter(|counts| counts.contains_key(term.as_str()))
                .count() as f64;
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            for ((score, counts), document) in scores.iter_mut().zip(&counts).zip(&documents) {
                let count = counts.get(term.as_str()).copied().unwrap_or(0.0);
                let norm = 1.0 - b + b * document.len() as f64 / average;
                *score += rarity * count * (k1 + 1.0) / (count + k1 * norm);
            }
        }
        let mut order: Vec<(f64, &str)> = scores
            .into_iter()
            .zip(&fixture.memories)
            .filter(|(score, _)| *score > 0.0)
            .map(|(score, memory)| (score, memory.path.as_str()))
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        order
            .into_iter()
            .take(AT)
            .map(|(_, path)| path.to_owned())
            .collect()
    });
    Ranking {
        name: "BM25, same terms".into(),
        answers: answers.collect(),
    }
}

/// What Python's rankers answer, each with its own way to cut text.
fn peers(root: &Path, fixture: &Fixture) -> Result<Vec<Ranking>, Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("memdir-quality-{}.json", std::process::id()));
    std::fs::write(
        &file,
        serde_json::to_vec(&(&fixture.memories, &fixture.queries))?,
    )?;
    let output = Command::new(root.join(".venv/bin/python"))
        .arg(root.join("benches/quality.py"))
        .arg(&file)
        .output()?;
    std::fs::remove_file(&file)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let answers: Vec<(String, Vec<Vec<String>>)> = serde_json::from_slice(&output.stdout)?;
    Ok(answers
        .into_iter()
        .map(|(name, answers)| Ranking { name, answers })
        .collect())
}

fn load(folder: &Path) -> Result<Fixture, Box<dyn Error>> {
    let ages: Ages = serde_json::from_slice(&std::fs::read(folder.join("ages.json"))?)?;
    let queries: Queries = serde_json::from_slice(&std::fs::read(folder.join("queries.json"))?)?;
    let memories = ages
        .ages
        .into_iter()
        .map(|(path, age)| {
            let text = std::fs::read_to_string(folder.join("memories").join(&path))?;
            Ok(Memory {
                path,
                text,
                age_days: age.days,
            })
        })
        .collect::<Result<_, std::io::Error>>()?;
    Ok(Fixture {
        memories,
        queries: queries.queries,
    })
}
