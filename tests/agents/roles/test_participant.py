"""Voices of the council and the synthesis: text ends the turn, they only read, and are asked once more at most."""

from __future__ import annotations

import pytest
from tests.agents.conftest import OpenDesk, Say

from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.roles.participant import AskedOnceMore, speak, submit
from swarmgate.agents.tools.answer_text import Unread
from swarmgate.agents.tools.answers import Answer, Form
from swarmgate.errors import NoUsableReply

BRIEF = Brief("participant", "debate", participant="a", round=1, sections=(Section("The question", "Good?"),))


def only_yes(text: str) -> bool:
    if text != "yes":
        raise Unread(f"{text!r} is not yes.", "Say yes.")
    return True


YES = Form(Answer, lambda _given: True, in_text=only_yes)


async def test_a_voice_reads_and_its_persona_stands_last(make_agent: OpenDesk, say: Say) -> None:
    agent, model = make_agent(
        say("read_file", path="README.md"), say("write_file", path="x", content="y"), "yes", persona="I!"
    )
    assert (await speak(agent, BRIEF, answer=only_yes)).value
    assert model.requests[0].messages[0].content.endswith("\n\nI!")
    assert "# Demo" in model.requests[1].messages[-1].content
    assert "not offered" in model.heard
    assert not (agent.files.root / "x").exists()


async def test_an_answer_of_no_use_is_sent_back_once(make_agent: OpenDesk) -> None:
    agent, model = make_agent("no", "yes")
    assert (await speak(agent, BRIEF, answer=AskedOnceMore(only_yes))).value
    assert "'no' is not yes. Say yes." in model.heard
    agent, model = make_agent("no", "never", "yes")
    with pytest.raises(NoUsableReply, match=r"the last: 'never' is not yes\.$"):
        await submit(agent, Brief("architect", "synthesize", task="1.2", attempt=2, sections=BRIEF.sections), YES)
    assert model.brief.startswith("ROLE: architect\nSTEP: synthesize\nTASK: 1.2\nATTEMPT: 2\n\n")
    assert len(model.requests) == 2


def test_a_whole_section_is_never_cut() -> None:
    assert "z" * 500 in Section("T", "z" * 500, whole=True).render(100)
    assert "400 characters left out" in Section("T", "z" * 500).render(100)
