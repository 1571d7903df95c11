-- The picture of the sum of the numbered files, for people: nothing reads it but the test that redraws it.

CREATE TABLE backfill_progress (path TEXT PRIMARY KEY, counts TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE chunk_embeddings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk_id INTEGER NOT NULL UNIQUE REFERENCES chunks (id) ON DELETE CASCADE,
    embedder TEXT NOT NULL,
    dim INTEGER NOT NULL,
    vec BLOB NOT NULL
);

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    chunk_index INTEGER NOT NULL,
    heading TEXT NOT NULL,
    line INTEGER NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    words TEXT
);

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    text, heading, words, content = 'chunks', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2');

CREATE TABLE conversations (
    session_id TEXT PRIMARY KEY,
    title TEXT,
    parent_id TEXT,
    relation TEXT CHECK (relation IN ('follows_up_on', 'branches_from')),
    ts INTEGER NOT NULL
, project TEXT, branches_from TEXT);

CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE document_texts (
    document_id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    text TEXT NOT NULL
);

CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    path TEXT UNIQUE,
    url TEXT UNIQUE,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    chunk_count INTEGER NOT NULL DEFAULT 0,
    metadata TEXT NOT NULL DEFAULT '{}',
    ingested_ts INTEGER NOT NULL,
    split_by INTEGER
);

CREATE TABLE embeddings (
    owner_kind TEXT NOT NULL,
    owner_id INTEGER NOT NULL,
    embedder TEXT NOT NULL,
    dim INTEGER NOT NULL,
    vec BLOB NOT NULL,
    PRIMARY KEY (owner_kind, owner_id, embedder)
);

CREATE TABLE entities (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    aliases TEXT NOT NULL DEFAULT '[]',
    description TEXT NOT NULL DEFAULT '',
    mention_count INTEGER NOT NULL DEFAULT 0,
    merged_into INTEGER REFERENCES entities (id) ON DELETE SET NULL,
    name_key TEXT NOT NULL,
    mark TEXT NOT NULL,
    described_by TEXT,
    ts INTEGER NOT NULL,
    UNIQUE (type, name_key)
);

CREATE VIRTUAL TABLE entities_fts USING fts5 (
    name, aliases, description, content = 'entities', content_rowid = 'id',
    tokenize = 'unicode61 remove_diacritics 2');

CREATE TABLE entity_aliases (
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    alias_key TEXT NOT NULL,
    item TEXT NOT NULL,
    alias TEXT NOT NULL,
    PRIMARY KEY (entity_id, alias_key, item)
) WITHOUT ROWID;

CREATE TABLE entity_merges (
    id INTEGER PRIMARY KEY,
    ts INTEGER NOT NULL,
    src_mark TEXT NOT NULL,
    dst_mark TEXT NOT NULL,
    undone_ts INTEGER
);

CREATE TABLE event_facets (
    facet TEXT NOT NULL,
    value TEXT NOT NULL,
    event_id INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    PRIMARY KEY (facet, value, event_id)
) WITHOUT ROWID;

CREATE TABLE event_words (event_id INTEGER PRIMARY KEY REFERENCES events (id) ON DELETE CASCADE, words TEXT NOT NULL);

CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ts INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    input_hash TEXT NOT NULL,
    payload_json TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'raw' CHECK (status IN ('raw', 'summarized', 'skipped')),
    tokens_est INTEGER NOT NULL DEFAULT 0,
    uid TEXT UNIQUE,
    frame_uid TEXT UNIQUE,
    outcome TEXT CHECK (outcome IN ('ok', 'failed', 'interrupted')),
    attempts INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    native_key TEXT,
    input_key TEXT,
    prompt_id TEXT,
    agent_id TEXT,
    spawned_agent_id TEXT
, said_by TEXT NOT NULL DEFAULT 'output'
    CHECK (said_by IN ('person', 'agent', 'output', 'outside')), kind TEXT NOT NULL DEFAULT 'tool', action TEXT);

CREATE VIRTUAL TABLE events_fts USING fts5 (
    words, content = 'event_words', content_rowid = 'event_id', tokenize = 'porter unicode61 remove_diacritics 2');

CREATE TABLE fact_history (
    id INTEGER PRIMARY KEY,
    fact_id INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE ON UPDATE CASCADE,
    ts INTEGER NOT NULL,
    what TEXT NOT NULL,
    by_id INTEGER,
    who TEXT NOT NULL,
    why TEXT,
    old_text TEXT
);

CREATE TABLE "fact_links" (
    from_id INTEGER NOT NULL REFERENCES "facts" (id) ON DELETE CASCADE,
    to_id INTEGER NOT NULL REFERENCES "facts" (id) ON DELETE CASCADE,
    relation TEXT NOT NULL, ts INTEGER NOT NULL,
    PRIMARY KEY (from_id, to_id, relation)
);

CREATE TABLE "fact_reads" (
    fact_id INTEGER PRIMARY KEY REFERENCES "facts" (id) ON DELETE CASCADE,
    reads INTEGER NOT NULL,
    last_ts INTEGER NOT NULL
);

CREATE TABLE fact_sources (
    fact_id INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE ON UPDATE CASCADE,
    event_id INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    PRIMARY KEY (fact_id, event_id)
) WITHOUT ROWID;

