//! Memories that answer no question of the recall fixture, as many as wanted, by the rule in
//! `tests/recall/README.md`.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use serde::Deserialize;

/// The templates, with their word lists.
#[derive(Deserialize)]
pub struct Filler {
    lists: BTreeMap<String, Vec<String>>,
    templates: Vec<Template>,
    examples: Vec<Made>,
}

#[derive(Deserialize)]
struct Template {
    slug: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    description: String,
    body: Vec<String>,
}

/// One filler memory.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct Made {
    #[serde(default)]
    i: usize,
    /// Relative to the store.
    pub path: String,
    /// The whole file.
    pub text: String,
    /// Its age.
    pub days: u32,
}

impl Filler {
    /// Reads the templates, and checks this implementation of the rule by their examples.
    pub fn load(fixture: &Path) -> Result<Self, Box<dyn Error>> {
        let filler: Self = serde_json::from_slice(&std::fs::read(fixture.join("filler.json"))?)?;
        for example in &filler.examples {
            if filler.make(example.i)? != *example {
                return Err(format!("filler {} is not what its example says", example.i).into());
            }
        }
        Ok(filler)
    }

    /// Filler memory `i`.
    pub fn make(&self, i: usize) -> Result<Made, Box<dyn Error>> {
        let n = self.templates.len();
        let template = self.templates.get(i % n).ok_or("there are no templates")?;
        let mut words = Words {
            lists: &self.lists,
            rest: i / n * 31 + i % n,
            chosen: BTreeMap::new(),
        };
        let name = words.fill(&template.name)?;
        let description = words.fill(&template.description)?;
        let body = template
            .body
            .iter()
            .map(|line| words.fill(line))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Made {
            i,
            path: format!("filler/{i:06}_{}.md", template.slug),
            text: format!(
                "---\nname: {name}\ndescription: {description}\ntype: {}\n---\n\n{}\n",
                template.kind,
                body.join("\n")
            ),
            days: u32::try_from(i * 7 % 300)?,
        })
    }
}

/// The words of one memory, chosen as its slots come.
struct Words<'a> {
    lists: &'a BTreeMap<String, Vec<String>>,
    rest: usize,
    chosen: BTreeMap<&'a str, &'a str>,
}

impl<'a> Words<'a> {
    fn fill(&mut self, line: &'a str) -> Result<String, Box<dyn Error>> {
        let mut filled = String::new();
        let mut pieces = line.split('{');
        filled.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let (key, after) = piece.split_once('}').ok_or("a slot is not closed")?;
            let word = match self.chosen.get(key) {
                Some(word) => *word,
                None => {
                    let list = self.lists.get(key).ok_or("a slot has no list")?;
                    let word = list
                        .get(self.rest % list.len())
                        .ok_or("a list is empty")?
                        .as_str();
                    self.rest /= list.len();
                    self.chosen.insert(key, word);
                    word
                }
            };
            filled.push_str(word);
            filled.push_str(after);
        }
        Ok(filled)
    }
}
