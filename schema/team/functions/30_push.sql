-- Forget one item, under the lock of its project's row, at place `at_seq` of the feed. Returns why not ("not yours"), or
-- whether the feed has grown by it.
CREATE FUNCTION bury(p uuid, item uuid, who uuid, role text, at_seq bigint, OUT why text, OUT is_new boolean)
LANGUAGE plpgsql AS $$
DECLARE m record; was_there boolean;
BEGIN
    is_new := false;
    SELECT x.author, x.was_shared INTO m FROM memories x WHERE x.project_id = p AND x.id = item;
    was_there := FOUND;
    IF was_there AND m.author <> who AND role <> 'admin' THEN
        why := 'not yours';
        RETURN;
    END IF;
    INSERT INTO tombstones AS t (project_id, id, seq, by_person, author, was_shared, is_final)
        VALUES (p, item, at_seq, who, coalesce(m.author, who), coalesce(m.was_shared, false),
                was_there OR role = 'admin')
        ON CONFLICT (project_id, id) DO UPDATE SET is_final = true, seq = excluded.seq, by_person = excluded.by_person
        WHERE NOT t.is_final AND excluded.is_final;
    is_new := FOUND;
    IF was_there THEN
        DELETE FROM memories WHERE project_id = p AND id = item;
        DELETE FROM feedback WHERE project_id = p AND id = item;
        INSERT INTO unvacuumed AS u (project_id, items) VALUES (p, 1)
            ON CONFLICT (project_id) DO UPDATE SET items = u.items + 1;
        PERFORM note(p, who, 'forgot', item);
    END IF;
END $$;

