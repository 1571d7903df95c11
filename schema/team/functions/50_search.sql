-- Search in one call: BM25 over the rarest words, exact vectors (or an index with a measured recall), reciprocal ranks.

-- What a caller may find: theirs, and what holds. `moment_ms`: what held then.
CREATE FUNCTION holds(m memories, me uuid, in_sources text[], of_type text, of_session text, moment_ms bigint,
    stale boolean)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (m.visibility = 'project' OR m.author = me)
        AND (in_sources IS NULL OR m.source = ANY (in_sources))
        AND (of_type IS NULL OR m.metadata ->> 'type' = of_type)
        AND (of_session IS NULL OR m.metadata ->> 'session' = of_session)
        AND CASE
            WHEN moment_ms IS NOT NULL THEN
                coalesce(m.valid_from, m.ts) <= to_timestamp(moment_ms / 1000.0)
                AND (m.valid_to IS NULL OR m.valid_to > to_timestamp(moment_ms / 1000.0))
                AND (m.archived_at IS NULL OR m.archived_at > to_timestamp(moment_ms / 1000.0))
                AND (m.superseded_by IS NULL OR m.valid_to IS NOT NULL OR stale)
            ELSE stale OR (m.superseded_by IS NULL AND m.archived_at IS NULL
                           AND (m.valid_to IS NULL OR m.valid_to > now()))
        END
$$;

-- The words of a question as rows have them: stemmed by the same dictionaries.
CREATE FUNCTION lexemes(question text, words text) RETURNS text[]
LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(DISTINCT lexeme), '{}') FROM (
        SELECT unnest(tsvector_to_array(to_tsvector('pg_catalog.english', question))) AS lexeme
        UNION ALL SELECT unnest(tsvector_to_array(to_tsvector('pg_catalog.simple', words)))) AS w
    WHERE length(lexeme) BETWEEN 1 AND 200
$$;

CREATE FUNCTION joined(lexemes text[], by_operator text) RETURNS tsquery
LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg('''' || replace(replace(each, '\', '\\'), '''', '''''') || '''', by_operator)::tsquery
    FROM unnest(lexemes) AS each
$$;

-- The rarest words first, as long as their rows are at most 3,000; of words that are known at least two. A word that
-- `terms` lacks is rare or new: it is taken, never dropped. `total`: rows of the words that are known.
CREATE FUNCTION rarest(p uuid, lexemes text[], OUT words text[], OUT total bigint)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(lexeme), '{}'), coalesce(sum(rows), 0) FROM (
        SELECT lexeme, rows, row_number() OVER w AS n, sum(rows) OVER w AS so_far,
               count(*) FILTER (WHERE rows > 0) OVER w AS known
        FROM (
            SELECT lexeme, coalesce((SELECT t.rows FROM terms t WHERE t.project_id = p AND t.term = lexeme), 0) AS rows
            FROM unnest(lexemes) AS lexeme) AS each
        WINDOW w AS (ORDER BY rows, lexeme ROWS UNBOUNDED PRECEDING)) AS counted
    WHERE n <= 32 AND (so_far <= 3000 OR known <= 2)
$$;

-- Where common words alone are asked for, rows that have all of them are enough, if there are `n`.
CREATE FUNCTION said(p uuid, me uuid, lexemes text[], n integer, in_sources text[], of_type text, of_session text,
    moment_ms bigint, stale boolean)
