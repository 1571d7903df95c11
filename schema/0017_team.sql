-- A team's memory (docs/team.md). In a workspace's own store: which team it has joined, what of its own the team has, and
-- what waits to be told. In the replica of a team's items, which is a store of its own beside it (`team.db`): what of its
-- rows is which item. A workspace that has joined none pays one look into an empty table for a fact, or a story, that
-- changes.

-- At most one row. The token is no part of it: it lies in a file of its own.
CREATE TABLE team_links (
    project     TEXT PRIMARY KEY,          -- the team's id of its project
    name        TEXT NOT NULL,
    url         TEXT NOT NULL,
    device      TEXT NOT NULL,             -- what the server calls this store
    person      TEXT NOT NULL,
    person_name TEXT NOT NULL,
    epoch       TEXT NOT NULL,             -- of the server's database: new once it was restored
    share       TEXT NOT NULL,             -- JSON: the kinds that are shared
    ts          INTEGER NOT NULL,
    problem     TEXT,                      -- why nothing goes up or comes down any more
    problem_ts  INTEGER,
    pushed_ts   INTEGER,
    pulled_ts   INTEGER
) WITHOUT ROWID;

-- What has changed since it was last told: a set, no list of deeds, so that a year without a network costs one row for
-- each thing. `uid` is a fact's, or says which story of which event; `rev` is the one that the next telling has.
CREATE TABLE team_dirty (
    uid    TEXT PRIMARY KEY,
    kind   TEXT NOT NULL CHECK (kind IN ('fact', 'summary', 'knowledge')),
    rev    INTEGER NOT NULL,
    op     TEXT NOT NULL CHECK (op IN ('put', 'forget')),
    parked TEXT,                           -- why the server does not take it
    ts     INTEGER NOT NULL                -- since when it waits
) WITHOUT ROWID;

-- What the server has of it, without a word of it.
CREATE TABLE team_shared (
    uid     TEXT PRIMARY KEY,
    kind    TEXT NOT NULL,
    id      TEXT NOT NULL UNIQUE,          -- the item's
    source  TEXT NOT NULL,
    rev     INTEGER NOT NULL,
    hash    TEXT NOT NULL,
    is_gone INTEGER NOT NULL DEFAULT 0     -- forgotten: told again to a server that was restored
) WITHOUT ROWID;

-- Forgettings that not every device has applied yet, as far as is known: the place in the feed, and how many items.
CREATE TABLE team_forgets (
    seq   INTEGER PRIMARY KEY,
    items INTEGER NOT NULL,
    ts    INTEGER NOT NULL
);

-- Items of which an agent is given nothing unasked any more, at a person's word, in the workspace's own store: by
-- the id that an item has everywhere, since a replica that is pulled anew numbers anew. In the log as `mute`.
CREATE TABLE muted_items (
    id TEXT PRIMARY KEY,
    ts INTEGER NOT NULL
) WITHOUT ROWID;

-- Of a replica: which item a row is. `t12` is number 12, whichever table the row is in.
CREATE TABLE team_items (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL UNIQUE,
    seq           INTEGER NOT NULL,        -- place in the feed; 0: not seen since everything is pulled again
    rev           INTEGER NOT NULL,
    hash          TEXT NOT NULL,
    source        TEXT NOT NULL,
    source_ref    TEXT NOT NULL,
    author        TEXT NOT NULL,
    author_name   TEXT NOT NULL,
    device        TEXT NOT NULL,
    visibility    TEXT NOT NULL,
    is_own        INTEGER NOT NULL,        -- the own store has it: it has no row in facts or summaries
    metadata      TEXT NOT NULL,
    superseded_by TEXT,
    owner_kind    TEXT NOT NULL CHECK (owner_kind IN ('fact', 'summary')),
    ts            INTEGER NOT NULL
);
CREATE INDEX items_by_seq ON team_items (seq);
CREATE INDEX items_by_source ON team_items (source, source_ref);
CREATE INDEX items_by_successor ON team_items (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX facts_vital ON facts (id) WHERE importance >= 5;  -- asked for at each session's start, among very many

-- What marks a change inserts it here, and says no more than what it is. Where it waits already it waits once, under a
-- later `rev`; a rev is a moment, and later than the one that the team has.
CREATE VIEW team_changes AS SELECT uid, kind, op, ts FROM team_dirty;
CREATE TRIGGER team_change_marked INSTEAD OF INSERT ON team_changes BEGIN
    INSERT INTO team_dirty (uid, kind, rev, op, parked, ts)
    SELECT new.uid, new.kind, max(now, coalesce((SELECT rev + 1 FROM team_shared WHERE uid = new.uid), 0)), new.op, NULL,
        now
    FROM (SELECT coalesce(new.ts, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS now) WHERE true
    ON CONFLICT (uid) DO UPDATE SET rev = max(rev + 1, excluded.rev), op = excluded.op, parked = NULL;
END;

CREATE TRIGGER facts_came_to_team AFTER INSERT ON facts WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    INSERT INTO team_changes (uid, kind, op) VALUES (coalesce(new.uid, 'm' || new.id), 'fact', 'put');
END;
CREATE TRIGGER facts_changed_for_team AFTER UPDATE OF uid, text, category, tags, importance, valid_from, valid_to,
    status, superseded_by, scope, waits, said_by, topic, project, pinned ON facts
WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    INSERT INTO team_changes (uid, kind, op) VALUES (coalesce(new.uid, 'm' || new.id), 'fact', 'put');
END;
CREATE TRIGGER facts_left_team AFTER DELETE ON facts WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    INSERT INTO team_changes (uid, kind, op) VALUES (coalesce(old.uid, 'm' || old.id), 'fact', 'forget');
END;

-- A story is known by its event's number, which a rebuild gives it again: when it goes, the event is gone already.
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
CREATE TRIGGER stories_hidden_for_team AFTER INSERT ON summary_supersedes WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    UPDATE summaries SET text = text WHERE id = new.older_id AND scope <> 'event';
END;
CREATE TRIGGER stories_shown_for_team AFTER DELETE ON summary_supersedes WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    UPDATE summaries SET text = text WHERE id = old.older_id AND scope <> 'event';
END;
CREATE TRIGGER stories_muted_for_team AFTER INSERT ON muted_events WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    UPDATE summaries SET text = text WHERE event_id = new.event_id AND scope <> 'event';
END;
CREATE TRIGGER stories_unmuted_for_team AFTER DELETE ON muted_events WHEN EXISTS (SELECT 1 FROM team_links) BEGIN
    UPDATE summaries SET text = text WHERE event_id = old.event_id AND scope <> 'event';
END;