CREATE TABLE fact_uses (
    fact_id INTEGER PRIMARY KEY REFERENCES facts (id) ON DELETE CASCADE ON UPDATE CASCADE,
    given INTEGER NOT NULL DEFAULT 0,
    used INTEGER NOT NULL DEFAULT 0,
    confirmed INTEGER NOT NULL DEFAULT 0,
    last_ts INTEGER
);

CREATE TABLE "facts" (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ts INTEGER NOT NULL, updated_ts INTEGER NOT NULL,
    category TEXT NOT NULL DEFAULT 'fact', text TEXT NOT NULL, tags TEXT NOT NULL DEFAULT '[]', project TEXT,
    importance INTEGER NOT NULL DEFAULT 3, confidence REAL, valid_from INTEGER, valid_to INTEGER,
    session_id TEXT, source TEXT, pinned INTEGER NOT NULL DEFAULT 0, uid TEXT UNIQUE,
    words TEXT
, said_by TEXT NOT NULL DEFAULT 'agent'
    CHECK (said_by IN ('person', 'agent', 'output', 'outside')), waits INTEGER NOT NULL DEFAULT 0, status TEXT NOT NULL DEFAULT 'active'
    CHECK (status IN ('active', 'superseded', 'contradicted', 'archived')), superseded_by INTEGER REFERENCES facts (id) ON DELETE SET NULL ON UPDATE CASCADE, scope TEXT NOT NULL DEFAULT 'project'
    CHECK (scope IN ('session', 'project')), origin TEXT NOT NULL DEFAULT 'kept' CHECK (origin IN ('kept', 'extracted', 'learnt')), topic TEXT, quote TEXT, client TEXT);

CREATE VIRTUAL TABLE facts_fts USING fts5 (
    text, words, content = 'facts', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2');

CREATE VIRTUAL TABLE facts_trigrams USING fts5 (
    text, content = 'facts', content_rowid = 'id', tokenize = 'trigram', detail = 'none');

CREATE TABLE forgets (
    seq INTEGER PRIMARY KEY,
    ts INTEGER NOT NULL,
    done_ts INTEGER
);

CREATE TABLE graph_documents (
    document_id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    content_hash TEXT NOT NULL
);

CREATE TABLE graph_ends (
    src_named INTEGER NOT NULL,
    dst_named INTEGER NOT NULL,
    type TEXT NOT NULL,
    item TEXT NOT NULL,
    ts INTEGER NOT NULL,
    PRIMARY KEY (src_named, dst_named, type, item)
) WITHOUT ROWID;

CREATE TABLE graph_queue (item TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE graph_unread (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    ts INTEGER NOT NULL,
    type TEXT NOT NULL,
    text TEXT NOT NULL
);

CREATE TABLE injections (
    id INTEGER PRIMARY KEY,
    ts INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    hook TEXT NOT NULL,
    piece TEXT NOT NULL,
    event_id INTEGER REFERENCES events (id) ON DELETE CASCADE,
    fact_id INTEGER REFERENCES "facts" (id) ON DELETE CASCADE,
    after_id INTEGER NOT NULL,
    why TEXT NOT NULL
);

CREATE TABLE kept_apart (
    a_event INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    b_event INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    PRIMARY KEY (a_event, b_event)
) WITHOUT ROWID;

CREATE TABLE mentions (
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    item TEXT NOT NULL,
    named INTEGER NOT NULL,
    count INTEGER NOT NULL DEFAULT 1,
    line INTEGER,
    PRIMARY KEY (entity_id, item, named)
) WITHOUT ROWID;

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, ts INTEGER NOT NULL);

CREATE TABLE muted_events (
    event_id INTEGER PRIMARY KEY REFERENCES events (id) ON DELETE CASCADE,
    ts INTEGER NOT NULL
);

CREATE TABLE muted_items (
    id TEXT PRIMARY KEY,
    ts INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE note_files (
    id INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    file TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    UNIQUE (project, file)
);

CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES note_files (id) ON DELETE CASCADE,
    line INTEGER NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL
);

CREATE VIRTUAL TABLE notes_fts USING fts5 (
    text, heading, content = 'notes', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2');

CREATE TABLE opt_outs (
    session_id TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    PRIMARY KEY (session_id, since)
) WITHOUT ROWID;

CREATE TABLE pod_members (
    pod_id INTEGER NOT NULL REFERENCES pods (id) ON DELETE CASCADE,
    fact_id INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE ON UPDATE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('fact', 'command', 'left out')),
    position INTEGER NOT NULL,
    PRIMARY KEY (pod_id, fact_id)
) WITHOUT ROWID;

CREATE TABLE pods (
    id INTEGER PRIMARY KEY,
    type TEXT NOT NULL CHECK (type IN ('directive', 'vital', 'playbook', 'session', 'person', 'project')),
    external_id TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
    ts INTEGER NOT NULL,
    UNIQUE (type, external_id)
);

CREATE TABLE provenance_edges (
    id INTEGER PRIMARY KEY,
    src_kind TEXT NOT NULL, src_id INTEGER NOT NULL,
    dst_kind TEXT NOT NULL, dst_id INTEGER NOT NULL,
    edge TEXT NOT NULL,
    ts INTEGER NOT NULL,
    UNIQUE (src_kind, src_id, dst_kind, dst_id, edge)
);

CREATE TABLE rejections (reason TEXT PRIMARY KEY, count INTEGER NOT NULL, last_ts INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE relation_evidence (
    relation_id INTEGER NOT NULL REFERENCES relations (id) ON DELETE CASCADE,
    item TEXT NOT NULL,
    src_named INTEGER NOT NULL,
    dst_named INTEGER NOT NULL,
    line INTEGER,
    count INTEGER NOT NULL DEFAULT 1,
    ts INTEGER NOT NULL,
    until_ts INTEGER,
    way TEXT NOT NULL,
    PRIMARY KEY (relation_id, item, src_named, dst_named, ts)
) WITHOUT ROWID;

CREATE TABLE relations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    src INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    dst INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    source TEXT NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    mention_count INTEGER NOT NULL DEFAULT 0,
    UNIQUE (src, dst, type, valid_from)
);

CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    cwd TEXT,
    started_ts INTEGER NOT NULL,
    last_ts INTEGER NOT NULL,
    ended_ts INTEGER,
    source TEXT,
    compacted_ts INTEGER
);

