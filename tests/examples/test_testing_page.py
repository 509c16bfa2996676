"""The script of a council in docs/testing.md does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from tests.project import Project

PAGE = (Path(__file__).parents[2] / "docs/testing.md").read_text("utf-8")


def test_the_script_of_voices_holds_every_pattern(project: Project) -> None:
    (text,) = (each for each in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "synthesize" in each)
    project.play(*yaml.safe_load(text)["rules"])
    told = project.json("debate", "Well?", "--moderator", "chair", exits=1)
    assert (told["verdict"], told["decided_by"], told["tally"]["reject"]) == ("REJECT", "synthesis", 2)
    record = project.json("debate", "show", told["id"])
    first, last = record["rounds"]
    assert [claim["stance"] for speech in first["speeches"] for claim in speech["claims"]] == ["against", "against"]
    assert last["moderation"]["order"] == ["challenger", "advocate"]
    tasks = project.write("t.toml", 'mode = "single"\n[[tasks]]\nparticipant = "ops"\ntext = "Look."\n')
    assert project.json("dispatch", str(tasks))["replies"][0]["text"] == "ops has looked."
    agents = '[[agents]]\nid = "a"\n[[agents]]\nid = "b"\n[initial]\ncontent = "Hello."\n'
    assert project.json("chat", str(project.write("c.toml", agents)))["summary"] == "Lock it."
