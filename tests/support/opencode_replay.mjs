// replay.mjs PLUGIN RECORDING: gives the plugin what a real OpenCode gave one, and prints what it added to a conversation.
import { readFileSync } from "node:fs"
const { Siftd } = await import(process.argv[2])
let hooks = {}
for (const line of readFileSync(process.argv[3], "utf8").split("\n").filter(Boolean)) {
  const { hook, input, output } = JSON.parse(line)
  if (hook === "_init") hooks = await Siftd({ directory: input.directory })
  else if (hook === "event") await hooks.event({ event: input })
  else if (hook === "dispose") await hooks.dispose()
  else if (hooks[hook]) {
    await hooks[hook](input, output)
    const added = output.parts?.filter((part) => part.synthetic) ?? output.system?.slice(-1)
    console.log(JSON.stringify({ hook, added }))
  }
}