RETURNS TABLE (id uuid, score double precision)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
DECLARE chosen record; query tsquery; all_of tsquery; total double precision; mean double precision; enough bigint;
BEGIN
    SELECT * INTO chosen FROM rarest(p, lexemes);
    query := joined(chosen.words, ' | ');
    IF query IS NULL THEN
        RETURN;
    END IF;
    IF chosen.total > 6000 THEN
        all_of := joined(chosen.words, ' & ');
        SELECT count(*) INTO enough FROM (SELECT 1 FROM memories m WHERE m.project_id = p AND m.text_search @@ all_of
            AND holds(m, me, in_sources, of_type, of_session, moment_ms, stale) LIMIT n) AS each;
        query := CASE WHEN enough >= n THEN all_of ELSE query END;
    END IF;
    SELECT greatest(x.terms_rows + x.head - x.terms_head, 1), greatest(x.terms_length, 1) INTO total, mean
    FROM projects x WHERE x.id = p;
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT m.id, m.text_search, length(m.text_search) AS size FROM memories m
        WHERE m.project_id = p AND m.text_search @@ query
            AND holds(m, me, in_sources, of_type, of_session, moment_ms, stale)
        LIMIT 6000
    ), mean_size AS (
        SELECT CASE WHEN mean > 1 THEN mean ELSE greatest(avg(size), 1) END AS size FROM found
    ), counted AS (
        SELECT f.id, f.size, u.lexeme, cardinality(u.positions)::double precision AS times
        FROM found f, unnest(f.text_search) AS u WHERE u.lexeme = ANY (chosen.words)
    ), in_rows AS (  -- how rare a word is, in what was found or by the last count
        SELECT c.lexeme, greatest(count(*), (SELECT t.rows FROM terms t WHERE t.project_id = p AND t.term = c.lexeme))
            AS rows FROM counted c GROUP BY c.lexeme
    ), weighed AS (
        SELECT lexeme, ln(1 + (greatest(total - rows, 0) + 0.5) / (rows + 0.5)) AS weight FROM in_rows
    )
    SELECT c.id, sum(w.weight * c.times * 2.2 / (c.times + 1.2 * (0.25 + 0.75 * c.size / a.size)))
    FROM counted c JOIN weighed w USING (lexeme), mean_size a
    GROUP BY c.id ORDER BY 2 DESC, 1 LIMIT n;
END $$;

-- vectors:
-- Whether a question's vector has the length of the rows': comparing others is an error.
CREATE FUNCTION comparable(p uuid, model text, size integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT @ext@.vector_dims(m.vector) = size FROM memories m
                     WHERE m.project_id = p AND m.embedding_model = model LIMIT 1), false)
$$;

-- Exact, within the project: right, and quick up to some 25,000 rows.
CREATE FUNCTION near(p uuid, me uuid, model text, v @vector@, n integer, in_sources text[], of_type text, of_session text,
    moment_ms bigint, stale boolean)
RETURNS TABLE (id uuid, cosine double precision)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan SET enable_indexscan = off AS $$
BEGIN
    RETURN QUERY SELECT x.id, 1 - x.distance FROM (  -- so that each is compared once
        SELECT m.id, m.vector OPERATOR(@ext@.<=>) v AS distance FROM memories m
        WHERE m.project_id = p AND m.embedding_model = model
            AND holds(m, me, in_sources, of_type, of_session, moment_ms, stale)
        ORDER BY distance LIMIT n) AS x;
END $$;

-- By the index of the project's partition, where one was built and its recall was measured. The planner takes comparing
-- for cheaper than it is: what would sort is switched off.
CREATE FUNCTION near_indexed(p uuid, me uuid, model text, v @vector@, n integer, in_sources text[], of_type text,
    of_session text, moment_ms bigint, stale boolean)
RETURNS TABLE (id uuid, cosine double precision)
LANGUAGE plpgsql VOLATILE SET plan_cache_mode = force_custom_plan
SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE size integer := @ext@.vector_dims(v);  -- loads the extension, so that its settings are known
BEGIN
    PERFORM set_config('hnsw.ef_search', '400', true), set_config('hnsw.iterative_scan', 'strict_order', true),
            set_config('hnsw.max_scan_tuples', '40000', true);
    RETURN QUERY EXECUTE format(
        'SELECT x.id, 1 - x.distance FROM (
            SELECT m.id, m.vector::@vector@(%1$s) OPERATOR(@ext@.<=>) $1 AS distance FROM siftd.memories m
            WHERE m.project_id = $2 AND m.embedding_model = %2$L AND siftd.holds(m, $3, $4, $5, $6, $7, $8)
            ORDER BY distance LIMIT $9) AS x', size, model)
        USING v, p, me, in_sources, of_type, of_session, moment_ms, stale, n;
END $$;
-- end

CREATE FUNCTION search(token bytea, p uuid, strategy text, question text, words text, models text[], vectors @vector@[],
    n integer, in_sources text[], of_type text, of_session text, moment_ms bigint, stale boolean)