CREATE TABLE summaries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    ts INTEGER NOT NULL,
    model TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    text TEXT NOT NULL,
    tokens_in INTEGER,
    tokens_out INTEGER,
    confidence REAL,
    words TEXT,
    scope TEXT NOT NULL DEFAULT 'event' CHECK (scope IN ('event', 'turn', 'session')),
    waits_for TEXT
, said_by TEXT NOT NULL DEFAULT 'output'
    CHECK (said_by IN ('person', 'agent', 'output', 'outside')));

CREATE VIRTUAL TABLE summaries_fts USING fts5 (
    text, words, content = 'summaries', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2');

CREATE VIRTUAL TABLE summaries_trigrams USING fts5 (
    text, content = 'summaries', content_rowid = 'id', tokenize = 'trigram', detail = 'none');

CREATE TABLE summary_cache (
    cache_key TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    tokens_in INTEGER,
    tokens_out INTEGER,
    confidence REAL,
    ts INTEGER NOT NULL,
    model TEXT
);

CREATE TABLE summary_embeddings (
    summary_id INTEGER PRIMARY KEY REFERENCES summaries (id) ON DELETE CASCADE,
    dim INTEGER NOT NULL,
    vec BLOB NOT NULL,
    embedder TEXT
);

CREATE TABLE summary_supersedes (
    newer_id INTEGER NOT NULL REFERENCES summaries (id) ON DELETE CASCADE,
    older_id INTEGER NOT NULL REFERENCES summaries (id) ON DELETE CASCADE,
    cosine REAL,
    ts INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (newer_id, older_id)
);

CREATE TABLE team_dirty (
    uid TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('fact', 'summary', 'knowledge')),
    rev INTEGER NOT NULL,
    op TEXT NOT NULL CHECK (op IN ('put', 'forget')),
    parked TEXT,
    ts INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE team_forgets (
    seq INTEGER PRIMARY KEY,
    items INTEGER NOT NULL,
    ts INTEGER NOT NULL
);

CREATE TABLE team_items (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    hash TEXT NOT NULL,
    source TEXT NOT NULL,
    source_ref TEXT NOT NULL,
    author TEXT NOT NULL,
    author_name TEXT NOT NULL,
    device TEXT NOT NULL,
    visibility TEXT NOT NULL,
    is_own INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    superseded_by TEXT,
    owner_kind TEXT NOT NULL CHECK (owner_kind IN ('fact', 'summary')),
    ts INTEGER NOT NULL
);

CREATE TABLE team_links (
    project TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    device TEXT NOT NULL,
    person TEXT NOT NULL,
    person_name TEXT NOT NULL,
    epoch TEXT NOT NULL,
    share TEXT NOT NULL,
    ts INTEGER NOT NULL,
    problem TEXT,
    problem_ts INTEGER,
    pushed_ts INTEGER,
    pulled_ts INTEGER
) WITHOUT ROWID;

CREATE TABLE team_shared (
    uid TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    rev INTEGER NOT NULL,
    hash TEXT NOT NULL,
    is_gone INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE token_spend (
    day TEXT NOT NULL,
    backend TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    is_remote INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (day, backend)
) WITHOUT ROWID;

CREATE TABLE tombstones (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    since INTEGER, until INTEGER,
    detail TEXT
);

CREATE TABLE transcript_cursors (
    file TEXT PRIMARY KEY,
    offset INTEGER NOT NULL,
    seen TEXT NOT NULL,
    ts INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE vector_changes (id INTEGER PRIMARY KEY AUTOINCREMENT, summary_id INTEGER NOT NULL);

CREATE INDEX chunks_by_document ON chunks (document_id, chunk_index);

CREATE INDEX conversations_by_branch ON conversations (branches_from);

CREATE INDEX conversations_by_parent ON conversations (parent_id);

CREATE UNIQUE INDEX documents_by_title ON documents (title) WHERE path IS NULL AND url IS NULL;

CREATE INDEX documents_unsplit ON documents (id) WHERE split_by IS NULL;

CREATE INDEX entities_by_key ON entities (name_key);

CREATE INDEX entities_by_mark ON entities (mark);

CREATE INDEX entities_described ON entities (described_by) WHERE described_by IS NOT NULL;

CREATE INDEX entities_merged ON entities (merged_into) WHERE merged_into IS NOT NULL;

CREATE INDEX aliases_by_item ON entity_aliases (item);

CREATE INDEX aliases_by_key ON entity_aliases (alias_key);

CREATE INDEX merges_by_source ON entity_merges (src_mark);

CREATE INDEX facets_by_event ON event_facets (event_id);

CREATE INDEX events_by_kind ON events (kind, ts) WHERE kind <> 'tool';

CREATE INDEX events_by_prompt ON events (session_id, prompt_id) WHERE kind = 'prompt';

CREATE INDEX events_by_session ON events (session_id, id);

CREATE INDEX events_by_spawned_agent ON events (session_id, spawned_agent_id) WHERE spawned_agent_id IS NOT NULL;

CREATE INDEX events_by_tool ON events (tool COLLATE NOCASE, ts);

CREATE INDEX events_by_ts ON events (ts, id, tool, session_id, kind, action);

CREATE INDEX events_failed ON events (ts) WHERE outcome = 'failed';

CREATE INDEX events_raw ON events (session_id, id) WHERE status = 'raw';

CREATE INDEX events_replaced ON events (ts, id) WHERE instr(payload_json, '[REDACTED:') > 0;

CREATE INDEX events_skipped ON events (id) WHERE status = 'skipped';

CREATE INDEX history_by_fact ON fact_history (fact_id, id);

CREATE INDEX fact_links_by_target ON fact_links (to_id, relation);

CREATE INDEX sources_by_event ON fact_sources (event_id);

CREATE INDEX facts_by_session ON facts (session_id);

CREATE INDEX facts_by_successor ON facts (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE INDEX facts_by_topic ON facts (topic) WHERE topic IS NOT NULL;

CREATE INDEX facts_vital ON facts (id) WHERE importance >= 5;

CREATE INDEX ends_by_item ON graph_ends (item);

CREATE INDEX unread_by_document ON graph_unread (document_id, id);

CREATE INDEX injections_by_event ON injections (event_id);

CREATE INDEX injections_by_fact ON injections (fact_id);

CREATE INDEX injections_by_session ON injections (session_id, ts);

CREATE INDEX mentions_by_item ON mentions (item);

CREATE INDEX mentions_by_named ON mentions (named);

CREATE INDEX notes_by_file ON notes (file_id, line);

CREATE INDEX members_by_fact ON pod_members (fact_id);

CREATE INDEX edges_by_target ON provenance_edges (dst_kind, dst_id);

CREATE INDEX evidence_by_item ON relation_evidence (item);

CREATE INDEX relations_by_target ON relations (dst, type);

CREATE INDEX relations_from ON relations (src, mention_count);

CREATE INDEX relations_to ON relations (dst, mention_count);

CREATE INDEX summaries_by_event ON summaries (event_id);

CREATE INDEX summaries_of_sessions ON summaries (event_id) WHERE scope = 'session';

CREATE INDEX summaries_waiting ON summaries (event_id) WHERE waits_for IS NOT NULL;

CREATE INDEX embeddings_by_embedder ON summary_embeddings (embedder);

CREATE INDEX supersedes_by_older ON summary_supersedes (older_id);

CREATE INDEX items_by_seq ON team_items (seq);

CREATE INDEX items_by_source ON team_items (source, source_ref);

CREATE INDEX items_by_successor ON team_items (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE UNIQUE INDEX tombstones_by_key ON tombstones (kind, key, coalesce(until, 0), coalesce(since, 0));

CREATE INDEX tombstones_of_memories ON tombstones (detail) WHERE kind = 'memory';

CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, text, heading, words)
    VALUES ('delete', old.id, old.text, old.heading, old.words);
END;

CREATE TRIGGER chunks_gone AFTER DELETE ON chunks BEGIN
    DELETE FROM chunk_embeddings WHERE chunk_id = old.id;
END;

CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
    INSERT INTO chunks_fts (rowid, text, heading, words) VALUES (new.id, new.text, new.heading, new.words);
END;

CREATE TRIGGER chunks_rewritten AFTER UPDATE OF id, text ON chunks
WHEN old.text <> new.text OR old.id <> new.id BEGIN
    DELETE FROM chunk_embeddings WHERE chunk_id IN (old.id, new.id);
END;

CREATE TRIGGER chunks_updated AFTER UPDATE OF id, text, heading, words ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, text, heading, words)
    VALUES ('delete', old.id, old.text, old.heading, old.words);
    INSERT INTO chunks_fts (rowid, text, heading, words) VALUES (new.id, new.text, new.heading, new.words);
END;

CREATE TRIGGER texts_changed_in_graph AFTER UPDATE OF text ON document_texts WHEN old.text <> new.text BEGIN
    INSERT INTO graph_queue SELECT 'd' || new.document_id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'd' || new.document_id);
END;

CREATE TRIGGER documents_came_to_graph AFTER INSERT ON documents BEGIN
    INSERT INTO graph_queue SELECT 'd' || new.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'd' || new.id);
END;

CREATE TRIGGER documents_changed_in_graph AFTER UPDATE OF content_hash, path, url, type ON documents BEGIN
    INSERT INTO graph_queue SELECT 'd' || new.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'd' || new.id);
