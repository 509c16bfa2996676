"""Runs the `run:` steps of an action as they are written, as GitHub's runner does: bash, variables, outputs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTIONS = ROOT / ".github/actions"
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")


def action(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ACTIONS / name / "action.yml").read_text("utf-8"))
    return found


@dataclass
class Runner:
    """One job in a checkout. `context` are the values of expressions, such as `inputs.title`; steps add their outputs.

    What a runner brings along is a folder of its own; swarmgate's environment there is that of the tests, unless the
    step that installs it is run.
    """

    checkout: Path
    temp: Path
    context: dict[str, str]
    environ: Mapping[str, str] = field(default_factory=dict)
    said: str = ""

    def __post_init__(self) -> None:
        self.temp.mkdir()
        self.summary.touch()

    @property
    def summary(self) -> Path:
        return self.temp / "summary.md"

    def without_installing(self) -> None:
        """The tests' own environment stands where the first step makes one."""
        (self.temp / "swarmgate").symlink_to(Path(sys.executable).parent.parent)

    def run(self, name: str, *steps: str) -> int:
        """Runs these steps of an action, in its order, up to the first that fails; returns its exit code."""
        whole = action(name)
        defaults = {f"inputs.{key}": each.get("default", "") for key, each in whole["inputs"].items()}
        self.context = {**{key: self._value(text) for key, text in defaults.items()}, **self.context}
        for step in whole["runs"]["steps"]:
            if "run" in step and step["name"] in steps and (code := self._step(step)):
                return code
        return 0

    def _value(self, text: str) -> str:
        return EXPRESSION.sub(lambda found: self.context[found[1]], text)

    def _step(self, step: Mapping[str, Any]) -> int:
        outputs = self.temp / "outputs"
        outputs.write_text("")
        given = {key: self._value(value) for key, value in step.get("env", {}).items()}
        ours = {"RUNNER_TEMP": str(self.temp), "GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(self.summary)}
        script = self.temp / "step.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self.checkout / self._value(step.get("working-directory", ".")),
            env={**os.environ, **self.environ, **ours, **given},
            capture_output=True,
            text=True,
            check=False,
        )
        self.said += done.stdout + done.stderr
        for line in outputs.read_text().splitlines():
            key, _, value = line.partition("=")
            self.context[f"steps.{step.get('id', '')}.outputs.{key}"] = value
        return done.returncode


_PACKAGES = [path for path in sys.path if path.endswith("site-packages")]
OFFLINE = {
    **dict.fromkeys(("PIP_NO_INDEX", "PIP_NO_DEPS", "PIP_DISABLE_PIP_VERSION_CHECK"), "1"),
    "PIP_NO_BUILD_ISOLATION": "0",  # of pip: "0" is without
    "PYTHONPATH": os.pathsep.join(_PACKAGES),
}
"""For pip: it builds and installs swarmgate, and finds what that needs where the tests have it."""
