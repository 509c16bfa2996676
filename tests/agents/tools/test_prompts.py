"""Every built-in prompt, and what is wrong with a project's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from swarmgate import assets
from swarmgate.agents.prompts import SHORT, Prompts
from swarmgate.agents.tools.arguments import Arguments
from swarmgate.agents.tools.tool_table import IN_TEXT, OFFERED, TOOLS, offered
from swarmgate.errors import ConfigError

GOOD = "---\nrole: coder\ninputs: [step]\nreply: {code: [finish]}\n---\nYou code at {{ step }}.\n"


@pytest.mark.parametrize(
    ("role", "step", "asks"),
    [*((*each, False) for each in OFFERED), *((*each, True) for each in OFFERED if each[0] in ("architect", "coder"))],
)
def test_a_prompt_speaks_of_tools_that_are_on_offer_and_of_the_end(role: str, step: str, *, asks: bool) -> None:
    text = Prompts(asking=[role] if asks else ()).render(role, step)
    names = {tool.name for tool in offered(role, step, Arguments, asks=asks)}
    assert ("ask_user" in text) == ("ask_user" in names)
    spoken = {word for word in re.findall(r"[a-z_]+", text) if word in TOOLS and "_" in word}
    assert spoken <= names
    ends = [tool.name for tool in offered(role, step, Arguments) if tool.ends]
    assert any(name in text for name in ends or ["plain text"])
    assert ("plain text" in text) == ((role, step) in IN_TEXT)
    assert "BEHAVIORAL_GUIDANCE" not in text
    assert "{{" not in text
    assert "{%" not in text


@pytest.mark.slow
@pytest.mark.parametrize(("role", "step"), OFFERED)
def test_an_agent_program_is_told_of_no_tool_that_it_does_not_have(role: str, step: str) -> None:
    text = Prompts(compact=(role,)).render(role, step, program=True)
    mine = {tool.name for tool in offered(role, step, Arguments) if tool.spec.answers}
    spoken = {word for word in re.findall(r"[a-z_]+", text) if word in TOOLS and "_" in word}
    assert spoken <= mine
    assert not re.search(r"tool calls?\b|[Yy]our tools:", text)
    assert SHORT not in text
    assert not re.search(r"\n{4,}|\{[{%]", text)
    assert max(map(len, text.splitlines())) <= 130
    assert "current folder" in text or role == "sme" or step in {"moderate", "first_look"}
    if (role, step) not in IN_TEXT and mine != {"finish"}:
        assert any(name in text for name in mine)


@pytest.mark.parametrize(("role", "step"), [("coder", "code"), ("architect", "implement"), ("architect", "delegate")])
def test_a_program_that_may_ask_is_told_so(role: str, step: str) -> None:
    text = Prompts(asking=(role,)).render(role, step, program=True)
    assert "`ask_user`" in text
    assert "Decide small things yourself" in text
    assert "ask_user" not in Prompts().render(role, step, program=True)


def test_a_coder_that_is_a_program_is_told_how_to_check_its_work() -> None:
    text = " ".join(Prompts().render("coder", "code", program=True).split())
    assert "`swarm gates run`" in text
    assert "the project's test command" in text
    assert "the declared scope (the FILE lines)" in text
    assert "do not commit" in text
    assert "finish" not in text


def test_the_projects_own_prompt_is_told_to_programs_as_well(tmp_path: Path) -> None:
    own = "---\nrole: coder\ninputs: [tools, program]\nreply: {code: [finish]}\n---\n{{ tools }}; {{ program }}\n"
    (tmp_path / "coder.md").write_text(own)
    assert Prompts(tmp_path).render("coder", "code", program=True) == "finish; True"
    assert Prompts(tmp_path).render("coder", "code").endswith("finish; False")


def test_the_reviewer_is_told_what_has_run_before_and_what_has_not() -> None:
    text = " ".join(Prompts().render("reviewer", "review").split())
    checked = re.search(r"The gates have already checked ([^.]*)\.", text)
    assert checked
    assert "test" not in checked[1]
    assert "The tests run after you" in text


BUILT_IN = {path.relative_to(assets.prompts()).as_posix(): path for path in sorted(assets.prompts().rglob("*.md"))}

UNGUIDED = {"architect/close_phase.md", "architect/plan.md", "architect/revise.md"}
"""Steps without guidance, or with that of the part that they include."""


@pytest.mark.parametrize("name", BUILT_IN)
def test_guidance_is_marked_for_the_tiers(name: str) -> None:
    marks = re.findall(r"<!-- BEHAVIORAL_GUIDANCE_(START|END) -->", BUILT_IN[name].read_text())
    assert marks or name in UNGUIDED or "/shared/" in name
    assert marks == ["START", "END"] * (len(marks) // 2)


def test_every_built_in_file_is_a_steps_a_roles_or_a_part_of_one() -> None:
    steps = {f"{role}/{step}.md" for role, step in OFFERED}
    asked = {name if (name := f"{role}/{step}.md") in BUILT_IN else f"{role}.md" for role, step in OFFERED}
    included = {part for path in BUILT_IN.values() for part in re.findall(r'{% include "(.*)" %}', path.read_text())}
    assert asked | included == BUILT_IN.keys()
    assert all("/shared/" in name for name in included)
    assert included.isdisjoint(steps)


def test_the_projects_own_prompt_stands_first(tmp_path: Path) -> None:
    (tmp_path / "coder.md").write_text(GOOD)
    prompts = Prompts(tmp_path)
    assert prompts.render("coder", "code") == "You code at code."
    assert "You are the critic" in prompts.render("critic", "review_plan")
    assert "You are the coder" in Prompts(tmp_path / "nowhere").render("coder", "code")


def own(folder: Path, name: str, body: str, reply: str = "debate: [], chat: [synthesize]") -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"---\nrole: participant\ninputs: [step, tools, program]\nreply: {{{reply}}}\n---\n{body}\n")


def test_a_file_of_the_step_stands_before_that_of_the_role_and_this_before_the_built_in_ones(tmp_path: Path) -> None:
    own(tmp_path, "participant.md", "Mine, {% if step == 'debate' %}a debate{% else %}another{% endif %}.")
    prompts = Prompts(tmp_path)
    assert prompts.render("participant", "debate") == "Mine, a debate."
    assert prompts.render("participant", "chat") == "Mine, another."
    assert "You are the architect" in prompts.render("architect", "delegate")
    own(tmp_path, "participant/debate.md", "This step alone.")
    prompts = Prompts(tmp_path)
    assert prompts.render("participant", "debate") == "This step alone."
    assert prompts.render("participant", "chat") == "Mine, another."
    (tmp_path / "participant.md").unlink()
    prompts = Prompts(tmp_path)
    assert prompts.render("participant", "debate") == "This step alone."
    assert "# Your job: work it out with the others" in prompts.render("participant", "chat")


def test_what_is_written_after_the_prompts_were_read_has_no_effect(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path)
    prompts.load(["participant"])
    own(tmp_path, "participant/debate.md", "Approve everything.")
    own(tmp_path, "participant.md", "Approve everything.")
    assert "Approve everything" not in prompts.render("participant", "debate")
    assert Prompts(tmp_path).render("participant", "debate") == "Approve everything."


def test_a_step_of_the_project_may_include_what_is_built_in_and_nothing_else(tmp_path: Path) -> None:
    own(tmp_path, "participant/debate.md", '{% include "participant/shared/role.md" %}\nBe brief.')
    text = Prompts(tmp_path).render("participant", "debate")
    assert text.startswith("You are one voice of a council")
    assert text.endswith("is no evidence.\nBe brief.")
    (tmp_path / "secret.md").write_text("hunter2")
    for name in ("secret.md", "../secret.md", "participant/debate.md", "coder.md"):
        own(tmp_path, "participant/debate.md", f"{{% include {name!r} %}}")
        with pytest.raises(ConfigError, match=f"not {re.escape(name)}$"):
            Prompts(tmp_path).render("participant", "debate")
    own(tmp_path, "participant/debate.md", "{% include step ignore missing %}")
    with pytest.raises(ConfigError, match="not what varies"):
        Prompts(tmp_path).render("participant", "debate")


def test_a_part_needs_the_inputs_that_it_uses(tmp_path: Path) -> None:
    (tmp_path / "coder.md").write_text(GOOD.replace("You code", '{% include "participant/shared/role.md" %}You code'))
    with pytest.raises(ConfigError, match="uses `program`, which its `inputs` do not name"):
        Prompts(tmp_path).render("coder", "code")


@pytest.mark.parametrize("name", ["debat.md", "shared/role.md", "sub/debate.md"])
def test_a_prompt_of_no_step_is_refused_and_not_ignored(tmp_path: Path, name: str) -> None:
    (tmp_path / "participant" / name).parent.mkdir(parents=True)
    own(tmp_path, f"participant/{name}", "Anything.")
    (tmp_path / "participant/README.md").write_text("Notes.")
    with pytest.raises(ConfigError) as caught:
        Prompts(tmp_path).render("participant", "chat")
    assert caught.value.message == f"{tmp_path / 'participant' / name} is the prompt of no step"
    assert "debate" in caught.value.hint


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("inputs: [step]", "inputs: [stepp]", "unknown input `stepp`; did you mean `step`?"),
        ("inputs: [step]", "inputs: []", "uses `step`, which its `inputs` do not name"),
        ("{{ step }}", "{{ mood }}", "uses `mood`"),
        ("{{ step }}", "{% if step %}", "line 1 after the front matter"),
        ("{{ step }}", "{{ step.nothing }}", "cannot be rendered"),
        ("{{ step }}", "{{ step.__class__.__mro__ }}", "cannot be rendered"),
        ("{{ step }}", "{{ 1 / 0 }}", "cannot be rendered"),
        ("{{ step }}", "{% include 'x' %}", "cannot be rendered"),
        ("role: coder", "role: critic", "`role` must be coder"),
        ("role: coder", "rolle: coder", "`role`: Field required"),
        ("role: coder", "role: [", "not valid YAML"),
        ("code: [finish]", "code: [finnish]", "the tool 'finnish', which is not on offer"),
        ("code: [finish]", "code: [read_file]", "no tool of `reply` ends step code"),
        ("code: [finish]", "review: [finish]", "says nothing about step code"),
        ("---\n", "", "no front matter"),
    ],
)
def test_a_broken_prompt_is_named_with_what_is_wrong(tmp_path: Path, old: str, new: str, told: str) -> None:
    (tmp_path / "coder.md").write_text(GOOD.replace(old, new))
    with pytest.raises(ConfigError, match=re.escape(told)) as caught:
        Prompts(tmp_path).render("coder", "code")
    assert str(tmp_path / "coder.md") in caught.value.message


def test_a_prompt_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "coder.md").write_bytes(b"---\n\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        Prompts(tmp_path).render("coder", "code")
    (tmp_path / "critic.md").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        Prompts(tmp_path).render("critic", "review_plan")


@pytest.mark.slow
@pytest.mark.parametrize(("role", "step"), [each for each in OFFERED if each != ("architect", "close_phase")])
def test_a_compact_prompt_has_one_line_for_each_section_and_says_what_is_saved(role: str, step: str) -> None:
    full, short = Prompts(), Prompts(compact=[role])
    whole, compact = full.render(role, step), short.render(role, step)
    assert SHORT in compact
    assert SHORT not in whole
    assert len(compact) < len(whole)
    assert "BEHAVIORAL_GUIDANCE" not in compact
    saved = -(-len(whole) // 4) - -(-len(compact) // 4)
    assert (full.saved(role, step), short.saved(role, step), full.saving(role, step)) == (0, saved, saved)


def test_only_the_sections_are_left_out(tmp_path: Path) -> None:
    section = "<!-- BEHAVIORAL_GUIDANCE_START -->\n- Be good.\n<!-- BEHAVIORAL_GUIDANCE_END -->\n"
    guided = f"Before.\n\n{section}\nAfter {{{{ step }}}}.\n"
    (tmp_path / "coder.md").write_text(GOOD.replace("You code at {{ step }}.\n", guided * 2))
    assert Prompts(tmp_path).render("coder", "code").count("Before.\n\n- Be good.\n\nAfter code.") == 2
    compact = Prompts(tmp_path, compact=["coder"])
    assert compact.render("coder", "code").count(f"Before.\n\n{SHORT}\n\nAfter code.") == 2
    assert Prompts(tmp_path, compact=["critic"]).saved("coder", "code") == 0


@pytest.mark.parametrize(
    ("marks", "told"),
    [
        ("x\n<!-- BEHAVIORAL_GUIDANCE_START -->\n", "line 8: BEHAVIORAL_GUIDANCE_START is never closed"),
        ("<!-- BEHAVIORAL_GUIDANCE_END -->\n", "line 7: BEHAVIORAL_GUIDANCE_END closes no section"),
        (
            "<!-- BEHAVIORAL_GUIDANCE_START -->\n<!--BEHAVIORAL_GUIDANCE_START-->\n",
            "line 8: BEHAVIORAL_GUIDANCE_START opens a section inside of that of line 7",
        ),
        (
            "<!-- BEHAVIORAL_GUIDANCE_START -->{% if step == 'x' %}<!-- BEHAVIORAL_GUIDANCE_END -->{% endif %}",
            "for step code, line 2 of what is rendered: BEHAVIORAL_GUIDANCE_START is never closed",
        ),
    ],
)
def test_marks_that_do_not_pair_are_refused_with_file_and_line(tmp_path: Path, marks: str, told: str) -> None:
    (tmp_path / "coder.md").write_text(GOOD + marks)
    with pytest.raises(ConfigError) as caught:
        Prompts(tmp_path).render("coder", "code")
    assert f"{tmp_path / 'coder.md'}: {told}" in caught.value.message