END;

CREATE TRIGGER documents_deleted AFTER DELETE ON documents BEGIN
    DELETE FROM document_texts WHERE document_id = old.id;
    DELETE FROM chunks WHERE document_id = old.id;
END;

CREATE TRIGGER documents_left_graph AFTER DELETE ON documents BEGIN
    DELETE FROM entity_aliases WHERE item = 'd' || old.id;
    DELETE FROM relation_evidence WHERE item = 'd' || old.id;
    DELETE FROM mentions WHERE item = 'd' || old.id;
    DELETE FROM graph_queue WHERE item = 'd' || old.id;
    DELETE FROM graph_documents WHERE document_id = old.id;
END;

CREATE TRIGGER documents_left_unread AFTER DELETE ON documents BEGIN
    DELETE FROM graph_unread WHERE document_id = old.id;
END;

CREATE TRIGGER entities_deleted AFTER DELETE ON entities BEGIN
    INSERT INTO entities_fts (entities_fts, rowid, name, aliases, description)
        VALUES ('delete', old.id, old.name, old.aliases, old.description);
    DELETE FROM relations WHERE src = old.id;
    DELETE FROM relations WHERE dst = old.id;
    DELETE FROM mentions WHERE entity_id = old.id;
    DELETE FROM entity_aliases WHERE entity_id = old.id;
    DELETE FROM embeddings WHERE owner_kind = 'entity' AND owner_id = old.id;
    UPDATE entities SET merged_into = NULL WHERE merged_into = old.id;
