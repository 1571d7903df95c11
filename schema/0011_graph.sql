-- The graph: who and what the events, facts and documents of a workspace name, and how these hang together
-- (siftd/graph/). All of it is derived, and made again by the consolidator where it is deleted; but the merges, which a
-- person asked for: they are records of the log, and name entities by keyed hashes. Costs some 200 bytes for each thing
-- that an item says.
--
-- What is known hangs on items: e12 an event, m3 a fact, d4 a document. Where an item goes, what it alone has said goes
-- with it, by trigger; a relation that an item says no longer (a document changed) ends, and stays as history.

CREATE TABLE entities (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,    -- cited x3
    name          TEXT NOT NULL,                        -- as it was written first
    type          TEXT NOT NULL,                        -- siftd/graph/model.py
    aliases       TEXT NOT NULL DEFAULT '[]',           -- its other names as JSON; by trigger of entity_aliases
    description   TEXT NOT NULL DEFAULT '',             -- a sentence that says what it is
    mention_count INTEGER NOT NULL DEFAULT 0,           -- by trigger of mentions
    merged_into   INTEGER REFERENCES entities (id) ON DELETE SET NULL,
    name_key      TEXT NOT NULL,                        -- what two spellings of one name have in common
    mark          TEXT NOT NULL,                        -- keyed hash of type and key: merges name it so
    described_by  TEXT,                                 -- the item that the description is from
    ts            INTEGER NOT NULL,                     -- when it was first spoken of
    UNIQUE (type, name_key)
);
CREATE INDEX entities_by_key ON entities (name_key);
CREATE INDEX entities_by_mark ON entities (mark);
CREATE INDEX entities_merged ON entities (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX entities_described ON entities (described_by) WHERE described_by IS NOT NULL;

CREATE TABLE entity_aliases (
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    alias_key TEXT NOT NULL,
    item      TEXT NOT NULL,                            -- that says so
    alias     TEXT NOT NULL,
    PRIMARY KEY (entity_id, alias_key, item)
) WITHOUT ROWID;
CREATE INDEX aliases_by_key ON entity_aliases (alias_key);
CREATE INDEX aliases_by_item ON entity_aliases (item);

CREATE TABLE mentions (
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    item      TEXT NOT NULL,
    named     INTEGER NOT NULL,                         -- the entity that it names: another one only after a merge
    count     INTEGER NOT NULL DEFAULT 1,
    line      INTEGER,                                  -- the first one, of a document
    PRIMARY KEY (entity_id, item, named)
) WITHOUT ROWID;
CREATE INDEX mentions_by_item ON mentions (item);
CREATE INDEX mentions_by_named ON mentions (named);

CREATE TABLE relations (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    src           INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    dst           INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    type          TEXT NOT NULL,                        -- DEPENDS_ON, siftd/graph/model.py
    source        TEXT NOT NULL,                        -- by what it was first known: prose, manifest, code, call, git
    valid_from    INTEGER NOT NULL,
    valid_to      INTEGER,                              -- when it ended; NULL: it holds
    mention_count INTEGER NOT NULL DEFAULT 0,           -- by trigger of relation_evidence
    UNIQUE (src, dst, type, valid_from)
);
CREATE INDEX relations_by_target ON relations (dst, type);

CREATE TABLE relation_evidence (
    relation_id INTEGER NOT NULL REFERENCES relations (id) ON DELETE CASCADE,
    item        TEXT NOT NULL,
    src_named   INTEGER NOT NULL,                       -- } as in mentions
    dst_named   INTEGER NOT NULL,                       -- }
    line        INTEGER,                                -- where it says so first, of a document
    count       INTEGER NOT NULL DEFAULT 1,
    ts          INTEGER NOT NULL,                       -- since when it says so
    until_ts    INTEGER,                                -- since when it says so no longer
    way         TEXT NOT NULL,                          -- as relations.source
    PRIMARY KEY (relation_id, item, src_named, dst_named, ts)
) WITHOUT ROWID;
CREATE INDEX evidence_by_item ON relation_evidence (item);

