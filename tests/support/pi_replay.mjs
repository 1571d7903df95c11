// pi_replay.mjs EXTENSION RECORDING: gives the extension what a real pi gave one, and prints what it added.
import { readFileSync } from "node:fs"
const { default: extend } = await import(process.argv[2])
const handlers = {}
extend({ on: (event, handler) => (handlers[event] = handler) })
for (const line of readFileSync(process.argv[3], "utf8").split("\n").filter(Boolean)) {
  const { event, data, cwd, sessionId, sessionFile } = JSON.parse(line)
  const sessionManager = { getSessionId: () => sessionId, getSessionFile: () => sessionFile }
  const added = await handlers[event]?.({ systemPrompt: "You are pi.", ...data }, { cwd, sessionManager })
  if (added) console.log(JSON.stringify({ event, added }))
}
