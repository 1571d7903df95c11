CREATE TABLE sdk_sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        content_session_id TEXT NOT NULL,
        memory_session_id TEXT UNIQUE,
        project TEXT NOT NULL,
        platform_source TEXT NOT NULL DEFAULT 'claude',
        user_prompt TEXT,
        started_at TEXT NOT NULL,
        started_at_epoch INTEGER NOT NULL,
        completed_at TEXT,
        completed_at_epoch INTEGER,
        status TEXT CHECK(status IN ('active', 'completed', 'failed')) NOT NULL DEFAULT 'active'
      , worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT, observed_model TEXT, observed_billing TEXT);
INSERT INTO sdk_sessions VALUES (1, 'content-1', 'mem-1', 'shop', 'claude', 'Why do carts lose items?', '2026-11-25T09:29:18.576Z', 1795598958576, NULL, NULL, 'active', NULL, 0, NULL, NULL, NULL);
CREATE TABLE "observations" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        text TEXT,
        type TEXT NOT NULL,
        title TEXT,
        subtitle TEXT,
        facts TEXT,
        narrative TEXT,
        concepts TEXT,
        files_read TEXT,
        files_modified TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, generated_by_model TEXT, relevance_count INTEGER DEFAULT 0, merged_into_project TEXT, agent_type TEXT, agent_id TEXT, metadata TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO observations VALUES (1, 'mem-1', 'shop', NULL, 'bugfix', 'Carts lost items after an hour', 'Session store expired them', '["Cart entries now have no expiry","The store''s default expiry is 3600 seconds"]', 'The cart lived in the session store, which drops entries after 3600 seconds.', '["problem-solution","carts"]', '["cart.py"]', '["cart.py"]', 1, '2026-01-02T03:04:05.000Z', 1767323045000, 0, '076e1db39f4b77df', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO observations VALUES (2, 'mem-1', 'shop', NULL, 'decision', 'Keep carts in the database', NULL, '[]', 'Carts go to the database because the session store forgets them.', '["trade-off"]', '[]', '[]', 1, '2026-01-02T03:05:05.000Z', 1767323105000, 0, 'fa91f188784b858e', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
CREATE TABLE "session_summaries" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        request TEXT,
        investigated TEXT,
        learned TEXT,
        completed TEXT,
        next_steps TEXT,
        files_read TEXT,
        files_edited TEXT,
        notes TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, merged_into_project TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO session_summaries VALUES (1, 'mem-1', 'shop', 'Why do carts lose items?', 'cart.py', 'The session store drops entries after an hour.', 'Carts are kept in the database.', 'Move wish lists too.', '[]', '[]', NULL, 1, '2026-01-02T03:06:05.000Z', 1767323165000, 0, NULL, NULL, NULL, NULL, '1');
CREATE TABLE "user_prompts" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_db_id INTEGER,
        content_session_id TEXT NOT NULL,
        prompt_number INTEGER NOT NULL,
        prompt_text TEXT NOT NULL,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE
      );
INSERT INTO user_prompts VALUES (1, 1, 'content-1', 1, 'Why do carts lose items?', '2026-11-25T09:29:18.583Z', 1795598958583, NULL, NULL, NULL, '1');
