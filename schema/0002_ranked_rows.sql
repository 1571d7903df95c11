-- What ranking has to know of an event, without its payload: a daemon reads it ahead for as many events as searches may
-- meet, the newest first. In the index by time, which each capture writes to anyway; one more would cost captures 6 %.
-- Costs a pass over the events, about a second for each 100,000, and 50 bytes an event.

DROP INDEX events_by_ts;
CREATE INDEX events_by_ts ON events (ts, id, tool, session_id);
