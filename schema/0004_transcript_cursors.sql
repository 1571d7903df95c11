-- How far the transcripts that hooks name were read (siftd/backfill/following.py). `file` is a keyed hash of the path and
-- `seen` one of the bytes before the place, so that nothing of anybody's stands here. Derived: without it a file is read
-- from its beginning, and what it tells is known already.

CREATE TABLE transcript_cursors (
    file TEXT PRIMARY KEY,
    offset INTEGER NOT NULL,
    seen TEXT NOT NULL,
    ts INTEGER NOT NULL
) WITHOUT ROWID;
