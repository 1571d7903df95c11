-- What an event is (a person's prompt, a tool call, an end, words on the way, what the client keeps of a conversation
-- that it compacted) and what a call does, as the client's decoder says: nothing but that knows the name of a client's
-- tool or hook any more. Rows that a person inserts are calls, unless they say otherwise. New kinds and actions may
-- come. In the index that ranking reads ahead. Costs a new row for each event: 2.7 s for 100,000 of
-- 255 MB.

ALTER TABLE events ADD COLUMN kind TEXT NOT NULL DEFAULT 'tool';    -- prompt, tool, turn_end, subagent_end, ...
ALTER TABLE events ADD COLUMN action TEXT;                          -- of a tool call: edit, run, read, search, ...

DROP INDEX events_by_ts;
DROP INDEX events_by_prompt;

UPDATE events SET
    kind = CASE tool
        WHEN 'UserPromptSubmit' THEN 'prompt' WHEN 'Stop' THEN 'turn_end' WHEN 'SubagentStop' THEN 'subagent_end'
        WHEN 'AssistantText' THEN 'assistant_text' WHEN 'CompactSummary' THEN 'compaction' ELSE 'tool' END,
    action = CASE
        WHEN tool IN ('UserPromptSubmit', 'Stop', 'SubagentStop', 'AssistantText', 'CompactSummary') THEN NULL
        WHEN tool GLOB 'mcp__*' THEN 'other'
        ELSE CASE lower(tool)
            WHEN 'read' THEN 'read' WHEN 'read_file' THEN 'read' WHEN 'view' THEN 'read' WHEN 'notebookread' THEN 'read'
            WHEN 'edit' THEN 'edit' WHEN 'edit_file' THEN 'edit' WHEN 'replace' THEN 'edit' WHEN 'multiedit' THEN 'edit'
            WHEN 'write' THEN 'edit' WHEN 'write_file' THEN 'edit' WHEN 'notebookedit' THEN 'edit'
            WHEN 'apply_patch' THEN 'edit'
            WHEN 'bash' THEN 'run' WHEN 'powershell' THEN 'run' WHEN 'shell' THEN 'run' WHEN 'local_shell' THEN 'run'
            WHEN 'shell_command' THEN 'run' WHEN 'exec_command' THEN 'run' WHEN 'run_shell_command' THEN 'run'
            WHEN 'run_terminal_cmd' THEN 'run'
            WHEN 'grep' THEN 'search' WHEN 'search_file_content' THEN 'search' WHEN 'glob' THEN 'search'
            WHEN 'ls' THEN 'search' WHEN 'list' THEN 'search' WHEN 'list_dir' THEN 'search'
            WHEN 'list_directory' THEN 'search' WHEN 'lsp' THEN 'search'
            WHEN 'webfetch' THEN 'web' WHEN 'web_fetch' THEN 'web' WHEN 'websearch' THEN 'web'
            WHEN 'web_search' THEN 'web' WHEN 'google_web_search' THEN 'web'
            WHEN 'agent' THEN 'agent' WHEN 'task' THEN 'agent'
            WHEN 'taskcreate' THEN 'todo' WHEN 'taskupdate' THEN 'todo' WHEN 'taskget' THEN 'todo'
            WHEN 'tasklist' THEN 'todo' WHEN 'todowrite' THEN 'todo' WHEN 'update_plan' THEN 'todo'
            WHEN 'askuserquestion' THEN 'ask' WHEN 'exitplanmode' THEN 'plan'
            ELSE 'other' END
        END;

CREATE INDEX events_by_ts ON events (ts, id, tool, session_id, kind, action);
CREATE INDEX events_by_prompt ON events (session_id, prompt_id) WHERE kind = 'prompt';
CREATE INDEX events_by_kind ON events (kind, ts) WHERE kind <> 'tool';     -- one in ten
