-- What items say to hold no longer ("no longer depends on"). Kept by itself, so that it counts in whichever order items are
-- read: what was said before ends there, also where that is read later, as everything is after a rebuild.

CREATE TABLE graph_ends (
    src_named INTEGER NOT NULL,
    dst_named INTEGER NOT NULL,
    type      TEXT NOT NULL,
    item      TEXT NOT NULL,
    ts        INTEGER NOT NULL,
    PRIMARY KEY (src_named, dst_named, type, item)
) WITHOUT ROWID;
CREATE INDEX ends_by_item ON graph_ends (item);

-- Where nobody says any more that it ended, it has not.
CREATE TRIGGER ends_deleted AFTER DELETE ON graph_ends BEGIN
    UPDATE relation_evidence SET until_ts = NULL WHERE until_ts = old.ts AND relation_id IN (
        SELECT r.id FROM relations r WHERE r.src = old.src_named AND r.dst = old.dst_named AND r.type = old.type)
        AND NOT EXISTS (
            SELECT 1 FROM graph_ends e WHERE e.src_named = old.src_named AND e.dst_named = old.dst_named
            AND e.type = old.type AND e.ts = old.ts);
    UPDATE relations SET valid_to = NULL
        WHERE src = old.src_named AND dst = old.dst_named AND type = old.type AND valid_to = old.ts AND EXISTS (
            SELECT 1 FROM relation_evidence v WHERE v.relation_id = relations.id AND v.until_ts IS NULL);
END;
CREATE TRIGGER mentions_left_ends AFTER DELETE ON mentions BEGIN
    DELETE FROM graph_ends WHERE item = old.item AND (src_named = old.named OR dst_named = old.named);
END;
