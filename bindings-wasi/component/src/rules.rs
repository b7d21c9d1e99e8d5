//! The interface `rules`: each function is one call.

use memdir_core::limits::TEAM_BATCH_BYTES;
use memdir_core::rules;

use crate::Component;
use crate::bindings::exports::memdir::memdir::rules::{
    Error, ErrorInfo, Frontmatter, Guest, MemoryHeader, Platform, Truncation,
};

type Pairs = Vec<(String, String)>;

impl Guest for Component {
    fn truncate_index(text: String) -> Truncation {
        rules::truncate_index(&text).into()
    }

    fn parse_frontmatter(text: String) -> Frontmatter {
        rules::parse_frontmatter(&text).into()
    }

    fn format_manifest(memories: Vec<MemoryHeader>) -> String {
        let memories: Vec<_> = memories.into_iter().map(Into::into).collect();
        rules::format_manifest(&memories)
    }

    fn project_slug(path: String) -> String {
        rules::project_slug(&path)
    }

    fn validate_memory_path(
        path: String,
        platform: Platform,
        home: Option<String>,
    ) -> Result<String, Error> {
        rules::validate_memory_path(&path, platform.into(), home.as_deref()).map_err(Into::into)
    }

    fn team_delta(local: Pairs, server: Pairs) -> Pairs {
        let server = server.into_iter().collect();
        rules::team_delta(local.into_iter().collect(), &server)
            .into_iter()
            .collect()
    }

    fn batch_entries(entries: Pairs, max_bytes: Option<u32>) -> Vec<Pairs> {
        let max_bytes = max_bytes.map_or(TEAM_BATCH_BYTES, |bytes| {
            usize::try_from(bytes).unwrap_or(usize::MAX)
        });
        let batches = rules::batch_entries(entries.into_iter().collect(), max_bytes);
        batches
            .into_iter()
            .map(|batch| batch.into_iter().collect())
            .collect()
    }

    fn error_table() -> Vec<ErrorInfo> {
        rules::error_table().into_iter().map(Into::into).collect()
    }
}
