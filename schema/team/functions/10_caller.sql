-- The scope. Every function that a server may execute takes the digest of a token and a project, and begins with
-- `caller`: no handler can forget it, and a statement smuggled into the server reaches no more than its own token does.
--
-- What is executed by the server alone runs as the owner with a path of its own; what those call runs inside of it.
--
-- Refusals have SQLSTATEs of our own: ST401 no token, ST403 no member, ST4RO only a reader, ST4AD only for admins, ST404
-- no such thing, ST409 another epoch, ST413 too much, ST4IN no such invitation, ST400 a wrong argument.

CREATE FUNCTION refuse(code text, what text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = code, MESSAGE = what;
END $$;

-- Who calls, from which device (nobody's, for a person's token), as what. `need`: read, write or admin.
CREATE FUNCTION caller(token bytea, p uuid, need text, OUT who uuid, OUT device uuid, OUT role text)
LANGUAGE plpgsql STABLE AS $$
DECLARE bound uuid; what text;
BEGIN
    SELECT k.person, coalesce(k.device, '00000000-0000-0000-0000-000000000000'), k.project_id,
           CASE WHEN k.revoked_at IS NOT NULL THEN 'the token was revoked'
                WHEN k.expires_at <= now() THEN 'the token has expired'
                WHEN n.disabled_at IS NOT NULL THEN 'the person is disabled' END
    INTO who, device, bound, what
    FROM tokens k JOIN persons n ON n.id = k.person WHERE k.digest = token;
    IF NOT FOUND THEN
        PERFORM refuse('ST401', 'the token is not known');
    ELSIF what IS NOT NULL THEN
        PERFORM refuse('ST401', what);
    END IF;
    SELECT m.role INTO role FROM members m WHERE m.project_id = p AND m.person = who AND (bound IS NULL OR bound = p);
    IF NOT FOUND THEN  -- a project that is NULL, or is none, too: whether there is one is not told
        PERFORM refuse('ST403', 'no member of this project');
    ELSIF need = 'write' AND role = 'reader' THEN
        PERFORM refuse('ST4RO', 'a reader does not write');
    ELSIF need = 'admin' AND role <> 'admin' THEN
        PERFORM refuse('ST4AD', 'this is for admins');
    END IF;
END $$;

CREATE FUNCTION epoch() RETURNS uuid
LANGUAGE sql STABLE AS $$ SELECT value::uuid FROM meta WHERE key = 'epoch' $$;

CREATE FUNCTION moment(ms bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$ SELECT pg_catalog.to_timestamp(ms / 1000.0) $$;

CREATE FUNCTION milliseconds(moment timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT pg_catalog.round(extract(epoch FROM moment) * 1000)::bigint $$;

-- Sources whose items anybody may tell, the newest `rev` being right; and those that need no switching on.
CREATE FUNCTION is_natural(source text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT source = ANY ('{issue,comment,job,decision,policy}') $$;

CREATE FUNCTION sources_on(p uuid) RETURNS text[]
LANGUAGE sql STABLE AS $$
    SELECT '{memory,fact,summary,knowledge}' || array(SELECT s.source FROM sources s WHERE s.project_id = p AND s.is_on)
$$;

CREATE FUNCTION note(p uuid, who uuid, what text, item uuid DEFAULT NULL) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO audit (project_id, person, what, id) VALUES (p, who, left(what, 500), item)
$$;

-- A project as its members see it: `Project` of the protocol.
CREATE FUNCTION project_json(p uuid) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('id', id, 'name', name, 'embedder', embedder, 'head', head, 'sources',
           coalesce((SELECT jsonb_agg(source ORDER BY source) FROM sources s WHERE s.project_id = p AND s.is_on), '[]'))
    FROM projects WHERE id = p
$$;

-- The hint to whoever follows: the feed is the truth. One for a batch, because a commit with one waits for all others.
CREATE FUNCTION announce(p uuid, head bigint) RETURNS void
LANGUAGE sql AS $$ SELECT pg_notify('siftd', p::text || ' ' || head) $$;