END;

CREATE TRIGGER entities_inserted AFTER INSERT ON entities BEGIN
    INSERT INTO entities_fts (rowid, name, aliases, description)
        VALUES (new.id, new.name, new.aliases, new.description);
END;

CREATE TRIGGER entities_renamed AFTER UPDATE OF name ON entities WHEN old.name <> new.name BEGIN
    DELETE FROM embeddings WHERE owner_kind = 'entity' AND owner_id = old.id;
END;

CREATE TRIGGER entities_updated AFTER UPDATE OF id, name, aliases, description ON entities BEGIN
    INSERT INTO entities_fts (entities_fts, rowid, name, aliases, description)
        VALUES ('delete', old.id, old.name, old.aliases, old.description);
    INSERT INTO entities_fts (rowid, name, aliases, description)
        VALUES (new.id, new.name, new.aliases, new.description);
END;

CREATE TRIGGER aliases_deleted AFTER DELETE ON entity_aliases BEGIN
    UPDATE entities SET aliases = (SELECT json_group_array(alias) FROM (
        SELECT min(alias) AS alias FROM entity_aliases WHERE entity_id = old.entity_id GROUP BY alias_key ORDER BY 1))
    WHERE id = old.entity_id;
END;

CREATE TRIGGER aliases_inserted AFTER INSERT ON entity_aliases BEGIN
    UPDATE entities SET aliases = (SELECT json_group_array(alias) FROM (
        SELECT min(alias) AS alias FROM entity_aliases WHERE entity_id = new.entity_id GROUP BY alias_key ORDER BY 1))
    WHERE id = new.entity_id;
END;

CREATE TRIGGER event_words_deleted AFTER DELETE ON event_words BEGIN
    INSERT INTO events_fts (events_fts, rowid, words) VALUES ('delete', old.event_id, old.words);
END;

CREATE TRIGGER event_words_inserted AFTER INSERT ON event_words BEGIN
    INSERT INTO events_fts (rowid, words) VALUES (new.event_id, new.words);
END;

CREATE TRIGGER event_words_updated AFTER UPDATE ON event_words BEGIN
    INSERT INTO events_fts (events_fts, rowid, words) VALUES ('delete', old.event_id, old.words);
    INSERT INTO events_fts (rowid, words) VALUES (new.event_id, new.words);
END;

CREATE TRIGGER events_changed_in_graph AFTER UPDATE OF payload_json ON events
    WHEN old.payload_json <> new.payload_json BEGIN
    DELETE FROM entity_aliases WHERE item = 'e' || old.id;
    DELETE FROM relation_evidence WHERE item = 'e' || old.id;
    DELETE FROM mentions WHERE item = 'e' || old.id;
    INSERT INTO graph_queue SELECT 'e' || old.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'e' || old.id);
END;

CREATE TRIGGER events_deleted AFTER DELETE ON events BEGIN
    DELETE FROM event_words WHERE event_id = old.id;
    DELETE FROM event_facets WHERE event_id = old.id;
    DELETE FROM summaries WHERE event_id = old.id;
    DELETE FROM kept_apart WHERE a_event = old.id OR b_event = old.id;
    DELETE FROM provenance_edges WHERE (src_kind = 'event' AND src_id = old.id) OR (dst_kind = 'event' AND dst_id = old.id);
END;

CREATE TRIGGER events_left_graph AFTER DELETE ON events BEGIN
    DELETE FROM entity_aliases WHERE item = 'e' || old.id;
    DELETE FROM relation_evidence WHERE item = 'e' || old.id;
    DELETE FROM mentions WHERE item = 'e' || old.id;
    DELETE FROM graph_queue WHERE item = 'e' || old.id;
END;

CREATE TRIGGER events_rewritten AFTER UPDATE OF payload_json ON events WHEN old.payload_json <> new.payload_json BEGIN
    DELETE FROM event_words WHERE event_id = new.id;
    DELETE FROM event_facets WHERE event_id = new.id;
END;

