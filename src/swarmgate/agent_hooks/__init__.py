"""The face for other coding agents: answers the hooks of Claude Code, Codex, Gemini CLI and OpenCode.

`swarm hook stop|pre-tool-use|post-tool-use|session-start` reads what such a program hands to a hook, and answers as it
wants it. What is judged is judged by gates and command policy, as everywhere; nothing here has a rule of its own.
"""
