-- Forget, for good and everywhere: items by id, of a source, or of a session; one's own, or anybody's for an admin.
CREATE FUNCTION forget(token bytea, p uuid, ids uuid[], of_source text, of_session text,
    OUT forgotten uuid[], OUT not_yours uuid[], OUT head bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE c record; each uuid; buried record; start bigint;
BEGIN
    SELECT * INTO c FROM caller(token, p, 'write');
    IF num_nonnulls(ids, of_source, of_session) <> 1 THEN
        PERFORM refuse('ST400', 'say ids, a source or a session');
    END IF;
    SELECT x.head INTO start FROM projects x WHERE x.id = p FOR UPDATE;
    forgotten := '{}'; not_yours := '{}'; head := start;
    IF ids IS NULL THEN
        SELECT coalesce(array_agg(m.id), '{}') INTO ids FROM memories m
        WHERE m.project_id = p AND (m.author = c.who OR c.role = 'admin')
            AND (m.source = of_source OR m.metadata ->> 'session' = of_session);
    END IF;
    FOREACH each IN ARRAY ids LOOP
        SELECT * INTO buried FROM bury(p, each, c.who, c.role, head + 1);
        IF buried.is_new THEN
            head := head + 1;
        END IF;
        IF buried.why IS NULL THEN
            forgotten := forgotten || each;
        ELSE
            not_yours := not_yours || each;
        END IF;
    END LOOP;
    IF head > start THEN
        UPDATE projects x SET head = forget.head WHERE x.id = p;
        PERFORM announce(p, head);
    END IF;
END $$;
GRANT EXECUTE ON FUNCTION forget(bytea, uuid, uuid[], text, text) TO siftd_app;
