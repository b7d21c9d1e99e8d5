-- Who may speak to the server. A token itself is nowhere, only its hash.
CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL,
    revoked_ms INTEGER
) STRICT;

CREATE TABLE rights (
    token TEXT NOT NULL REFERENCES tokens (id),
    pattern TEXT NOT NULL,
    can_write INTEGER NOT NULL,
    PRIMARY KEY (token, pattern)
) STRICT, WITHOUT ROWID;

CREATE TABLE repositories (
    id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    checksum TEXT NOT NULL,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL
) STRICT;

-- Every content that was ever accepted. Nothing in it is changed or removed.
CREATE TABLE revisions (
    repository INTEGER NOT NULL REFERENCES repositories (id),
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    checksum TEXT NOT NULL,
    content BLOB NOT NULL,
    author TEXT NOT NULL,
    token TEXT,
    written_ms INTEGER NOT NULL,
    PRIMARY KEY (repository, key, version)
) STRICT;

CREATE INDEX revisions_by_version ON revisions (repository, version);

-- Which revision of a key is the newest. Keys are compared byte by byte, as everywhere.
CREATE TABLE entries (
    repository INTEGER NOT NULL REFERENCES repositories (id),
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    checksum TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (repository, key)
) STRICT, WITHOUT ROWID;

-- One row that is written to learn whether writing works.
CREATE TABLE probe (
    id INTEGER NOT NULL PRIMARY KEY,
    written_ms INTEGER NOT NULL
) STRICT;
INSERT INTO probe (id, written_ms) VALUES (1, 0);
