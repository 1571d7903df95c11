CREATE TABLE memories (
    id TEXT PRIMARY KEY,
    content TEXT NOT NULL,
    memory_type TEXT NOT NULL DEFAULT 'fact',
    project TEXT,
    conversation_id TEXT REFERENCES conversations(id),
    tags TEXT,
    created_at TEXT NOT NULL DEFAULT (datetime('now')),
    updated_at TEXT NOT NULL DEFAULT (datetime('now')),
    access_count INTEGER NOT NULL DEFAULT 0,
    last_accessed_at TEXT
);
INSERT INTO memories VALUES ('c5f016602d8d48b2', 'The API listens on port 8080', 'fact', 'shop', NULL, '["api", "port"]', '2026-01-02 03:04:05', '2026-01-02 03:04:05', 0, NULL);
INSERT INTO memories VALUES ('e79126268e5447b3', 'The API listens on port 9090', 'fact', 'shop', NULL, '["api"]', '2026-01-02 03:04:05', '2026-01-02 03:04:05', 0, NULL);
INSERT INTO memories VALUES ('6853d178fd64488c', 'Prefer small commits', 'preference', NULL, NULL, NULL, '2026-01-02 03:04:05', '2026-01-02 03:04:05', 0, NULL);
INSERT INTO memories VALUES ('8d80b3fada174c25', 'Deploys run at night, see the runbook', 'procedure', 'shop', NULL, NULL, '2026-01-02 03:04:05', '2026-01-02 03:04:05', 0, NULL);
CREATE TABLE memory_links (
    from_id TEXT NOT NULL REFERENCES memories(id),
    to_id TEXT NOT NULL REFERENCES memories(id),
    relation TEXT NOT NULL CHECK (relation IN ('supersedes', 'contradicts', 'related_to')),
    created_at TEXT NOT NULL DEFAULT (datetime('now')),
    PRIMARY KEY (from_id, to_id, relation)
);
INSERT INTO memory_links VALUES ('e79126268e5447b3', 'c5f016602d8d48b2', 'supersedes', '2026-01-02 03:04:05');
INSERT INTO memory_links VALUES ('8d80b3fada174c25', 'e79126268e5447b3', 'related_to', '2026-01-02 03:04:05');
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    title TEXT,
    project TEXT,
    started_at TEXT NOT NULL DEFAULT (datetime('now')),
    metadata TEXT
);
