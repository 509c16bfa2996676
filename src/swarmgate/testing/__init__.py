"""Public fakes: a scripted model behind a real HTTP endpoint, and one in the process.

    with ScriptedServer([{"match": {"role": "coder"}, "replies": [{"text": "hello"}]}]) as server:
        ...  # any OpenAI-compatible client at server.base_url; server.requests holds what it sent

`python -m swarmgate.testing SCRIPT` serves a script file. The format is described in `swarmgate.testing.script`.
"""

from __future__ import annotations

from swarmgate.llm.scripted import ScriptedModel
from swarmgate.testing.script import Call, Fault, Match, Reply, Rule, Script
from swarmgate.testing.server import ReceivedRequest, ScriptedServer

__all__ = ["Call", "Fault", "Match", "ReceivedRequest", "Reply", "Rule", "Script", "ScriptedModel", "ScriptedServer"]
