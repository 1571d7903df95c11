-- Items by their ids, in their order; those that are not there, or not for the caller, are left out, and those beyond
-- `bytes` of text altogether, but for the first.
CREATE FUNCTION items(token bytea, p uuid, ids uuid[], bytes integer)
RETURNS TABLE (seq bigint, id uuid, rev bigint, hash text, source text, source_ref text, text text, words text,
    metadata jsonb, visibility text, ts bigint, valid_from bigint, valid_to bigint, superseded_by uuid,
    archived_at bigint, author uuid, author_name text, device uuid, embedded boolean, feedback jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE me uuid;
BEGIN
    SELECT c.who INTO me FROM caller(token, p, 'read') c;
    IF cardinality(ids) > 500 THEN
        PERFORM refuse('ST413', 'more than 500 items');
    END IF;
    RETURN QUERY SELECT x.seq, x.id, x.rev, encode(x.hash, 'hex'), x.source, x.source_ref, x.text, x.words, x.metadata,
        x.visibility, milliseconds(x.ts), milliseconds(x.valid_from), milliseconds(x.valid_to), x.superseded_by,
        milliseconds(x.archived_at), x.author, a.name, x.device, x.vector IS NOT NULL,
        (SELECT coalesce(jsonb_object_agg(verdict, times), '{}') FROM (SELECT f.verdict, count(*) AS times
            FROM feedback f WHERE f.project_id = p AND f.id = x.id GROUP BY f.verdict) AS each)
    FROM (
        SELECT asked.n, y.*, y.weight AS own, sum(y.weight) OVER (ORDER BY asked.n) AS so_far
        FROM unnest(ids) WITH ORDINALITY AS asked(id, n)
            CROSS JOIN LATERAL (
                SELECT z.*, octet_length(z.text) + octet_length(z.words) AS weight FROM memories z
                WHERE z.project_id = p AND z.id = asked.id AND (z.visibility = 'project' OR z.author = me) OFFSET 0) AS y
    ) AS x JOIN persons a ON a.id = x.author
    WHERE x.so_far <= bytes OR x.so_far = x.own
    ORDER BY x.n;
END $$;
GRANT EXECUTE ON FUNCTION items(bytea, uuid, uuid[], integer) TO siftd_app;

-- Ids of the latest items, below a place of the feed.
CREATE FUNCTION latest(token bytea, p uuid, of_source text, before bigint, n integer) RETURNS uuid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = siftd, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
DECLARE me uuid; found uuid[];
BEGIN
    SELECT c.who INTO me FROM caller(token, p, 'read') c;
    SELECT coalesce(array_agg(x.id ORDER BY x.seq DESC), '{}') INTO found FROM (
        SELECT m.id, m.seq FROM memories m WHERE m.project_id = p AND (of_source IS NULL OR m.source = of_source)
            AND (before IS NULL OR m.seq < before) AND (m.visibility = 'project' OR m.author = me)
        ORDER BY m.seq DESC LIMIT least(greatest(n, 1), 500)) AS x;
    RETURN found;
END $$;
GRANT EXECUTE ON FUNCTION latest(bytea, uuid, text, bigint, integer) TO siftd_app;

-- A word of a member on an item; their earlier one is replaced.
CREATE FUNCTION give_feedback(token bytea, p uuid, item uuid, said_verdict text, said_evidence text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE me uuid;
BEGIN
    SELECT c.who INTO me FROM caller(token, p, 'write') c;
    PERFORM 1 FROM memories m WHERE m.project_id = p AND m.id = item AND (m.visibility = 'project' OR m.author = me)
        FOR KEY SHARE;
    IF NOT FOUND THEN
        PERFORM refuse('ST404', 'there is no such item');
    END IF;
    INSERT INTO feedback AS f (project_id, id, person, verdict, evidence) VALUES (p, item, me, said_verdict, said_evidence)
        ON CONFLICT (project_id, id, person) DO UPDATE
        SET verdict = excluded.verdict, evidence = excluded.evidence, at = now();
END $$;
GRANT EXECUTE ON FUNCTION give_feedback(bytea, uuid, uuid, text, text) TO siftd_app;

-- What was done in a project, for its admins: the latest first.
CREATE FUNCTION read_audit(token bytea, p uuid, before bigint, n integer)
RETURNS TABLE (number bigint, at bigint, what text, id uuid, person uuid, person_name text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
BEGIN
    PERFORM caller(token, p, 'admin');
    RETURN QUERY SELECT x.number, milliseconds(x.at), x.what, x.id, x.person, a.name
    FROM audit x LEFT JOIN persons a ON a.id = x.person
    WHERE x.project_id = p AND (before IS NULL OR x.number < before)
    ORDER BY x.number DESC LIMIT least(greatest(n, 1), 500);
END $$;
GRANT EXECUTE ON FUNCTION read_audit(bytea, uuid, bigint, integer) TO siftd_app;
