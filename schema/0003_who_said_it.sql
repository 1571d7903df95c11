-- Whose words a row is made of: a person's prompt, an agent's own, what commands and files said (output), what came
-- from the web, other servers and nobody we know (outside). Named said_by, since `source` is taken: in sessions it is
-- the client, in memories the way they came by. `waits`: a pin, or a memory for every project, that no person has made
-- waits for one's word. Costs a pass over the events, and new rows for prompts and turns' ends alone: the others' is the
-- default, which is stored in no row.
-- Nothing tells of an old story what was read in it: where its session read anything from outside, it counts as that.

ALTER TABLE events ADD COLUMN said_by TEXT NOT NULL DEFAULT 'output'
    CHECK (said_by IN ('person', 'agent', 'output', 'outside'));
ALTER TABLE summaries ADD COLUMN said_by TEXT NOT NULL DEFAULT 'output'
    CHECK (said_by IN ('person', 'agent', 'output', 'outside'));
ALTER TABLE memories ADD COLUMN said_by TEXT NOT NULL DEFAULT 'agent'
    CHECK (said_by IN ('person', 'agent', 'output', 'outside'));
ALTER TABLE memories ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;

UPDATE events SET said_by = CASE
    WHEN tool = 'UserPromptSubmit' AND frame_uid IS NOT NULL THEN 'person'
    WHEN tool IN ('UserPromptSubmit', 'Stop') AND coalesce(frame_uid, native_key) IS NOT NULL THEN 'agent'
    WHEN tool IN ('TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList', 'ExitPlanMode', 'EnterPlanMode',
                  'AskUserQuestion', 'update_plan') THEN 'agent'
    ELSE 'outside' END
WHERE tool IN ('UserPromptSubmit', 'Stop', 'TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList',
               'ExitPlanMode', 'EnterPlanMode', 'AskUserQuestion', 'update_plan', 'WebFetch', 'WebSearch', 'web_fetch',
               'web_search', 'google_web_search', 'ListMcpResourcesTool', 'ReadMcpResourceTool')
    OR tool GLOB 'mcp__*';

UPDATE summaries SET said_by = (SELECT e.said_by FROM events e WHERE e.id = summaries.event_id)
WHERE scope = 'event'
AND event_id IN (SELECT id FROM events
                 WHERE said_by <> 'output' AND tool NOT IN ('Stop', 'SubagentStop', 'Agent', 'Task'));

UPDATE summaries SET said_by = 'outside'
WHERE event_id IN (SELECT id FROM events WHERE session_id IN (SELECT session_id FROM events WHERE said_by = 'outside'))
AND (scope <> 'event'
     OR event_id IN (SELECT id FROM events WHERE tool IN ('Stop', 'SubagentStop', 'Agent', 'Task')));

UPDATE memories SET said_by = 'person' WHERE source = 'mem';
UPDATE memories SET waits = 1 WHERE pinned AND source IS NOT 'mem';
