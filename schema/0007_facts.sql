-- One noun: what was a memory is a fact that was kept on purpose. Ids stay. A fact is of a category, holds from
-- `valid_from` (null: since `ts`) until `valid_to`, and is `active` until something newer takes its place. What replaced it
-- may be forgotten; it stays replaced, so that this is a status and no link. `memories` and `memory_links` stay as views of
-- the released columns. `fact_sources` are the events that a fact was taken from, `fact_history` the verdicts on it by the
-- seq of their records, `fact_uses` what came of it. Full text is filled anew.

DROP TRIGGER memories_deleted;
DROP TRIGGER memories_inserted;
DROP TRIGGER memories_rewritten;
DROP TRIGGER memories_unindexed;
DROP TRIGGER memories_updated;
DROP TABLE memories_fts;
DROP TABLE memories_trigrams;
DROP INDEX memories_by_session;
DROP INDEX links_by_target;
DROP INDEX injections_by_memory;

ALTER TABLE memories RENAME TO facts;
ALTER TABLE facts RENAME COLUMN type TO category;
ALTER TABLE memory_links RENAME TO fact_links;
ALTER TABLE memory_reads RENAME TO fact_reads;
ALTER TABLE fact_reads RENAME COLUMN memory_id TO fact_id;
ALTER TABLE injections RENAME COLUMN memory_id TO fact_id;

ALTER TABLE facts ADD COLUMN status TEXT NOT NULL DEFAULT 'active'
    CHECK (status IN ('active', 'superseded', 'contradicted', 'archived'));
ALTER TABLE facts ADD COLUMN superseded_by INTEGER REFERENCES facts (id) ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE facts ADD COLUMN scope TEXT NOT NULL DEFAULT 'project'  -- session: no more than what one session said
    CHECK (scope IN ('session', 'project'));
ALTER TABLE facts ADD COLUMN origin TEXT NOT NULL DEFAULT 'kept' CHECK (origin IN ('kept', 'extracted', 'learnt'));
ALTER TABLE facts ADD COLUMN topic TEXT;                -- one fact at a time holds of it: command:test
ALTER TABLE facts ADD COLUMN quote TEXT;                -- the words that it was taken from
ALTER TABLE facts ADD COLUMN client TEXT;               -- the agent in whose session it was said

CREATE TABLE fact_sources (
    fact_id  INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE ON UPDATE CASCADE,
    event_id INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    PRIMARY KEY (fact_id, event_id)
) WITHOUT ROWID;
CREATE INDEX sources_by_event ON fact_sources (event_id);

CREATE TABLE fact_history (
    id       INTEGER PRIMARY KEY,                       -- the seq of its record in the log
    fact_id  INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE ON UPDATE CASCADE,
    ts       INTEGER NOT NULL,
    what     TEXT NOT NULL,                             -- merge, supersede, contradict, confirm, outdate, correct, ...
    by_id    INTEGER,                                   -- the fact that it came of
    who      TEXT NOT NULL,                             -- person, agent, rule, model, use
    why      TEXT,
    old_text TEXT                                       -- what it said before, where that has changed
);
CREATE INDEX history_by_fact ON fact_history (fact_id, id);

CREATE TABLE fact_uses (
    fact_id   INTEGER PRIMARY KEY REFERENCES facts (id) ON DELETE CASCADE ON UPDATE CASCADE,
    given     INTEGER NOT NULL DEFAULT 0,               -- to an agent, unasked
    used      INTEGER NOT NULL DEFAULT 0,               -- given and then touched, or asked for by its id
    confirmed INTEGER NOT NULL DEFAULT 0,
    last_ts   INTEGER                                   -- when it was last used or confirmed; to be given is no use
);

INSERT OR IGNORE INTO fact_sources
SELECT p.src_id, p.dst_id FROM provenance_edges p JOIN facts f ON f.id = p.src_id JOIN events e ON e.id = p.dst_id
WHERE p.src_kind = 'memory' AND p.dst_kind = 'event';
DELETE FROM provenance_edges WHERE src_kind = 'memory';

UPDATE facts SET (status, superseded_by, valid_to) = (
    SELECT 'superseded', x.from_id, CASE WHEN facts.valid_to < x.ts THEN facts.valid_to ELSE x.ts END
    FROM fact_links x JOIN facts n ON n.id = x.from_id
    WHERE x.to_id = facts.id AND x.relation = 'supersedes' AND NOT n.waits ORDER BY x.ts DESC, n.id DESC LIMIT 1)
WHERE EXISTS (SELECT 1 FROM fact_links x JOIN facts n ON n.id = x.from_id
              WHERE x.to_id = facts.id AND x.relation = 'supersedes' AND NOT n.waits);
UPDATE embeddings SET owner_kind = 'fact' WHERE owner_kind = 'memory';

CREATE INDEX facts_by_session ON facts (session_id);
CREATE INDEX facts_by_topic ON facts (topic) WHERE topic IS NOT NULL;
CREATE INDEX facts_by_successor ON facts (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX fact_links_by_target ON fact_links (to_id, relation);
CREATE INDEX injections_by_fact ON injections (fact_id);

CREATE VIRTUAL TABLE facts_fts USING fts5 (
    text, words, content = 'facts', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE facts_trigrams USING fts5 (
    text, content = 'facts', content_rowid = 'id', tokenize = 'trigram', detail = 'none');
INSERT INTO facts_fts (facts_fts) VALUES ('rebuild');
INSERT INTO facts_trigrams (facts_trigrams) VALUES ('rebuild');

CREATE TRIGGER facts_inserted AFTER INSERT ON facts BEGIN
    INSERT INTO facts_fts (rowid, text, words) VALUES (new.id, new.text, new.words);
    INSERT INTO facts_trigrams (rowid, text) VALUES (new.id, new.text);
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
-- A text or an id changed by hand: the vector goes, and the next tick makes vector and words anew.
CREATE TRIGGER facts_rewritten AFTER UPDATE OF id, text ON facts
WHEN old.text <> new.text OR old.id <> new.id BEGIN
    DELETE FROM embeddings WHERE owner_kind = 'fact' AND owner_id IN (old.id, new.id);
END;
-- Foreign keys are off in the sqlite3 program: what hangs on a fact goes by trigger there.
CREATE TRIGGER facts_deleted AFTER DELETE ON facts BEGIN
    DELETE FROM embeddings WHERE owner_kind = 'fact' AND owner_id = old.id;
    DELETE FROM fact_links WHERE from_id = old.id OR to_id = old.id;
    DELETE FROM fact_sources WHERE fact_id = old.id;
    DELETE FROM fact_history WHERE fact_id = old.id;
    DELETE FROM fact_uses WHERE fact_id = old.id;
END;

CREATE VIEW memories AS
SELECT id, ts, updated_ts, category AS type, text, tags, project, importance, confidence, valid_from, valid_to,
       session_id, source, pinned, uid, words, said_by, waits FROM facts;
CREATE VIEW memory_links AS SELECT from_id, to_id, relation, ts FROM fact_links;
