-- The models of a project's vectors: the one that makes them, and while they are made anew the one before.
CREATE FUNCTION embedders(token bytea, p uuid) RETURNS text[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
BEGIN
    PERFORM caller(token, p, 'read');
    RETURN (SELECT array_remove(ARRAY[embedder, previous_embedder], NULL) FROM projects WHERE id = p);
END $$;
GRANT EXECUTE ON FUNCTION embedders(bytea, uuid) TO siftd_app;

-- Have another model make a project's vectors from now on. Those of the one before are searched until theirs are made.
CREATE FUNCTION set_embedder(token bytea, p uuid, model text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE me uuid;
BEGIN
    SELECT c.who INTO me FROM caller(token, p, 'admin') c;
    UPDATE projects SET previous_embedder = embedder, embedder = model, dimensions = NULL
    WHERE id = p AND embedder <> model;
    IF FOUND THEN
        PERFORM note(p, me, 'changed the embedder to ' || model);
    END IF;
END $$;
GRANT EXECUTE ON FUNCTION set_embedder(bytea, uuid, text) TO siftd_app;

-- Items that lack a vector of a model, of those that the caller sees, the latest first and below a place of the feed: who
-- asks on from the last one's place goes through a project once. How many lack one is counted where the asking begins,
-- and up to 100,000: NULL is more, or not counted.
CREATE FUNCTION reindex_next(token bytea, p uuid, model text, n integer, before bigint)
RETURNS TABLE (missing bigint, seq bigint, id uuid, hash text, text text, source text, visibility text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE me uuid; lacking bigint; counted_max constant integer := 100000;
BEGIN
    SELECT c.who INTO me FROM caller(token, p, 'write') c;
    IF before IS NULL THEN
        SELECT count(*) INTO lacking FROM (SELECT 1 FROM memories m WHERE m.project_id = p AND m.text <> ''
            AND (m.embedding_model IS NULL OR m.embedding_model < model OR m.embedding_model > model)
            AND (m.visibility = 'project' OR m.author = me) LIMIT counted_max + 1) AS each;
    END IF;
    RETURN QUERY SELECT CASE WHEN lacking <= counted_max THEN lacking END, NULL::bigint, NULL::uuid, NULL::text,
        NULL::text, NULL::text, NULL::text;
    RETURN QUERY SELECT NULL::bigint, m.seq, m.id, encode(m.hash, 'hex'), m.text, m.source, m.visibility
    FROM memories m WHERE m.project_id = p AND m.seq < coalesce(before, 9223372036854775807) AND m.text <> ''
        AND (m.embedding_model IS NULL OR m.embedding_model < model OR m.embedding_model > model)
        AND (m.visibility = 'project' OR m.author = me)
    ORDER BY m.seq DESC LIMIT least(greatest(n, 1), 500);
    IF NOT FOUND AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.project_id = p AND m.text <> ''
            AND (m.embedding_model IS NULL OR m.embedding_model < model OR m.embedding_model > model)) THEN
        UPDATE projects x SET previous_embedder = NULL
        WHERE x.id = p AND x.embedder = model AND x.previous_embedder IS NOT NULL;
    END IF;
END $$;
GRANT EXECUTE ON FUNCTION reindex_next(bytea, uuid, text, integer, bigint) TO siftd_app;

-- Keep vectors that were made, where the text is still the one that they were made of. Returns how many.
CREATE FUNCTION reindex_put(token bytea, p uuid, model text, ids uuid[], hashes bytea[], vectors @vector@[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE me uuid; pr projects; went bigint := 0;
BEGIN
    SELECT c.who INTO me FROM caller(token, p, 'write') c;
    IF cardinality(ids) > 500 THEN
        PERFORM refuse('ST413', 'more than 500 vectors');
    END IF;
    -- vectors:
    SELECT * INTO pr FROM projects x WHERE x.id = p FOR UPDATE;
    IF pr.embedder <> model THEN
        PERFORM refuse('ST400', 'the project has another embedder');
    ELSIF pr.dimensions IS NULL THEN
        SELECT @ext@.vector_dims(v) INTO pr.dimensions FROM unnest(vectors) AS v WHERE v IS NOT NULL LIMIT 1;
        UPDATE projects x SET dimensions = pr.dimensions WHERE x.id = p;
    END IF;
    UPDATE memories m SET embedding_model = model, vector = u.v, embedded_at = now()
    FROM unnest(ids, hashes, vectors) AS u(id, hash, v)
    WHERE m.project_id = p AND m.id = u.id AND m.id = ANY (ids) AND m.hash = u.hash AND @ext@.vector_dims(u.v) = pr.dimensions
        AND (m.visibility = 'project' OR m.author = me);
    GET DIAGNOSTICS went = ROW_COUNT;
    -- end
    RETURN went;
END $$;
GRANT EXECUTE ON FUNCTION reindex_put(bytea, uuid, text, uuid[], bytea[], @vector@[]) TO siftd_app;

-- Count the words of a project anew, where a tenth has changed since. Returns whether it did.
CREATE FUNCTION refresh_terms(token bytea, p uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
BEGIN
    PERFORM caller(token, p, 'write');
    RETURN remake_terms(p, 50000);
END $$;
GRANT EXECUTE ON FUNCTION refresh_terms(bytea, uuid) TO siftd_app;

-- Of what is shared alone: how rare a word is stands in everybody's scores, and would tell of others' private items.
-- `rows_max`: a larger project is left to `siftd team maintain`, which has no deadline.
CREATE FUNCTION remake_terms(p uuid, rows_max bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE pr projects; counted bigint; mean real;
BEGIN
    SELECT * INTO pr FROM projects x WHERE x.id = p AND x.head - x.terms_head > greatest(200, x.terms_rows / 10)
        FOR NO KEY UPDATE SKIP LOCKED;  -- somebody else counts, or pushes: then the next time
    IF NOT FOUND OR pr.terms_rows > rows_max THEN
        RETURN false;
    END IF;
    SELECT count(*), coalesce(avg(length(text_search)), 1) INTO counted, mean FROM memories
    WHERE project_id = p AND visibility = 'project';
    DELETE FROM terms WHERE project_id = p;
    INSERT INTO terms (project_id, term, rows)
        SELECT p, word, ndoc FROM ts_stat(format(
            'SELECT text_search FROM siftd.memories WHERE project_id = %L AND visibility = ''project''', p))
        WHERE ndoc > 1;  -- a word that is not here counts as rare
    UPDATE projects x SET terms_at = now(), terms_head = pr.head, terms_rows = counted, terms_length = mean
    WHERE x.id = p;
    RETURN true;
END $$;