CREATE TRIGGER muted_events_deleted AFTER DELETE ON events BEGIN
    DELETE FROM muted_events WHERE event_id = old.id;
END;

CREATE TRIGGER facts_came_to_graph AFTER INSERT ON facts BEGIN
    INSERT INTO graph_queue SELECT 'm' || new.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'm' || new.id);
END;

CREATE TRIGGER facts_came_to_team AFTER INSERT ON facts WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    INSERT INTO team_changes (uid, kind, op) VALUES (coalesce(new.uid, 'm' || new.id), 'fact', 'put');
END;

CREATE TRIGGER facts_changed_for_team AFTER UPDATE OF uid, text, category, tags, importance, valid_from, valid_to,
    status, superseded_by, scope, waits, said_by, topic, project, pinned ON facts
WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    INSERT INTO team_changes (uid, kind, op) VALUES (coalesce(new.uid, 'm' || new.id), 'fact', 'put');
END;

CREATE TRIGGER facts_changed_in_graph AFTER UPDATE OF id, text ON facts
    WHEN old.id <> new.id OR old.text <> new.text BEGIN
    DELETE FROM entity_aliases WHERE item = 'm' || old.id;
    DELETE FROM relation_evidence WHERE item = 'm' || old.id;
    DELETE FROM mentions WHERE item = 'm' || old.id;
    DELETE FROM graph_queue WHERE item = 'm' || old.id;
    INSERT INTO graph_queue SELECT 'm' || new.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'm' || new.id);
END;

CREATE TRIGGER facts_deleted AFTER DELETE ON facts BEGIN
    DELETE FROM embeddings WHERE owner_kind = 'fact' AND owner_id = old.id;
    DELETE FROM fact_links WHERE from_id = old.id OR to_id = old.id;
    DELETE FROM fact_sources WHERE fact_id = old.id;
    DELETE FROM fact_history WHERE fact_id = old.id;
    DELETE FROM fact_uses WHERE fact_id = old.id;
END;

CREATE TRIGGER facts_inserted AFTER INSERT ON facts BEGIN
    INSERT INTO facts_fts (rowid, text, words) VALUES (new.id, new.text, new.words);
    INSERT INTO facts_trigrams (rowid, text) VALUES (new.id, new.text);
END;

CREATE TRIGGER facts_judged_in_graph AFTER UPDATE OF status, valid_from, valid_to ON facts
    WHEN old.status <> new.status OR old.valid_from IS NOT new.valid_from OR old.valid_to IS NOT new.valid_to BEGIN
    INSERT INTO graph_queue SELECT 'm' || new.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'm' || new.id);
END;

CREATE TRIGGER facts_left_graph AFTER DELETE ON facts BEGIN
    DELETE FROM entity_aliases WHERE item = 'm' || old.id;
    DELETE FROM relation_evidence WHERE item = 'm' || old.id;
    DELETE FROM mentions WHERE item = 'm' || old.id;
    DELETE FROM graph_queue WHERE item = 'm' || old.id;
END;

CREATE TRIGGER facts_left_pods AFTER DELETE ON facts BEGIN
    DELETE FROM pod_members WHERE fact_id = old.id;
END;

CREATE TRIGGER facts_left_team AFTER DELETE ON facts WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    INSERT INTO team_changes (uid, kind, op) VALUES (coalesce(old.uid, 'm' || old.id), 'fact', 'forget');
END;

CREATE TRIGGER facts_rewritten AFTER UPDATE OF id, text ON facts
WHEN old.text <> new.text OR old.id <> new.id BEGIN
    DELETE FROM embeddings WHERE owner_kind = 'fact' AND owner_id IN (old.id, new.id);
END;

CREATE TRIGGER facts_unindexed AFTER DELETE ON facts BEGIN
    INSERT INTO facts_fts (facts_fts, rowid, text, words) VALUES ('delete', old.id, old.text, old.words);
    INSERT INTO facts_trigrams (facts_trigrams, rowid, text) VALUES ('delete', old.id, old.text);
END;

CREATE TRIGGER facts_updated AFTER UPDATE OF id, text, words ON facts BEGIN
    INSERT INTO facts_fts (facts_fts, rowid, text, words) VALUES ('delete', old.id, old.text, old.words);
    INSERT INTO facts_trigrams (facts_trigrams, rowid, text) VALUES ('delete', old.id, old.text);
    INSERT INTO facts_fts (rowid, text, words) VALUES (new.id, new.text, new.words);
    INSERT INTO facts_trigrams (rowid, text) VALUES (new.id, new.text);
END;

CREATE TRIGGER ends_deleted AFTER DELETE ON graph_ends BEGIN
    UPDATE relation_evidence SET until_ts = NULL WHERE until_ts = old.ts AND relation_id IN (
        SELECT r.id FROM relations r WHERE r.src = old.src_named AND r.dst = old.dst_named AND r.type = old.type)
        AND NOT EXISTS (
            SELECT 1 FROM graph_ends e WHERE e.src_named = old.src_named AND e.dst_named = old.dst_named
            AND e.type = old.type AND e.ts = old.ts);
    UPDATE relations SET valid_to = NULL
        WHERE src = old.src_named AND dst = old.dst_named AND type = old.type AND valid_to = old.ts AND EXISTS (
            SELECT 1 FROM relation_evidence v WHERE v.relation_id = relations.id AND v.until_ts IS NULL);