CREATE TABLE entity_merges (
    id       INTEGER PRIMARY KEY,                       -- of its record in the log
    ts       INTEGER NOT NULL,
    src_mark TEXT NOT NULL,                             -- what was merged
    dst_mark TEXT NOT NULL,                             -- into what
    undone_ts INTEGER
);
CREATE INDEX merges_by_source ON entity_merges (src_mark);

-- What is to be read again, m3 and d4, and after which entities to look, x5. New events are read without it.
CREATE TABLE graph_queue (item TEXT PRIMARY KEY) WITHOUT ROWID;

-- Of which reading of a document the graph holds what it says: a text that changed without a new one was redacted, and
-- what it said before is no history.
CREATE TABLE graph_documents (
    document_id  INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    content_hash TEXT NOT NULL
);

CREATE VIRTUAL TABLE entities_fts USING fts5 (
    name, aliases, description, content = 'entities', content_rowid = 'id',
    tokenize = 'unicode61 remove_diacritics 2');

-- An upsert's way with conflicts would be its triggers' too: none of them leaves one to OR IGNORE.
CREATE TRIGGER entities_inserted AFTER INSERT ON entities BEGIN
    INSERT INTO entities_fts (rowid, name, aliases, description)
        VALUES (new.id, new.name, new.aliases, new.description);
END;
CREATE TRIGGER entities_updated AFTER UPDATE OF id, name, aliases, description ON entities BEGIN
    INSERT INTO entities_fts (entities_fts, rowid, name, aliases, description)
        VALUES ('delete', old.id, old.name, old.aliases, old.description);
    INSERT INTO entities_fts (rowid, name, aliases, description)
        VALUES (new.id, new.name, new.aliases, new.description);
END;
-- Foreign keys are off in the sqlite3 program: what hangs on an entity goes by trigger there.
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
CREATE TRIGGER entities_renamed AFTER UPDATE OF name ON entities WHEN old.name <> new.name BEGIN
    DELETE FROM embeddings WHERE owner_kind = 'entity' AND owner_id = old.id;
END;

CREATE TRIGGER aliases_inserted AFTER INSERT ON entity_aliases BEGIN
    UPDATE entities SET aliases = (SELECT json_group_array(alias) FROM (
        SELECT min(alias) AS alias FROM entity_aliases WHERE entity_id = new.entity_id GROUP BY alias_key ORDER BY 1))
    WHERE id = new.entity_id;
END;
CREATE TRIGGER aliases_deleted AFTER DELETE ON entity_aliases BEGIN
    UPDATE entities SET aliases = (SELECT json_group_array(alias) FROM (
        SELECT min(alias) AS alias FROM entity_aliases WHERE entity_id = old.entity_id GROUP BY alias_key ORDER BY 1))
    WHERE id = old.entity_id;
END;

CREATE TRIGGER mentions_inserted AFTER INSERT ON mentions BEGIN
    UPDATE entities SET mention_count = mention_count + new.count WHERE id = new.entity_id;
END;
CREATE TRIGGER mentions_updated AFTER UPDATE OF entity_id, count ON mentions BEGIN
    UPDATE entities SET mention_count = mention_count - old.count WHERE id = old.entity_id;
    UPDATE entities SET mention_count = mention_count + new.count WHERE id = new.entity_id;
END;
CREATE TRIGGER mentions_deleted AFTER DELETE ON mentions BEGIN
    UPDATE entities SET mention_count = mention_count - old.count WHERE id = old.entity_id;
    UPDATE entities SET description = '', described_by = NULL WHERE id = old.named AND described_by = old.item;
    -- The last one who named it: nobody may read the name any more. One into which others were merged waits for these
    -- to be parted from it (siftd/store/graph_merges.py).
    INSERT INTO graph_queue SELECT 'x' || old.named
        WHERE EXISTS (SELECT 1 FROM mentions m WHERE m.entity_id = old.named)
        AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.named = old.named)
        AND NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'x' || old.named);
    DELETE FROM entities WHERE id = old.named
        AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.named = old.named)
        AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.entity_id = old.named);
