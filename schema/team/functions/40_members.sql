-- Who is in a project, and which devices have applied what: `Members` of the protocol.
CREATE FUNCTION members_json(token bytea, p uuid) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
BEGIN
    PERFORM caller(token, p, 'read');
    RETURN jsonb_build_object(
        'project', project_json(p),
        'members', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('person', jsonb_build_object('id', n.id, 'name', n.name),
                'role', m.role, 'disabled', n.disabled_at IS NOT NULL) ORDER BY n.name), '[]')
            FROM members m JOIN persons n ON n.id = m.person WHERE m.project_id = p),
        'devices', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name, 'seq', coalesce(k.seq, 0),
                'person', jsonb_build_object('id', n.id, 'name', n.name), 'seenAt', milliseconds(d.seen_at))
                ORDER BY n.name, d.name, d.id), '[]')
            FROM devices d JOIN persons n ON n.id = d.person
                LEFT JOIN cursors k ON k.project_id = p AND k.device = d.id
            WHERE d.project_id = p AND d.left_at IS NULL),
        'used', (SELECT coalesce(jsonb_object_agg(source, received), '{}') FROM sources WHERE project_id = p AND received > 0));
END $$;
GRANT EXECUTE ON FUNCTION members_json(bytea, uuid) TO siftd_app;

-- Take a person's items out of a project, private ones or all, under the lock of its row. Returns how many. They may be
-- told again, by whoever comes back: leaving is no wish that they be refused for good.
CREATE FUNCTION bury_all(p uuid, of_person uuid, shared_too boolean) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE start bigint; went bigint;
BEGIN
    SELECT head INTO start FROM projects WHERE id = p FOR UPDATE;
    WITH dead AS (
        DELETE FROM memories WHERE project_id = p AND author = of_person AND (shared_too OR visibility = 'private')
        RETURNING id, author, was_shared
    ), heard AS (
        INSERT INTO tombstones (project_id, id, seq, by_person, author, was_shared, is_final)
        SELECT p, id, start + row_number() OVER (ORDER BY id),
            '00000000-0000-0000-0000-000000000000', author, was_shared, false FROM dead
        ON CONFLICT DO NOTHING
    ), unheard AS (
        DELETE FROM feedback f USING dead WHERE f.project_id = p AND f.id = dead.id
    )
    SELECT count(*) INTO went FROM dead;
    IF went > 0 THEN
        UPDATE projects SET head = start + went WHERE id = p;
        INSERT INTO unvacuumed AS u (project_id, items) VALUES (p, went)
            ON CONFLICT (project_id) DO UPDATE SET items = u.items + went;
        PERFORM announce(p, start + went);
    END IF;
    RETURN went;
END $$;

-- Take a person out of a project: their tokens end here, their private items go, shared ones by choice.
CREATE FUNCTION dismiss(p uuid, of_person uuid, forget_shared boolean) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE went bigint;
BEGIN
    went := bury_all(p, of_person, forget_shared);
    UPDATE tokens SET revoked_at = now() WHERE project_id = p AND person = of_person AND revoked_at IS NULL;
    UPDATE devices SET left_at = now() WHERE project_id = p AND person = of_person AND left_at IS NULL;
    UPDATE invitations SET used_at = now() WHERE project_id = p AND person = of_person AND used_at IS NULL;
    DELETE FROM feedback WHERE project_id = p AND person = of_person;
    DELETE FROM members WHERE project_id = p AND person = of_person;
    RETURN went;
END $$;

-- A device leaves; with the last one its person does.
CREATE FUNCTION "leave"(token bytea, p uuid, forget_shared boolean) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE c record; went bigint;
BEGIN
    SELECT * INTO c FROM caller(token, p, 'read');
    PERFORM 1 FROM projects WHERE id = p FOR UPDATE;
    UPDATE devices SET left_at = now() WHERE id = c.device;
    UPDATE tokens SET revoked_at = now() WHERE device = c.device AND revoked_at IS NULL;
    IF EXISTS (SELECT 1 FROM devices WHERE project_id = p AND person = c.who AND left_at IS NULL) THEN
        went := CASE WHEN forget_shared THEN bury_all(p, c.who, true) ELSE 0 END;
        PERFORM note(p, c.who, 'left with a device', c.device);
    ELSE
        went := dismiss(p, c.who, forget_shared);
        PERFORM note(p, c.who, 'left');
    END IF;
    RETURN went;
END $$;
GRANT EXECUTE ON FUNCTION "leave"(bytea, uuid, boolean) TO siftd_app;

-- An admin takes a person out, or gives them another role.
CREATE FUNCTION expel(token bytea, p uuid, of_person uuid, forget_shared boolean) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE c record;
BEGIN
    SELECT * INTO c FROM caller(token, p, 'admin');
    PERFORM 1 FROM members WHERE project_id = p AND person = of_person;
    IF NOT FOUND THEN
        PERFORM refuse('ST404', 'there is no such member');
    END IF;
    PERFORM note(p, c.who, 'took out a member', of_person);
    RETURN dismiss(p, of_person, forget_shared);
END $$;
GRANT EXECUTE ON FUNCTION expel(bytea, uuid, uuid, boolean) TO siftd_app;
