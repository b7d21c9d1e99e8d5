//! The floor: what any program that lists a folder and reads the head of every file must do.

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Lists, and per file opens, reads 4 KB, asks for its size and time, closes. Gives the bytes read.
pub fn list_and_read_heads(folder: &Path) -> Result<usize, Box<dyn Error>> {
    let mut total = 0;
    let mut head = vec![0; 4096];
    for entry in std::fs::read_dir(folder)? {
        let mut file = File::open(entry?.path())?;
        total += file.read(&mut head)?;
        std::hint::black_box(file.metadata()?.modified()?);
    }
    Ok(total)
}
