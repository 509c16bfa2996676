"""Every built-in prompt, and what is wrong with a project's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from swarmgate import assets
from swarmgate.agents.arguments import Arguments
from swarmgate.agents.prompts import SHORT, Prompts
from swarmgate.agents.tools import IN_TEXT, OFFERED, TOOLS, offered
from swarmgate.errors import ConfigError

GOOD = "---\nrole: coder\ninputs: [step]\nreply: {code: [finish]}\n---\nYou code at {{ step }}.\n"


@pytest.mark.parametrize(("role", "step"), OFFERED)
def test_a_prompt_speaks_of_tools_that_are_on_offer_and_of_the_end(role: str, step: str) -> None:
    text = Prompts().render(role, step)
    names = {tool.name for tool in offered(role, step, Arguments)}
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


@pytest.mark.parametrize("path", sorted(assets.prompts().glob("*.md")), ids=lambda path: path.stem)
def test_guidance_is_marked_for_the_tiers(path: Path) -> None:
    text = path.read_text()
    marks = re.findall(r"<!-- BEHAVIORAL_GUIDANCE_(START|END) -->", text)
    assert marks
    assert marks == ["START", "END"] * (len(marks) // 2)


def test_the_projects_own_prompt_stands_first(tmp_path: Path) -> None:
    (tmp_path / "coder.md").write_text(GOOD)
    prompts = Prompts(tmp_path)
    assert prompts.render("coder", "code") == "You code at code."
    assert "You are the critic" in prompts.render("critic", "review_plan")
    assert "You are the coder" in Prompts(tmp_path / "nowhere").render("coder", "code")


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
