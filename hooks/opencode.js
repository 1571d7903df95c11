// siftd's plugin for OpenCode, behind teller.js: it tells what happens, and adds to the conversation what is printed for
// it, to a session's system prompt where the work left off, to a prompt what is known of it.
const PARENTS_MAX = 20
const TITLES = "You are a title generator" // how the request for a session's title begins

const typed = (parts) => parts.some((part) => part.type === "text" && !part.synthetic && part.text?.trim())

export const Siftd = async ({ directory }) => {
  const parents = new Map() // of subagents' sessions
  const folders = new Map()
  const created = new Map() // sessions that began here
  const summaries = new Map() // messages that tell a session that was compacted
  const turns = new Map() // the prompt that a session is busy with
  const said = new Map() // a session's last words so far
  const starts = new Map() // what was printed at a session's start
  const told = new Map() // parts
  const { tell: tellOne, ask: askOne, leave } = makeTeller()

  const folderOf = (id) => folders.get(id) ?? directory
  const report = (name, id, more) => {
    let root = id
    for (let up = 0; parents.has(root) && up < PARENTS_MAX; up++) root = parents.get(root)
    const agent = root === id ? {} : { agent_id: id }
    return { hook_event_name: name, session_id: root, ...agent, cwd: folderOf(id), ...more }
  }

  const tell = (name, id, more) => tellOne(report(name, id, more))
  const ask = (name, id, more) => askOne(report(name, id, more))

  const say = (id) => {
    const words = said.get(id)
    said.delete(id)
    if (words) tell("AssistantText", id, words)
  }
  const endTurn = (id) => {
    const [turn, words] = [turns.get(id), said.get(id)]
    turns.delete(id)
    said.delete(id)
    if (turn) tell("Stop", id, { message_id: turn, text: words?.text ?? "" })
  }
  const start = (id) => {
    if (parents.has(id)) return { text: "", asked: Promise.resolve() }
    const known = starts.get(id)
    if (known) return known
    const memo = remember(starts, id, { text: "", isNew: true })
    memo.asked = ask("SessionStart", id, { source: created.has(id) ? "startup" : "resume" }).then((text) => {
      memo.text = text
    })
    return memo
  }

  const onPart = (part) => {
    const id = part.sessionID
    if (part.type === "tool") {
      const { status, time } = part.state
      if ((status !== "completed" && status !== "error") || time?.compacted || told.has(part.id)) return
      remember(told, part.id, true)
      say(id)
      tell("PostToolUse", id, { part })
    } else if (part.type === "text" && part.time?.end && !part.synthetic && part.text?.trim()) {
      if (told.has(part.id)) return
      remember(told, part.id, true)
      const words = { part_id: part.id, text: part.text }
      if (summaries.has(part.messageID)) return tell("CompactSummary", id, words)
      say(id)
      remember(said, id, words)
    }
  }

  const onEvent = ({ type, properties }) => {
    switch (type) {
      case "session.created":
        remember(created, properties.info.id, true)
      // falls through
      case "session.updated":
        if (properties.info.parentID) remember(parents, properties.info.id, properties.info.parentID)
        remember(folders, properties.info.id, properties.info.directory ?? directory)
        break
      case "message.updated":
        if (properties.info.summary === true) remember(summaries, properties.info.id, true)
        break
      case "message.part.updated":
        onPart(properties.part)
        break
      case "session.idle":
        endTurn(properties.sessionID)
        break
      case "session.compacted":
        tell("PreCompact", properties.sessionID, {})
        break
    }
  }

  return {
    event: quietly(async ({ event }) => onEvent(event)),

    "chat.message": quietly(async ({ sessionID }, output) => {
      if (!typed(output.parts)) return
      endTurn(sessionID)
      remember(turns, sessionID, output.message.id)
      if (parents.has(sessionID)) return
      start(sessionID)
      const { id, parts } = { id: output.message.id, parts: output.parts }
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic)
      const text = await within(ask("UserPromptSubmit", sessionID, { message_id: id, parts: texts }), WAIT_MS, "")
      if (text)
        parts.push({ id: `${parts.at(-1).id}s`, sessionID, messageID: id, type: "text", text, synthetic: true })
    }),

    "experimental.chat.system.transform": quietly(async ({ sessionID }, output) => {
      if (!sessionID || parents.has(sessionID) || output.system[0]?.startsWith(TITLES)) return
      const memo = start(sessionID)
      if (memo.isNew) await within(memo.asked, WAIT_MS)
      memo.isNew = false
      if (memo.text) output.system.push(memo.text)
    }),

    dispose: quietly(async () => {
      for (const id of starts.keys()) tell("SessionEnd", id, {})
      await leave(directory)
    }),
  }
}
