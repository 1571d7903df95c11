-- Notes: what the files of a project's notes say (siftd/notes/), entry by entry, so that a search finds it. Derived from
-- the files alone: emptied when anything is taken out of them, never exported, made again at the next tick. Costs about
-- three times what the files hold.

CREATE TABLE note_files (
    id       INTEGER PRIMARY KEY,
    project  TEXT NOT NULL,                             -- as ids name it: n:api/decisions.md:14
    file     TEXT NOT NULL,                             -- decisions.md, archive/2026-11.md
    size     INTEGER NOT NULL,                          -- } by these it is known to be unchanged
    mtime_ns INTEGER NOT NULL,                          -- }
    inode    INTEGER NOT NULL,                          -- }
    sha256   TEXT NOT NULL,                             -- and by this, when only they have changed
    UNIQUE (project, file)
);

CREATE TABLE notes (
    id      INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES note_files (id) ON DELETE CASCADE,
    line    INTEGER NOT NULL,                           -- its first one in the file, from 1
    heading TEXT NOT NULL,                              -- those above it, the nearest last
    text    TEXT NOT NULL
);
CREATE INDEX notes_by_file ON notes (file_id, line);

CREATE VIRTUAL TABLE notes_fts USING fts5 (
    text, heading, content = 'notes', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2');

CREATE TRIGGER notes_inserted AFTER INSERT ON notes BEGIN
    INSERT INTO notes_fts (rowid, text, heading) VALUES (new.id, new.text, new.heading);
END;
CREATE TRIGGER notes_deleted AFTER DELETE ON notes BEGIN
    INSERT INTO notes_fts (notes_fts, rowid, text, heading) VALUES ('delete', old.id, old.text, old.heading);
END;
CREATE TRIGGER notes_updated AFTER UPDATE OF id, text, heading ON notes BEGIN
    INSERT INTO notes_fts (notes_fts, rowid, text, heading) VALUES ('delete', old.id, old.text, old.heading);
    INSERT INTO notes_fts (rowid, text, heading) VALUES (new.id, new.text, new.heading);
END;
-- Foreign keys are off in the sqlite3 program: what hangs on a file goes by trigger there.
CREATE TRIGGER note_files_deleted AFTER DELETE ON note_files BEGIN
    DELETE FROM notes WHERE file_id = old.id;
END;
