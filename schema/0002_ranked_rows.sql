-- What ranking has to know of an event, without its payload: a daemon reads it ahead for as many events as searches may
-- meet, the newest first. Costs a pass over the events, about a second for each 100,000, and 60 bytes an event.

CREATE INDEX events_ranked ON events (id, ts, tool, session_id);