END;

CREATE VIEW memories AS
SELECT id, ts, updated_ts, category AS type, text, tags, project, importance, confidence, valid_from, valid_to,
       session_id, source, pinned, uid, words, said_by, waits FROM facts;

CREATE VIEW memory_links AS SELECT from_id, to_id, relation, ts FROM fact_links;

CREATE TRIGGER mentions_deleted AFTER DELETE ON mentions BEGIN
    UPDATE entities SET mention_count = mention_count - old.count WHERE id = old.entity_id;
    UPDATE entities SET description = '', described_by = NULL WHERE id = old.named AND described_by = old.item;
    INSERT INTO graph_queue SELECT 'x' || old.named
        WHERE EXISTS (SELECT 1 FROM mentions m WHERE m.entity_id = old.named)
        AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.named = old.named)
        AND NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'x' || old.named);
    DELETE FROM entities WHERE id = old.named
        AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.named = old.named)
        AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.entity_id = old.named);
END;

CREATE TRIGGER mentions_inserted AFTER INSERT ON mentions BEGIN
    UPDATE entities SET mention_count = mention_count + new.count WHERE id = new.entity_id;
END;

CREATE TRIGGER mentions_left_ends AFTER DELETE ON mentions BEGIN
    DELETE FROM graph_ends WHERE item = old.item AND (src_named = old.named OR dst_named = old.named);
END;

CREATE TRIGGER mentions_updated AFTER UPDATE OF entity_id, count ON mentions BEGIN
    UPDATE entities SET mention_count = mention_count - old.count WHERE id = old.entity_id;
    UPDATE entities SET mention_count = mention_count + new.count WHERE id = new.entity_id;
END;

CREATE TRIGGER stories_muted_for_team AFTER INSERT ON muted_events WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    UPDATE summaries SET text = text WHERE event_id = new.event_id AND scope <> 'event';
END;

CREATE TRIGGER stories_unmuted_for_team AFTER DELETE ON muted_events WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    UPDATE summaries SET text = text WHERE event_id = old.event_id AND scope <> 'event';
END;

CREATE TRIGGER note_files_deleted AFTER DELETE ON note_files BEGIN
    DELETE FROM notes WHERE file_id = old.id;
END;

CREATE TRIGGER notes_deleted AFTER DELETE ON notes BEGIN
    INSERT INTO notes_fts (notes_fts, rowid, text, heading) VALUES ('delete', old.id, old.text, old.heading);
END;

CREATE TRIGGER notes_inserted AFTER INSERT ON notes BEGIN
    INSERT INTO notes_fts (rowid, text, heading) VALUES (new.id, new.text, new.heading);
END;

CREATE TRIGGER notes_updated AFTER UPDATE OF id, text, heading ON notes BEGIN
    INSERT INTO notes_fts (notes_fts, rowid, text, heading) VALUES ('delete', old.id, old.text, old.heading);
    INSERT INTO notes_fts (rowid, text, heading) VALUES (new.id, new.text, new.heading);
END;

CREATE TRIGGER pods_deleted AFTER DELETE ON pods BEGIN
    DELETE FROM pod_members WHERE pod_id = old.id;
END;

CREATE TRIGGER evidence_counted AFTER UPDATE OF count ON relation_evidence BEGIN
    UPDATE relations SET mention_count = mention_count - old.count + new.count WHERE id = new.relation_id;
END;

CREATE TRIGGER evidence_deleted AFTER DELETE ON relation_evidence BEGIN
    INSERT INTO graph_queue SELECT n.item FROM relations r
        JOIN (SELECT 'x' || old.src_named AS item UNION SELECT 'x' || old.dst_named) n
        WHERE r.id = old.relation_id AND r.type = 'RENAMED_TO'
        AND NOT EXISTS (SELECT 1 FROM graph_queue q WHERE q.item = n.item);
    DELETE FROM relations WHERE id = old.relation_id
        AND NOT EXISTS (SELECT 1 FROM relation_evidence e WHERE e.relation_id = old.relation_id);
    UPDATE relations SET mention_count = mention_count - old.count WHERE id = old.relation_id;
    UPDATE relations
        SET valid_from = (SELECT min(e.ts) FROM relation_evidence e WHERE e.relation_id = old.relation_id)
        WHERE id = old.relation_id AND valid_from = old.ts AND NOT EXISTS (
            SELECT 1 FROM relations r WHERE r.src = relations.src AND r.dst = relations.dst AND r.type = relations.type
            AND r.valid_from = (SELECT min(e.ts) FROM relation_evidence e WHERE e.relation_id = old.relation_id));
    UPDATE relations
        SET valid_to = (SELECT max(e.until_ts) FROM relation_evidence e WHERE e.relation_id = old.relation_id)
        WHERE id = old.relation_id AND old.until_ts IS valid_to AND NOT EXISTS (
            SELECT 1 FROM relation_evidence e WHERE e.relation_id = old.relation_id AND e.until_ts IS NULL);
END;

CREATE TRIGGER evidence_inserted AFTER INSERT ON relation_evidence BEGIN
    UPDATE relations SET mention_count = mention_count + new.count WHERE id = new.relation_id;
END;

CREATE TRIGGER relations_deleted AFTER DELETE ON relations BEGIN
    DELETE FROM relation_evidence WHERE relation_id = old.id;
