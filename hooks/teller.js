// Written by `mem install`, which keeps it up to date.
//
// The half that siftd's plugins for agents in JavaScript have in common: it hands reports to siftd's hook program.
//
// It runs inside an agent and must not be noticed: nothing here throws, nothing waits for longer than WAIT_MS, and only
// where something may be printed. What is told goes out one after the other, so that it arrives in its order, by
// programs that outlive the agent. What is lost all the same, `mem backfill` finds in the agent's own sessions.
import { spawn } from "node:child_process"

const COMMAND = "@COMMAND@" // for a shell; the installer fills it in
const QUIETLY = `siftd_how=quiet; ${COMMAND}`
const ONE_BY_ONE = `while IFS= read -r line; do printf '%s\\n' "$line" | (${QUIETLY}); done`
const WAIT_MS = 250
const HUNG_MS = 10000 // of one program; the next report goes out then all the same
const LEAVE_MS = 500 // for what waits when the agent ends
const KEPT_MAX = 1000 // what is remembered of a kind, and reports that wait

const quietly = (work) => async (...given) => {
  try {
    return await work(...given)
  } catch {
    return undefined
  }
}

const remember = (map, key, value) => {
  map.delete(key)
  map.set(key, value)
  if (map.size > KEPT_MAX) map.delete(map.keys().next().value)
  return value
}

// While somebody waits, the timer keeps an agent alive that has nothing else to do: else it would end in the middle.
const within = (promise, ms, otherwise, isWaitedFor = true) => {
  let timer
  const late = new Promise((done) => {
    timer = setTimeout(() => done(otherwise), ms)
    if (!isWaitedFor) timer.unref?.()
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

// Starts a shell that reads what is written to it. `written` resolves once it has all of it, `printed` with its output
// once it has ended.
const run = (command, input, folder, isAsking) => {
  try {
    const child = spawn("/bin/sh", ["-c", command], {
      cwd: folder,
      env: { ...process.env, CLAUDE_PROJECT_DIR: folder }, // where the hook looks first; it may be another agent's
      detached: true,
      stdio: ["pipe", isAsking ? "pipe" : "ignore", "ignore"],
    })
    const printed = new Promise((done) => {
      let output = ""
      child.on("error", () => done(""))
      child.on("close", () => done(output))
      if (isAsking) child.stdout.on("error", () => {}).on("data", (data) => (output += data))
    })
    const written = new Promise((done) => {
      child.on("error", () => done())
      child.stdin.on("error", () => done())
      child.stdin.end(input, () => done())
    })
    child.unref()
    if (isAsking) child.stdout.unref?.()
    return { written, printed }
  } catch {
    return { written: Promise.resolve(), printed: Promise.resolve("") }
  }
}

const textOf = (output) => {
  try {
    const text = JSON.parse(output).text
    return typeof text === "string" ? text : ""
  } catch {
    return ""
  }
}

// Reports have the folder that they are from as `cwd`.
const makeTeller = () => {
  const waiting = []
  let busy = null
  const next = () => {
    const one = waiting.shift()
    busy = null
    if (one === undefined) return
    busy = within(run(QUIETLY, JSON.stringify(one), one.cwd, false).printed, HUNG_MS, "", false)
    busy.then(next, next)
  }
  return {
    tell(report) {
      if (waiting.length < KEPT_MAX) waiting.push(report)
      if (!busy) next()
    },
    // Resolves with what is printed for it, whenever that is.
    ask(report) {
      return run(COMMAND, JSON.stringify(report), report.cwd, true).printed.then(textOf)
    },
    // Hands over what still waits.
    async leave(folder) {
      const left = waiting.splice(0).map((one) => `${JSON.stringify(one)}\n`)
      if (busy) await within(busy, WAIT_MS)
      if (left.length) await within(run(ONE_BY_ONE, left.join(""), folder, false).written, LEAVE_MS)
    },
  }
}
