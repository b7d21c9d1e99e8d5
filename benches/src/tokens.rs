//! How far the estimate of tokens is from two tokenizers, which are only there for Node: each piece of text with its
//! estimate, a line of JSON each, for `tokens.mjs`.

use std::error::Error;

use memdir_core::rules::estimate_tokens;
use serde_json::json;

/// Characters of a piece, about as many as a long message has.
const PIECE: usize = 3_000;
/// Shorter ends of files are left out.
const LEAST: usize = 1_000;

/// The pieces of some files.
pub fn pieces(paths: &[&str]) -> Result<(), Box<dyn Error>> {
    for path in paths {
        let text = std::fs::read_to_string(path)?;
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(PIECE).filter(|piece| piece.len() >= LEAST) {
            let text: String = piece.iter().collect();
            println!(
                "{}",
                json!({"estimate": estimate_tokens(&text), "text": text})
            );
        }
    }
    Ok(())
}
