-- Pods: from where an agent is handed facts (siftd/facts/pods.py). They stand without rows, by rules; a row names a
-- playbook, or says of a pod what no rule can: who else is in it, who is left out, that it is archived. A row's id is the
-- seq of its record in the log, and what changes it names it by that. Costs nothing: two empty tables.

CREATE TABLE pods (
    id          INTEGER PRIMARY KEY,
    type        TEXT NOT NULL CHECK (type IN ('directive', 'vital', 'playbook', 'session', 'person', 'project')),
    external_id TEXT NOT NULL DEFAULT '',               -- a playbook's name, a session's id, a person's login, a project
    title       TEXT NOT NULL DEFAULT '',               -- as it is shown, and asked for
    status      TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
    ts          INTEGER NOT NULL,
    UNIQUE (type, external_id)
);

CREATE TABLE pod_members (
    pod_id   INTEGER NOT NULL REFERENCES pods (id) ON DELETE CASCADE,
    fact_id  INTEGER NOT NULL REFERENCES facts (id) ON DELETE CASCADE ON UPDATE CASCADE,
    role     TEXT NOT NULL CHECK (role IN ('fact', 'command', 'left out')),
    position INTEGER NOT NULL,                          -- the seq of the record that put it there
    PRIMARY KEY (pod_id, fact_id)
) WITHOUT ROWID;
CREATE INDEX members_by_fact ON pod_members (fact_id);

-- Foreign keys are off in the sqlite3 program: what hangs on a pod, or on a fact, goes by trigger there.
CREATE TRIGGER pods_deleted AFTER DELETE ON pods BEGIN
    DELETE FROM pod_members WHERE pod_id = old.id;
END;
CREATE TRIGGER facts_left_pods AFTER DELETE ON facts BEGIN
    DELETE FROM pod_members WHERE fact_id = old.id;
END;
