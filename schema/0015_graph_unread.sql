-- Readings of documents that newer ones have replaced before the graph read them: a rebuild replays them all at once, and
-- what an older reading said and a newer one says no longer is history. A reading goes once the graph holds it.

CREATE TABLE graph_unread (
    id          INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    ts          INTEGER NOT NULL,
    type        TEXT NOT NULL,
    text        TEXT NOT NULL
);
CREATE INDEX unread_by_document ON graph_unread (document_id, id);
-- Foreign keys are off in the sqlite3 program: what hangs on a document goes by trigger there.
CREATE TRIGGER documents_left_unread AFTER DELETE ON documents BEGIN
    DELETE FROM graph_unread WHERE document_id = old.id;
END;