-- Take a device's items: forgets first, then puts. All or nothing, and the same again changes nothing.
CREATE FUNCTION push(
    token bytea, p uuid, known_epoch uuid, gone uuid[], firsts uuid[], ids uuid[], revs bigint[], hashes bytea[],
    kinds text[], refs text[], texts text[], word_lists text[], metadatas jsonb[], visibilities text[], stamps bigint[],
    froms bigint[], tos bigint[], successors uuid[], archived bigint[], models text[], vectors @vector@[],
    OUT head bigint, OUT put bigint, OUT forgotten bigint, OUT ignored jsonb,
    OUT terms_stale boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE who uuid; from_device uuid; as_role text; pr projects; start bigint; each uuid; buried record; left_out jsonb;
    switched_on text[]; late text[];
BEGIN
    SELECT c.who, c.device, c.role INTO who, from_device, as_role FROM caller(token, p, 'write') c;
    IF cardinality(ids) + cardinality(gone) > 500 THEN
        PERFORM refuse('ST413', 'more than 500 items');
    END IF;
    SELECT * INTO pr FROM projects x WHERE x.id = p FOR UPDATE;  -- one writer a project: places are in order of commits
    IF known_epoch IS DISTINCT FROM epoch() THEN
        PERFORM refuse('ST409', 'this is another epoch');
    END IF;
    switched_on := sources_on(p); start := pr.head; head := pr.head; put := 0; forgotten := 0; ignored := '[]';
    FOREACH each IN ARRAY gone LOOP
        SELECT * INTO buried FROM bury(p, each, who, as_role, head + 1);
        IF buried.is_new THEN
            head := head + 1;
        END IF;
        IF buried.why IS NULL THEN
            forgotten := forgotten + 1;
        ELSE
            ignored := ignored || jsonb_build_object('id', each, 'why', buried.why);
        END IF;
    END LOOP;

    -- A further piece of an issue goes by the first one: late news of what is shorter by now, or gone, bring no piece back.
    -- Looked for where there is one alone: most that is told is whole.
    IF firsts <> ids THEN
        SELECT array_agg(
            CASE WHEN u.first = u.id THEN NULL
                 WHEN EXISTS (SELECT FROM tombstones x WHERE x.project_id = p AND x.id = u.first
                              AND (x.is_final OR x.by_person = who)) THEN 'forgotten'
                 WHEN (SELECT x.rev FROM memories x WHERE x.project_id = p AND x.id = u.first) > u.rev THEN 'older'
            END ORDER BY u.n)
        INTO late FROM unnest(firsts, ids, revs) WITH ORDINALITY AS u(first, id, rev, n);
    END IF;

    WITH sent AS (
        SELECT * FROM unnest(late, ids, revs, hashes, kinds, refs, texts, word_lists, metadatas, visibilities, stamps,
                             froms, tos, successors, archived, models, vectors) WITH ORDINALITY
            AS u(late, id, rev, hash, source, ref, text, words, metadata, visibility, ts, valid_from, valid_to,
                 superseded_by, archived_at, model, vector, n)
    ), judged AS MATERIALIZED (
        SELECT u.*, m.rev AS old_rev, m.hash AS old_hash, m.id IS NOT NULL AND m.rev = u.rev AND m.hash = u.hash AS same,
            CASE
                WHEN u.source <> ALL (switched_on) THEN 'source off'
                WHEN length(u.text) > 100000 OR octet_length(u.text) > 400000 OR length(u.words) > 100000
                     OR octet_length(u.words) > 400000 OR octet_length(u.metadata::text) > 65536 THEN 'too large'
                WHEN length(u.ref) NOT BETWEEN 1 AND 512 OR octet_length(u.hash) <> 32
                     OR u.visibility NOT IN ('project', 'private') THEN 'malformed'
                WHEN t.is_final OR t.by_person = who THEN 'forgotten'
                WHEN m.author <> who AND NOT (is_natural(u.source) AND m.visibility = 'project') THEN 'not yours'
                WHEN u.late = 'forgotten' THEN 'forgotten'
                WHEN m.rev > u.rev OR u.late = 'older' THEN 'older'
                WHEN m.rev = u.rev AND m.hash <> u.hash AND NOT is_natural(u.source) THEN 'conflict'
            END AS why
        FROM sent u  -- one by one by the key, whatever is known of the size of a project
            LEFT JOIN LATERAL (SELECT x.id, x.rev, x.hash, x.author, x.visibility FROM memories x
                               WHERE x.project_id = p AND x.id = u.id OFFSET 0) AS m ON true
            LEFT JOIN LATERAL (SELECT x.is_final, x.by_person FROM tombstones x
                               WHERE x.project_id = p AND x.id = u.id OFFSET 0) AS t ON true
    ), taken AS (
        SELECT j.*, row_number() OVER (ORDER BY n) AS place,
            -- vectors:
            j.vector IS NOT NULL AND j.model = pr.embedder
                AND @ext@.vector_dims(j.vector) IS NOT DISTINCT FROM pr.dimensions AS fits
            -- end
            -- no vectors:
            false AS fits
            -- end
        FROM judged j WHERE why IS NULL AND NOT same
    ), revived AS (  -- of somebody else, who had nothing here to forget
        DELETE FROM tombstones t USING taken k WHERE t.project_id = p AND t.id = k.id
    ), stored AS (
        INSERT INTO memories AS m (project_id, id, seq, rev, hash, source, source_ref, author, device, visibility,
            was_shared, text, words, metadata, ts, valid_from, valid_to, superseded_by, archived_at, embedding_model,
            vector, embedded_at)
        SELECT p, id, push.head + place, rev, hash, source, ref, who, from_device, visibility, visibility = 'project',
            text, words, metadata, moment(ts), moment(valid_from), moment(valid_to), superseded_by, moment(archived_at),
            CASE WHEN fits THEN model END, CASE WHEN fits THEN vector END, CASE WHEN fits THEN now() END
        FROM taken
        ON CONFLICT (project_id, id) DO UPDATE SET
            seq = excluded.seq, rev = excluded.rev, hash = excluded.hash, author = excluded.author,
            device = excluded.device, visibility = excluded.visibility,
            was_shared = m.was_shared OR excluded.was_shared, text = excluded.text, words = excluded.words,
            metadata = excluded.metadata, ts = excluded.ts, valid_from = excluded.valid_from,
            valid_to = excluded.valid_to, superseded_by = excluded.superseded_by, archived_at = excluded.archived_at,
            stored_at = now(),
            -- A vector holds as long as its text does.
            embedding_model = CASE WHEN excluded.vector IS NOT NULL THEN excluded.embedding_model
                                   WHEN m.text = excluded.text THEN m.embedding_model END,
            vector = CASE WHEN excluded.vector IS NOT NULL THEN excluded.vector
                          WHEN m.text = excluded.text THEN m.vector END,
            embedded_at = CASE WHEN excluded.vector IS NOT NULL THEN excluded.embedded_at
                               WHEN m.text = excluded.text THEN m.embedded_at END
        RETURNING m.source, m.visibility
    ), counted AS (  -- what is shared: all members are told
        INSERT INTO sources AS s (project_id, source, received)
        SELECT p, source, count(*) FROM stored WHERE visibility = 'project' GROUP BY source
        ON CONFLICT (project_id, source) DO UPDATE SET received = s.received + excluded.received
    )
    SELECT (SELECT count(*) FROM stored),
           (SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', id, 'why', why,
                'rev', CASE WHEN why IN ('older', 'conflict') THEN old_rev END,
                'hash', CASE WHEN why IN ('older', 'conflict') THEN encode(old_hash, 'hex') END)) ORDER BY n)
            FROM judged WHERE why IS NOT NULL)
    INTO put, left_out;

    ignored := ignored || coalesce(left_out, '[]');
    head := head + put;
    IF head > start THEN
        UPDATE projects x SET head = push.head WHERE x.id = p;
        PERFORM announce(p, head);
    END IF;
    terms_stale := head - pr.terms_head > greatest(200, pr.terms_rows / 10) AND pr.terms_rows <= 50000;
    UPDATE devices SET seen_at = now() WHERE id = from_device;
END $$;
GRANT EXECUTE ON FUNCTION push(bytea, uuid, uuid, uuid[], uuid[], uuid[], bigint[], bytea[], text[], text[],
    text[], text[], jsonb[], text[], bigint[], bigint[], bigint[], uuid[], bigint[], text[], @vector@[]) TO siftd_app;
