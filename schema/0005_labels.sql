-- What rekal's users know: a label of their own on memories and conversations (`memories.project` is there already), a
-- conversation that follows up on one and branches from another, how often a memory was read through their tools
-- (derived from nothing and lost with the database). A memory's tags are found like its words.

ALTER TABLE conversations ADD COLUMN project TEXT;
ALTER TABLE conversations ADD COLUMN branches_from TEXT;    -- beside the parent that it follows up on
CREATE INDEX conversations_by_branch ON conversations (branches_from);

CREATE TABLE memory_reads (
    memory_id INTEGER PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    reads     INTEGER NOT NULL,
    last_ts   INTEGER NOT NULL
);

UPDATE memories SET words = NULL WHERE tags <> '[]';
