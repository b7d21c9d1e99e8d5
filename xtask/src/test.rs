//! Decides the order of the tests: what a group of suites needs is built before it, and the first
//! failure ends the run.

use crate::build;
use crate::layout::Layout;
use crate::run::{self, Result};
use crate::setup;
use crate::suites::{self, GROUPS, Work};

/// Runs the groups that `words` name; all of them when there is none.
pub fn test(layout: &Layout, words: &[String]) -> Result<()> {
    let known = |word: &String| GROUPS.iter().any(|group| group.name == word);
    if let Some(word) = words.iter().find(|word| !known(word)) {
        let names = suites::names();
        return Err(format!("there is no group `{word}` of tests; there are: {names}").into());
    }
    setup::everything(layout)?;
    let mut built = Vec::new();
    let (mut passed, mut skipped) = (0, Vec::new());
    for group in &GROUPS {
        if !words.is_empty() && !words.iter().any(|word| word == group.name) {
            continue;
        }
        for artefact in group.needs {
            if !built.contains(artefact) {
                build::build(layout, *artefact)?;
                built.push(*artefact);
            }
        }
        for (what, work) in (group.suites)(layout)? {
            match work {
                Work::Run(mut command) => {
                    run::run(what, &mut command)
                        .map_err(|error| format!("could not {what}: {error}"))?;
                    passed += 1;
                }
                Work::Skip(why) => skipped.push(format!("skipped: {what}, because {why}")),
            }
        }
    }
    println!();
    skipped.iter().for_each(|line| println!("{line}"));
    println!("{passed} passed, 0 failed");
    Ok(())
}
