CREATE TABLE history (
                        id           TEXT PRIMARY KEY,
                        memory_id    TEXT,
                        old_memory   TEXT,
                        new_memory   TEXT,
                        event        TEXT,
                        created_at   DATETIME,
                        updated_at   DATETIME,
                        is_deleted   INTEGER,
                        actor_id     TEXT,
                        role         TEXT
                    );
INSERT INTO history VALUES ('878126a6-d2fb-491d-8293-5fcdc3fd494c', 'a1', NULL, 'Uses pnpm for every package', 'ADD', '2026-01-02T03:04:05+00:00', NULL, 0, NULL, 'user');
INSERT INTO history VALUES ('55d92cc5-80fd-4fa5-927d-1c7518184d9e', 'a1', 'Uses pnpm for every package', 'Uses pnpm, and npm for the docs', 'UPDATE', '2026-01-02T03:04:05+00:00', '2026-02-02T03:04:05+00:00', 0, NULL, NULL);
INSERT INTO history VALUES ('41e3f8c6-f460-426c-b36a-4e720e5d9b59', 'b2', NULL, 'Likes tabs', 'ADD', '2026-01-03T03:04:05+00:00', NULL, 0, NULL, NULL);
INSERT INTO history VALUES ('0fa3ff21-2fe2-4194-a0e3-9ad68da5491d', 'b2', 'Likes tabs', NULL, 'DELETE', '2026-01-03T03:04:05+00:00', '2026-01-04T03:04:05+00:00', 1, NULL, NULL);