END;

CREATE TRIGGER evidence_inserted AFTER INSERT ON relation_evidence BEGIN
    UPDATE relations SET mention_count = mention_count + new.count WHERE id = new.relation_id;
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
    -- It holds since, and until, what is left says so.
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
CREATE TRIGGER relations_deleted AFTER DELETE ON relations BEGIN
    DELETE FROM relation_evidence WHERE relation_id = old.id;
END;

-- Where an item goes, and where its text changes.
CREATE TRIGGER events_left_graph AFTER DELETE ON events BEGIN
    DELETE FROM entity_aliases WHERE item = 'e' || old.id;
    DELETE FROM relation_evidence WHERE item = 'e' || old.id;
    DELETE FROM mentions WHERE item = 'e' || old.id;
    DELETE FROM graph_queue WHERE item = 'e' || old.id;
END;
CREATE TRIGGER events_changed_in_graph AFTER UPDATE OF payload_json ON events
    WHEN old.payload_json <> new.payload_json BEGIN
    DELETE FROM entity_aliases WHERE item = 'e' || old.id;
    DELETE FROM relation_evidence WHERE item = 'e' || old.id;
    DELETE FROM mentions WHERE item = 'e' || old.id;
    INSERT INTO graph_queue SELECT 'e' || old.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'e' || old.id);
END;
CREATE TRIGGER facts_came_to_graph AFTER INSERT ON facts BEGIN
    INSERT INTO graph_queue SELECT 'm' || new.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'm' || new.id);
END;
CREATE TRIGGER facts_left_graph AFTER DELETE ON facts BEGIN
    DELETE FROM entity_aliases WHERE item = 'm' || old.id;
    DELETE FROM relation_evidence WHERE item = 'm' || old.id;
    DELETE FROM mentions WHERE item = 'm' || old.id;
    DELETE FROM graph_queue WHERE item = 'm' || old.id;
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
CREATE TRIGGER facts_judged_in_graph AFTER UPDATE OF status, valid_from, valid_to ON facts
    WHEN old.status <> new.status OR old.valid_from IS NOT new.valid_from OR old.valid_to IS NOT new.valid_to BEGIN
    INSERT INTO graph_queue SELECT 'm' || new.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'm' || new.id);
END;
CREATE TRIGGER documents_came_to_graph AFTER INSERT ON documents BEGIN
    INSERT INTO graph_queue SELECT 'd' || new.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'd' || new.id);
END;
CREATE TRIGGER documents_changed_in_graph AFTER UPDATE OF content_hash, path, url, type ON documents BEGIN
    INSERT INTO graph_queue SELECT 'd' || new.id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'd' || new.id);
END;
CREATE TRIGGER texts_changed_in_graph AFTER UPDATE OF text ON document_texts WHEN old.text <> new.text BEGIN
    INSERT INTO graph_queue SELECT 'd' || new.document_id
        WHERE NOT EXISTS (SELECT 1 FROM graph_queue WHERE item = 'd' || new.document_id);
END;
CREATE TRIGGER documents_left_graph AFTER DELETE ON documents BEGIN
    DELETE FROM entity_aliases WHERE item = 'd' || old.id;
    DELETE FROM relation_evidence WHERE item = 'd' || old.id;
    DELETE FROM mentions WHERE item = 'd' || old.id;
    DELETE FROM graph_queue WHERE item = 'd' || old.id;
    DELETE FROM graph_documents WHERE document_id = old.id;
END;

-- What is there already.
INSERT INTO graph_queue SELECT 'm' || id FROM facts;
INSERT OR IGNORE INTO graph_queue SELECT 'd' || id FROM documents;
