-- Without a token: what is spoken here, and how an invitation becomes a token.

CREATE FUNCTION hello(OUT epoch uuid, OUT schema integer, OUT vectors boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
    SELECT siftd.epoch(), (SELECT max(number) FROM migrations), (SELECT value = 'yes' FROM meta WHERE key = 'vectors')
$$;
GRANT EXECUTE ON FUNCTION hello() TO siftd_app;

-- Take up an invitation, once. The device is a new one even for a store that joined before: two copies of a home would
-- else be one device.
CREATE FUNCTION "join"(invitation bytea, token bytea, device_name text, device_store uuid) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE i invitations; n persons; made uuid;
BEGIN
    SELECT * INTO i FROM invitations WHERE digest = invitation AND used_at IS NULL AND expires_at > now() FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM refuse('ST4IN', 'there is no such invitation any more');
    END IF;
    SELECT * INTO n FROM persons WHERE id = i.person AND disabled_at IS NULL;
    IF NOT FOUND THEN
        PERFORM refuse('ST401', 'the person is disabled');
    END IF;
    IF (SELECT count(*) FROM devices d WHERE d.project_id = i.project_id AND d.person = i.person AND left_at IS NULL)
            >= 100 THEN
        PERFORM refuse('ST413', 'more than 100 devices of one person');
    END IF;
    UPDATE invitations SET used_at = now() WHERE digest = invitation;
    INSERT INTO members AS m (project_id, person, role) VALUES (i.project_id, i.person, i.role)
        ON CONFLICT (project_id, person) DO UPDATE SET role = excluded.role;
    INSERT INTO devices (project_id, person, store, name, seen_at)
        VALUES (i.project_id, i.person, device_store, device_name, now()) RETURNING id INTO made;
    INSERT INTO tokens (digest, person, device, project_id, kind, expires_at)
        VALUES (token, i.person, made, i.project_id, 'device', now() + make_interval(days => i.token_days));
    PERFORM note(i.project_id, i.person, 'joined with a device', made);
    RETURN jsonb_build_object('device', made, 'person', jsonb_build_object('id', n.id, 'name', n.name),
        'role', i.role, 'project', project_json(i.project_id), 'epoch', epoch());
END $$;
GRANT EXECUTE ON FUNCTION "join"(bytea, bytea, text, uuid) TO siftd_app;

-- A device whose home was copied becomes another one of the same person; the first goes on.
CREATE FUNCTION renew(token bytea, p uuid, new_token bytea, device_name text, device_store uuid) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = siftd, pg_temp AS $$
DECLARE c record; made uuid;
BEGIN
    SELECT * INTO c FROM caller(token, p, 'read');
    IF NOT EXISTS (SELECT 1 FROM devices WHERE id = c.device AND left_at IS NULL) THEN
        PERFORM refuse('ST400', 'this is no token of a device');
    ELSIF (SELECT count(*) FROM devices WHERE project_id = p AND person = c.who AND left_at IS NULL) >= 100 THEN
        PERFORM refuse('ST413', 'more than 100 devices of one person');
    END IF;
    INSERT INTO devices (project_id, person, store, name, seen_at)
        VALUES (p, c.who, device_store, device_name, now()) RETURNING id INTO made;
    INSERT INTO tokens (digest, person, device, project_id, kind, expires_at)
        SELECT new_token, c.who, made, p, 'device', k.expires_at FROM tokens k WHERE k.digest = token;
    PERFORM note(p, c.who, 'a copy became a device', made);
    RETURN jsonb_build_object('device', made, 'role', c.role, 'project', project_json(p), 'epoch', epoch(),
        'person', (SELECT jsonb_build_object('id', id, 'name', name) FROM persons WHERE id = c.who));
END $$;
GRANT EXECUTE ON FUNCTION renew(bytea, uuid, bytea, text, uuid) TO siftd_app;