END;

CREATE TRIGGER stories_came_to_team AFTER INSERT ON summaries
WHEN new.scope <> 'event' AND EXISTS (SELECT 1 FROM team_links) BEGIN
    INSERT INTO team_changes (uid, kind, op) VALUES (new.scope || ':' || new.event_id, 'summary', 'put');
END;

CREATE TRIGGER stories_changed_for_team AFTER UPDATE OF text, said_by, ts ON summaries
WHEN new.scope <> 'event' AND EXISTS (SELECT 1 FROM team_links) BEGIN
    INSERT INTO team_changes (uid, kind, op) VALUES (new.scope || ':' || new.event_id, 'summary', 'put');
END;

CREATE TRIGGER stories_left_team AFTER DELETE ON summaries
WHEN old.scope <> 'event' AND EXISTS (SELECT 1 FROM team_links) BEGIN
    INSERT INTO team_changes (uid, kind, op) VALUES (old.scope || ':' || old.event_id, 'summary', 'forget');
END;

CREATE TRIGGER summaries_deleted AFTER DELETE ON summaries BEGIN
    INSERT INTO summaries_fts (summaries_fts, rowid, text, words) VALUES ('delete', old.id, old.text, old.words);
    INSERT INTO summaries_trigrams (summaries_trigrams, rowid, text) VALUES ('delete', old.id, old.text);
END;

CREATE TRIGGER summaries_gone AFTER DELETE ON summaries BEGIN
    DELETE FROM summary_embeddings WHERE summary_id = old.id;
    DELETE FROM summary_supersedes WHERE newer_id = old.id OR older_id = old.id;
    DELETE FROM provenance_edges WHERE src_kind = 'summary' AND src_id = old.id;
END;

CREATE TRIGGER summaries_inserted AFTER INSERT ON summaries BEGIN
    INSERT INTO summaries_fts (rowid, text, words) VALUES (new.id, new.text, new.words);
    INSERT INTO summaries_trigrams (rowid, text) VALUES (new.id, new.text);
END;

CREATE TRIGGER summaries_rewritten AFTER UPDATE OF text ON summaries WHEN old.text <> new.text BEGIN
    DELETE FROM summary_embeddings WHERE summary_id = new.id;
END;

CREATE TRIGGER summaries_updated AFTER UPDATE OF id, text, words ON summaries BEGIN
    INSERT INTO summaries_fts (summaries_fts, rowid, text, words) VALUES ('delete', old.id, old.text, old.words);
    INSERT INTO summaries_trigrams (summaries_trigrams, rowid, text) VALUES ('delete', old.id, old.text);
    INSERT INTO summaries_fts (rowid, text, words) VALUES (new.id, new.text, new.words);
    INSERT INTO summaries_trigrams (rowid, text) VALUES (new.id, new.text);
END;

CREATE TRIGGER embeddings_deleted AFTER DELETE ON summary_embeddings BEGIN
    INSERT INTO vector_changes (summary_id) VALUES (old.summary_id);
END;

CREATE TRIGGER embeddings_inserted AFTER INSERT ON summary_embeddings BEGIN
    INSERT INTO vector_changes (summary_id) VALUES (new.summary_id);
END;

CREATE TRIGGER embeddings_updated AFTER UPDATE ON summary_embeddings BEGIN
    INSERT INTO vector_changes (summary_id) VALUES (old.summary_id);
    INSERT INTO vector_changes (summary_id) SELECT new.summary_id WHERE new.summary_id <> old.summary_id;
END;

CREATE TRIGGER stories_hidden_for_team AFTER INSERT ON summary_supersedes WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    UPDATE summaries SET text = text WHERE id = new.older_id AND scope <> 'event';
END;

CREATE TRIGGER stories_shown_for_team AFTER DELETE ON summary_supersedes WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    UPDATE summaries SET text = text WHERE id = old.older_id AND scope <> 'event';
END;

CREATE TRIGGER supersedes_deleted AFTER DELETE ON summary_supersedes
WHEN EXISTS (SELECT 1 FROM summaries WHERE id = old.newer_id) AND EXISTS (SELECT 1 FROM summaries WHERE id = old.older_id)
BEGIN
    INSERT OR IGNORE INTO kept_apart (a_event, b_event)
    SELECT min(a.event_id, b.event_id), max(a.event_id, b.event_id) FROM summaries a, summaries b
    WHERE a.id = old.newer_id AND b.id = old.older_id;
END;

CREATE TRIGGER supersedes_gone AFTER DELETE ON summary_supersedes BEGIN
    INSERT INTO vector_changes (summary_id) VALUES (old.older_id);
END;

CREATE TRIGGER team_change_marked INSTEAD OF INSERT ON team_changes BEGIN
    INSERT INTO team_dirty (uid, kind, rev, op, parked, ts)
    SELECT new.uid, new.kind, max(now, coalesce((SELECT rev + 1 FROM team_shared WHERE uid = new.uid), 0)), new.op, NULL,
        now
    FROM (SELECT coalesce(new.ts, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS now) WHERE true
    ON CONFLICT (uid) DO UPDATE SET rev = max(rev + 1, excluded.rev), op = excluded.op, parked = NULL;
END;

CREATE VIEW team_changes AS SELECT uid, kind, op, ts FROM team_dirty;
