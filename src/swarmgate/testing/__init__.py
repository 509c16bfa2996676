"""Public fakes for tests: a scripted model behind a real HTTP endpoint, and one in the process.

    with ScriptedServer([{"match": {"role": "coder"}, "replies": [{"text": "hello"}]}]) as server:
        ...  # any OpenAI-compatible client at server.base_url; server.requests holds what it sent

`python -m swarmgate.testing SCRIPT` serves a script file. The format is described in `swarmgate.testing.script`. With
`habits` the server plays what real endpoints do otherwise (`swarmgate.testing.habits`).
"""

from __future__ import annotations

from swarmgate.llm.scripted import ScriptedModel
from swarmgate.testing.habits import HABITS, Habit
from swarmgate.testing.script import Call, Fault, Match, Reply, Rule, Script
from swarmgate.testing.server import ReceivedRequest, ScriptedServer

__all__ = [
    "HABITS",
    "Call",
    "Fault",
    "Habit",
    "Match",
    "ReceivedRequest",
    "Reply",
    "Rule",
    "Script",
    "ScriptedModel",
    "ScriptedServer",
]
