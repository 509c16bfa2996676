// Written by `swarm hook install opencode`; `swarm hook uninstall opencode` takes it away again.
// It hands what OpenCode does to `swarm hook`, in the form that Claude Code has for it.
import { spawn } from "node:child_process"

const SWARM = ["swarm"]
const TOOLS = { bash: "Bash", edit: "Edit", write: "Write", patch: "Edit", apply_patch: "Edit", multiedit: "Edit" }
const LIMITS = { stop: 300_000 }

const hook = (verb, request) =>
  new Promise((resolve) => {
    const child = spawn(SWARM[0], [...SWARM.slice(1), "hook", verb], { timeout: LIMITS[verb] ?? 30_000 })
    let stderr = ""
    let stdout = ""
    child.stdout.on("data", (data) => (stdout += data))
    child.stderr.on("data", (data) => (stderr += data))
    child.on("error", (error) => resolve({ code: null, text: `swarm cannot be started: ${error.message}` }))
    child.on("close", (code) => resolve({ code, text: stderr.trim(), stdout }))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(request))
  })

export const Swarmgate = async ({ client, directory }) => {
  const held = new Set()
  const calls = new Map()
  const request = (session, event, more) => ({ session_id: session, cwd: directory, hook_event_name: event, ...more })
  const tool = (name, args) => ({ tool_name: TOOLS[name], tool_input: args ?? {} })

  return {
    "tool.execute.before": async (input, output) => {
      if (!TOOLS[input.tool]) return
      calls.set(input.callID, output.args)
      const cwd = output.args?.workdir ?? directory
      const asked = { ...request(input.sessionID, "PreToolUse", tool(input.tool, output.args)), cwd }
      const { code, text } = await hook("pre-tool-use", asked)
      if (code !== 0) throw new Error(text || "swarm hook did not answer, so the tool is not used")
    },
    "tool.execute.after": async (input, output) => {
      const args = input.args ?? calls.get(input.callID)
      calls.delete(input.callID)
      if (!TOOLS[input.tool] || input.tool === "bash") return
      const { code, text } = await hook("post-tool-use", request(input.sessionID, "PostToolUse", tool(input.tool, args)))
      if (code === 2) output.output = `${output.output}\n\n${text}`
    },
    event: async ({ event }) => {
      if (event.type === "session.created") {
        await hook("session-start", request(event.properties.info.id, "SessionStart"))
      }
      if (event.type !== "session.idle") return
      const session = event.properties.sessionID
      const { code, text } = await hook("stop", request(session, "Stop", { stop_hook_active: held.has(session) }))
      held.delete(session)
      if (code !== 2) return
      held.add(session)
      await client.session.prompt({ path: { id: session }, body: { parts: [{ type: "text", text }] } })
    },
  }
}
