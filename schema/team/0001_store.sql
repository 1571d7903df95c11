-- What a team shares, in PostgreSQL 15 or newer. Everything belongs to the role siftd_owner, which nobody logs in as; the
-- server logs in as siftd_app, which may execute the functions of `functions/` and has no right to any table.
--
-- Each table that grows leads its key with project_id, and no statement crosses projects: so that one can be moved, and
-- many can be spread over several engines, without changing a statement.
--
-- @vector@ is pgvector's halfvec, with the schema that the extension is in; without vectors it is text, and stays NULL.

-- Facts of the whole store: its epoch, a uuid that is new after a restore.
CREATE TABLE meta (
    key   text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE persons (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name        text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    disabled_at timestamptz
);

-- `head` is the last place of the project's feed. It is taken under the row's lock, which makes the order of places the
-- order of commits: with a sequence, a follower misses what commits late.
CREATE TABLE projects (
    id       uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name     text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    embedder text NOT NULL CHECK (length(embedder) BETWEEN 1 AND 200),
    previous_embedder text,                        -- while vectors are made anew
    indexed_model text,                            -- for which an index of vectors is used: it was built, and measured
    dimensions integer,                            -- of its vectors: others are not kept, they would break comparing
    head     bigint NOT NULL DEFAULT 0,
    terms_at timestamptz,                          -- when `terms` was made,
    terms_head bigint NOT NULL DEFAULT 0,          -- of which place of the feed,
    terms_rows bigint NOT NULL DEFAULT 0,          -- over how many rows,
    terms_length real NOT NULL DEFAULT 1           -- of how many words in the mean
);

CREATE TABLE members (
    project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
    person     uuid NOT NULL REFERENCES persons,
    role       text NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
    since      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, person)
);
CREATE INDEX members_person ON members (person);

-- Sources that are off until somebody switches them on, and how much each ever told.
CREATE TABLE sources (
    project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
    source     text NOT NULL,
    is_on      boolean NOT NULL DEFAULT false,
    received   bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, source)
);

-- A device is a workspace's store of one person in one project.
CREATE TABLE devices (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
    person     uuid NOT NULL REFERENCES persons,
    store      uuid NOT NULL,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    joined_at  timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz,
    left_at    timestamptz
);
CREATE INDEX devices_project ON devices (project_id);

