-- The feed: what is new after a place, puts and tombstones in one order, at most `n` and about `bytes` of JSON, in which a
-- hostile text is six times as long.
-- Whoever had an item that is private by now, or forgotten, hears that it is gone; of others' private ones nobody hears.
-- Reads alone, so that a replica can answer; `head` is read first, so that no row of a later commit comes before its turn.
CREATE FUNCTION changes(token bytea, p uuid, after bigint, n integer, bytes integer)
RETURNS TABLE (of_epoch uuid, head bigint, "cursor" bigint, seq bigint, id uuid, gone_at bigint, rev bigint, hash text,
    source text, source_ref text, text text, words text, metadata jsonb, visibility text, ts bigint, valid_from bigint,
    valid_to bigint, superseded_by uuid, archived_at bigint, author uuid, author_name text, device uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = siftd, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
DECLARE me uuid; last_head bigint; size bigint := 0; weight bigint; number integer := 0; m record;
BEGIN
    SELECT c.who INTO me FROM caller(token, p, 'read') c;
    SELECT x.head INTO last_head FROM projects x WHERE x.id = p;
    n := least(greatest(n, 1), 500);
    FOR m IN
        (SELECT x.seq, x.id, CASE WHEN x.visibility <> 'project' AND x.author <> me THEN x.stored_at END AS gone_at
         FROM memories x WHERE x.project_id = p AND x.seq > after AND x.seq <= last_head
            AND (x.was_shared OR x.author = me)
         ORDER BY x.seq LIMIT n + 1)
        UNION ALL
        (SELECT t.seq, t.id, t.at FROM tombstones t WHERE t.project_id = p AND t.seq > after
            AND t.seq <= last_head AND (t.was_shared OR t.author = me)
         ORDER BY t.seq LIMIT n + 1)
        ORDER BY 1 LIMIT n + 1
    LOOP
        IF m.gone_at IS NULL THEN
            SELECT octet_length(to_json(x.text)::text) + octet_length(to_json(x.words)::text)
                + octet_length(x.metadata::text) + 1200 INTO weight
            FROM memories x WHERE x.project_id = p AND x.seq = m.seq;
        ELSE
            weight := 200;
        END IF;
        IF number = n OR (number > 0 AND size + weight > bytes) THEN
            RETURN;  -- there is more
        END IF;
        number := number + 1; size := size + weight;
        IF m.gone_at IS NOT NULL THEN
            RETURN QUERY SELECT epoch(), last_head, m.seq, m.seq, m.id, milliseconds(m.gone_at), NULL::bigint,
                NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::jsonb, NULL::text, NULL::bigint,
                NULL::bigint, NULL::bigint, NULL::uuid, NULL::bigint, NULL::uuid, NULL::text, NULL::uuid;
        ELSE
            RETURN QUERY SELECT epoch(), last_head, x.seq, x.seq, x.id, NULL::bigint, x.rev, encode(x.hash, 'hex'),
                x.source, x.source_ref, x.text, x.words, x.metadata, x.visibility, milliseconds(x.ts),
                milliseconds(x.valid_from), milliseconds(x.valid_to), x.superseded_by, milliseconds(x.archived_at),
                x.author, a.name, x.device
            FROM memories x JOIN persons a ON a.id = x.author WHERE x.project_id = p AND x.seq = m.seq;
        END IF;
    END LOOP;
    -- The last row tells how far the page goes, and is no change.
    RETURN QUERY SELECT epoch(), last_head, greatest(last_head, after), NULL::bigint, NULL::uuid, NULL::bigint,
        NULL::bigint, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::jsonb, NULL::text, NULL::bigint, NULL::bigint,
        NULL::bigint, NULL::uuid, NULL::bigint, NULL::uuid, NULL::text, NULL::uuid;
END $$;
GRANT EXECUTE ON FUNCTION changes(bytea, uuid, bigint, integer, integer) TO siftd_app;

-- A device has applied the feed up to a place.
CREATE FUNCTION applied(token bytea, p uuid, up_to bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE c record; last_head bigint;
BEGIN
    SELECT * INTO c FROM caller(token, p, 'read');
    SELECT head INTO last_head FROM projects WHERE id = p;
    UPDATE devices SET seen_at = now() WHERE id = c.device;
    IF FOUND THEN
        INSERT INTO cursors AS k (project_id, device, seq) VALUES (p, c.device, least(up_to, last_head))
            ON CONFLICT (project_id, device) DO UPDATE SET seq = excluded.seq, at = now();
    END IF;
END $$;
GRANT EXECUTE ON FUNCTION applied(bytea, uuid, bigint) TO siftd_app;