RETURNS TABLE (head bigint, missing bigint, total bigint, id uuid, score double precision, by_words integer,
    by_vector integer, bm25 double precision, cosine double precision)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE
    me uuid; pr projects; pool constant integer := 50; k integer; lacking bigint := 0;
    word_ids uuid[] := '{}'; word_scores double precision[] := '{}';
    near_ids uuid[] := '{}'; near_scores double precision[] := '{}'; near_ranks integer[] := '{}';
    found_ids uuid[]; found_scores double precision[];
BEGIN
    SELECT c.who INTO me FROM caller(token, p, 'read') c;
    SELECT * INTO pr FROM projects x WHERE x.id = p;
    n := least(greatest(n, 1), 100);
    IF strategy <> 'semantic' THEN
        SELECT coalesce(array_agg(s.id ORDER BY s.score DESC, s.id), '{}'),
               coalesce(array_agg(s.score ORDER BY s.score DESC, s.id), '{}')
        INTO word_ids, word_scores
        FROM said(p, me, lexemes(left(question, 10000), left(words, 20000)), greatest(pool, n), in_sources, of_type,
                  of_session, moment_ms, stale) s;
    END IF;
    -- vectors:
    IF strategy <> 'keyword' THEN
        FOR k IN 1..coalesce(cardinality(models), 0) LOOP
            found_ids := NULL; found_scores := NULL;
            IF vectors[k] IS NULL OR NOT comparable(p, models[k], @ext@.vector_dims(vectors[k])) THEN
                CONTINUE;
            ELSIF models[k] = pr.indexed_model THEN
                SELECT array_agg(s.id ORDER BY s.cosine DESC, s.id), array_agg(s.cosine ORDER BY s.cosine DESC, s.id)
                INTO found_ids, found_scores
                FROM near_indexed(p, me, models[k], vectors[k], greatest(pool, n), in_sources, of_type, of_session,
                    moment_ms, stale) s;
            ELSE
                SELECT array_agg(s.id ORDER BY s.cosine DESC, s.id), array_agg(s.cosine ORDER BY s.cosine DESC, s.id)
                INTO found_ids, found_scores
                FROM near(p, me, models[k], vectors[k], greatest(pool, n), in_sources, of_type, of_session,
                    moment_ms, stale) s;
            END IF;
            near_ids := near_ids || found_ids; near_scores := near_scores || found_scores;
            near_ranks := near_ranks || array(SELECT generate_series(1, coalesce(cardinality(found_ids), 0)));
        END LOOP;
        SELECT count(*) INTO lacking FROM (SELECT 1 FROM memories m WHERE m.project_id = p
            AND (m.embedding_model IS NULL OR m.embedding_model < pr.embedder OR m.embedding_model > pr.embedder)
            AND m.text <> '' AND (m.visibility = 'project' OR m.author = me) LIMIT 10000) AS lacked;
    END IF;
    -- end
    RETURN QUERY SELECT pr.head, lacking, pr.terms_rows + pr.head - pr.terms_head, NULL::uuid, NULL::double precision,
        NULL::integer, NULL::integer, NULL::double precision, NULL::double precision;
    RETURN QUERY
    SELECT pr.head, lacking, NULL::bigint, x.id, sum(1.0 / (60 + x.rank))::double precision AS total_score,
        min(x.rank) FILTER (WHERE x.leg = 1)::integer, min(x.rank) FILTER (WHERE x.leg = 2)::integer,
        max(x.score) FILTER (WHERE x.leg = 1), max(x.score) FILTER (WHERE x.leg = 2)
    FROM (
        SELECT 1 AS leg, w.id, w.score, w.rank FROM unnest(word_ids, word_scores) WITH ORDINALITY AS w(id, score, rank)
        UNION ALL
        SELECT 2, v.id, v.score, v.rank FROM unnest(near_ids, near_scores, near_ranks) AS v(id, score, rank)
    ) AS x GROUP BY x.id ORDER BY total_score DESC, x.id LIMIT n;
END $$;
GRANT EXECUTE ON FUNCTION search(bytea, uuid, text, text, text, text[], @vector@[], integer, text[], text, text, bigint,
    boolean) TO siftd_app;
