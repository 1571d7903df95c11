-- Documents that somebody had read in, and their chunks (siftd/store/documents.py). A document's id is the seq of the
-- first record that told of it, and stays when it is read in anew. `document_texts` is what the log tells, redacted;
-- the chunks are derived of it, together with full text and vectors: `split_by` says by which splitter, null that they
-- are still to be made. A chunk's text never changes under its id, and a vector's number only grows, so that whoever
-- holds vectors in memory reads those that are new. Costs about three times what the documents hold.

CREATE TABLE documents (
    id           INTEGER PRIMARY KEY,
    path         TEXT UNIQUE,                           -- } below the workspace's root without it; one of them, or none
    url          TEXT UNIQUE,                           -- } where a text was handed over: then its title names it
    type         TEXT NOT NULL,                         -- markdown, text, rest, html, code, notebook, pdf
    title        TEXT NOT NULL,
    content_hash TEXT NOT NULL,                         -- keyed, of what was read: nobody can test a guess against it
    chunk_count  INTEGER NOT NULL DEFAULT 0,
    metadata     TEXT NOT NULL DEFAULT '{}',
    ingested_ts  INTEGER NOT NULL,
    split_by     INTEGER
);
CREATE UNIQUE INDEX documents_by_title ON documents (title) WHERE path IS NULL AND url IS NULL;
CREATE INDEX documents_unsplit ON documents (id) WHERE split_by IS NULL;

CREATE TABLE document_texts (
    document_id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    text        TEXT NOT NULL
);

CREATE TABLE chunks (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    chunk_index INTEGER NOT NULL,
    heading     TEXT NOT NULL,                          -- those above it: Install > Linux
    line        INTEGER NOT NULL,                       -- its first one in the document, from 1
    text        TEXT NOT NULL,
    tokens      INTEGER NOT NULL,
    words       TEXT                                    -- what it is also found by: parts of its names
);
CREATE INDEX chunks_by_document ON chunks (document_id, chunk_index);

CREATE TABLE chunk_embeddings (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk_id INTEGER NOT NULL UNIQUE REFERENCES chunks (id) ON DELETE CASCADE,
    embedder TEXT    NOT NULL,
    dim      INTEGER NOT NULL,
    vec      BLOB    NOT NULL
);

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    text, heading, words, content = 'chunks', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2');

CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
    INSERT INTO chunks_fts (rowid, text, heading, words) VALUES (new.id, new.text, new.heading, new.words);
END;
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, text, heading, words)
    VALUES ('delete', old.id, old.text, old.heading, old.words);
END;
CREATE TRIGGER chunks_updated AFTER UPDATE OF id, text, heading, words ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, text, heading, words)
    VALUES ('delete', old.id, old.text, old.heading, old.words);
    INSERT INTO chunks_fts (rowid, text, heading, words) VALUES (new.id, new.text, new.heading, new.words);
END;
-- A text changed by hand: the vector goes, and the next tick makes it anew.
CREATE TRIGGER chunks_rewritten AFTER UPDATE OF id, text ON chunks
WHEN old.text <> new.text OR old.id <> new.id BEGIN
    DELETE FROM chunk_embeddings WHERE chunk_id IN (old.id, new.id);
END;
-- Foreign keys are off in the sqlite3 program: what hangs on a document goes by trigger there.
CREATE TRIGGER chunks_gone AFTER DELETE ON chunks BEGIN
    DELETE FROM chunk_embeddings WHERE chunk_id = old.id;
END;
CREATE TRIGGER documents_deleted AFTER DELETE ON documents BEGIN
    DELETE FROM document_texts WHERE document_id = old.id;
    DELETE FROM chunks WHERE document_id = old.id;
END;
