-- Events of which an agent is given nothing unasked any more, at a person's word; a search finds them as before. In the log
-- as `mute`.

CREATE TABLE muted_events (
    event_id INTEGER PRIMARY KEY REFERENCES events (id) ON DELETE CASCADE,
    ts       INTEGER NOT NULL
);
-- Foreign keys are off in the sqlite3 program.
CREATE TRIGGER muted_events_deleted AFTER DELETE ON events BEGIN
    DELETE FROM muted_events WHERE event_id = old.id;
END;
