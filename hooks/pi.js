// siftd's extension for pi, behind teller.js: it tells what happens, and adds to the conversation what is printed for it,
// to the system prompt where the work left off, to a prompt what is known of it.
const ENDINGS = ["stop", "length", "aborted"] // how a message stops that is the last of its turn

export default function (pi) {
  const { tell, ask, leave } = makeTeller()
  const given = new Map() // by call, what it was given
  const starts = new Map() // by session, what was printed at its start

  const report = (name, ctx, more) => ({
    hook_event_name: name,
    session_id: ctx.sessionManager.getSessionId(),
    cwd: ctx.cwd,
    session_file: ctx.sessionManager.getSessionFile() ?? null,
    ...more,
  })
  const on = (event, work) => pi.on(event, quietly(work))
  const start = (ctx, reason) => {
    const id = ctx.sessionManager.getSessionId()
    const memo = remember(starts, id, { text: "", isNew: true })
    memo.asked = ask(report("SessionStart", ctx, { reason })).then((text) => {
      memo.text = text
    })
    return memo
  }

  on("session_start", async ({ reason }, ctx) => {
    start(ctx, reason)
  })
  on("before_agent_start", async ({ prompt, systemPrompt }, ctx) => {
    const memo = starts.get(ctx.sessionManager.getSessionId()) ?? start(ctx, "resume")
    const asked = ask(report("UserPromptSubmit", ctx, { content: prompt }))
    const begun = memo.isNew ? within(memo.asked, WAIT_MS) : undefined
    memo.isNew = false
    const text = await within(asked, WAIT_MS, "")
    await begun
    return {
      ...(memo.text && { systemPrompt: `${systemPrompt}\n\n${memo.text}` }),
      ...(text && { message: { customType: "siftd", content: text, display: false } }),
    }
  })
  on("tool_execution_start", async ({ toolCallId, args }) => {
    remember(given, toolCallId, args)
  })
  on("tool_execution_end", async ({ toolCallId, toolName, result, isError }, ctx) => {
    const input = given.get(toolCallId)
    given.delete(toolCallId)
    tell(report("PostToolUse", ctx, { tool: toolName, id: toolCallId, input, content: result?.content, is_error: isError }))
  })
  on("agent_end", async ({ messages }, ctx) => {
    const last = messages.findLast((message) => message.role === "assistant")
    if (ENDINGS.includes(last?.stopReason)) tell(report("Stop", ctx, { content: last.content }))
  })
  on("session_compact", async (_, ctx) => {
    tell(report("PreCompact", ctx, {}))
  })
  on("session_shutdown", async ({ reason }, ctx) => {
    tell(report("SessionEnd", ctx, { reason }))
    await leave(ctx.cwd)
  })
}