-- Only the SHA-256 of a token is kept. A token of no project is one for all projects of its person.
CREATE TABLE tokens (
    digest     bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    person     uuid NOT NULL REFERENCES persons,
    device     uuid REFERENCES devices ON DELETE CASCADE,
    project_id uuid REFERENCES projects ON DELETE CASCADE,
    kind       text NOT NULL CHECK (kind IN ('device', 'user', 'service')),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX tokens_device ON tokens (device);
CREATE INDEX tokens_person ON tokens (person);

-- An invitation is for one person, once.
CREATE TABLE invitations (
    digest     bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
    person     uuid NOT NULL REFERENCES persons,
    role       text NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    token_days integer CHECK (token_days > 0),     -- how long the token holds that it becomes; NULL: until revoked
    used_at    timestamptz
);

-- An item. Its id is made from project, source and source_ref, so that the natural key is the primary key.
CREATE TABLE memories (
    project_id      uuid NOT NULL,
    id              uuid NOT NULL,
    seq             bigint NOT NULL,
    rev             bigint NOT NULL,
    hash            bytea NOT NULL CHECK (octet_length(hash) = 32),
    source          text NOT NULL CHECK (source IN ('memory', 'fact', 'summary', 'note', 'knowledge', 'issue', 'comment',
                                                    'job', 'decision', 'policy')),
    source_ref      text NOT NULL CHECK (length(source_ref) BETWEEN 1 AND 512),
    author          uuid NOT NULL,
    device          uuid NOT NULL,
    visibility      text NOT NULL DEFAULT 'project' CHECK (visibility IN ('project', 'private')),
    was_shared      boolean NOT NULL DEFAULT true, -- others have it: they must hear where it becomes private
    text            text NOT NULL CHECK (length(text) <= 100000 AND octet_length(text) <= 400000),
    words           text NOT NULL DEFAULT '' CHECK (length(words) <= 100000 AND octet_length(words) <= 400000),
    metadata        jsonb NOT NULL DEFAULT '{}' CHECK (octet_length(metadata::text) <= 65536),
    ts              timestamptz NOT NULL,
    valid_from      timestamptz,
    valid_to        timestamptz,
    superseded_by   uuid,
    archived_at     timestamptz,
    stored_at         timestamptz NOT NULL DEFAULT now(),
    text_search     tsvector NOT NULL GENERATED ALWAYS AS
                    (to_tsvector('pg_catalog.english', text) || to_tsvector('pg_catalog.simple', words)) STORED,
    embedding_model text CHECK (length(embedding_model) BETWEEN 1 AND 200),
    vector          @vector@,                      -- no fixed dimension: a new model's rows live beside the old ones
    embedded_at     timestamptz,
    PRIMARY KEY (project_id, id)
) PARTITION BY HASH (project_id);

-- As many as there will ever be: so the number of indexes is a constant, whatever the number of projects.
DO $$ BEGIN
    FOR k IN 0..15 LOOP
        EXECUTE format('CREATE TABLE memories_%s PARTITION OF memories FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                       lpad(k::text, 2, '0'), k);
    END LOOP;
END $$;
CREATE UNIQUE INDEX memories_seq ON memories (project_id, seq);
CREATE INDEX memories_source ON memories (project_id, source, source_ref);
CREATE INDEX memories_text ON memories USING gin (text_search);
CREATE INDEX memories_model ON memories (project_id, embedding_model);

-- No statistics of what is said: PostgreSQL would keep samples of it where forgetting does not reach.
ALTER TABLE memories ALTER text SET STATISTICS 0, ALTER words SET STATISTICS 0, ALTER metadata SET STATISTICS 0,
    ALTER text_search SET STATISTICS 0, ALTER source_ref SET STATISTICS 0;

-- What was forgotten, and is refused for good. `is_final`: an item was there, or an admin said so; else it binds the
-- person alone who said it, so that nobody can keep out what another has yet to tell.
CREATE TABLE tombstones (
    project_id uuid NOT NULL,
    id         uuid NOT NULL,
    seq        bigint NOT NULL,
    at         timestamptz NOT NULL DEFAULT now(),
    by_person  uuid NOT NULL,
    author     uuid NOT NULL,
    was_shared boolean NOT NULL,
    is_final   boolean NOT NULL,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX tombstones_seq ON tombstones (project_id, seq);

-- How far each device has applied the feed.
CREATE TABLE cursors (
    project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
    device     uuid NOT NULL REFERENCES devices ON DELETE CASCADE,
    seq        bigint NOT NULL,
    at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, device)
);

-- In how many rows a word is: derived, and made anew when a tenth has changed.
CREATE TABLE terms (
    project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
    term       text NOT NULL,
    rows       integer NOT NULL,
    PRIMARY KEY (project_id, term)
);

ALTER TABLE terms ALTER term SET STATISTICS 0;

CREATE TABLE feedback (
    project_id uuid NOT NULL,
    id         uuid NOT NULL,
    person     uuid NOT NULL,
    verdict    text NOT NULL CHECK (verdict IN ('useful', 'wrong', 'outdated', 'irrelevant')),
    evidence   text NOT NULL DEFAULT '' CHECK (length(evidence) <= 2000),
    at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, id, person)
);
ALTER TABLE feedback ALTER evidence SET STATISTICS 0;

CREATE TABLE audit (
    project_id uuid NOT NULL,
    number     bigint GENERATED ALWAYS AS IDENTITY,
    at         timestamptz NOT NULL DEFAULT now(),
    person     uuid,                               -- nobody: the operator, by a command
    what       text NOT NULL CHECK (length(what) <= 500),
    id         uuid,
    PRIMARY KEY (project_id, number)
);

-- Files that still hold bytes of what was forgotten: for `siftd team vacuum`.
CREATE TABLE unvacuumed (
    project_id uuid PRIMARY KEY,
    since      timestamptz NOT NULL DEFAULT now(),
    items      bigint NOT NULL DEFAULT 0
);

-- No policy for anybody: whoever is not the owner sees no row, even if a right to a table were ever granted.
DO $$ DECLARE each text; BEGIN
    FOR each IN SELECT relname FROM pg_class WHERE relnamespace = 'siftd'::regnamespace AND relkind IN ('r', 'p') LOOP
        EXECUTE format('ALTER TABLE siftd.%I ENABLE ROW LEVEL SECURITY', each);
    END LOOP;
END $$;

INSERT INTO meta VALUES ('epoch', gen_random_uuid()::text);
