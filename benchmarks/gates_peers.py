"""Configures prek with hooks for the tools of our gates, as the peer of `benchmarks/gates.py`.

All hooks are `language: system` and run what is installed here, so nothing is fetched. Where prek is not on PATH, an
environment of its own gets it by pip; where that fails, its columns are empty.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from swarmgate.gates.sast import rules, semgrep

CONFIG = ".pre-commit-config.yaml"
_SCRIPTS = Path(sysconfig.get_path("scripts"))


def program(folder: Path) -> Path | None:
    """The path of prek; None where it cannot be had."""
    installed = _script("prek")
    if installed:
        return Path(installed)
    place = folder / "peers"
    try:
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True, capture_output=True, timeout=120)
        install = [str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "prek"]
        subprocess.run(install, check=True, capture_output=True, timeout=180)
    except (OSError, subprocess.SubprocessError):
        return None
    return path if (path := place / "bin" / "prek").is_file() else None


def configure(project: Path, *, rival: bool) -> list[str]:
    """Write the hooks' configuration; the names of tools that are not installed here.

    Args:
        project: where.
        rival: all hooks at once, and semgrep's engine without its Python front end: the fastest honest setting.
    """
    pack = rules.pack(rules.for_languages(rules.load(), ["python"]), Path(tempfile.gettempdir()))
    quick = ["--experimental"] if rival else []
    engine = str(semgrep.program()) if rival else _script("semgrep")
    flags = ["scan", *quick, "--metrics=off", "--disable-version-check", "--quiet", f"--config={pack}"]
    hooks = {
        "ruff-check": ([_script("ruff"), "check", "--fix", "--exit-zero"], "python"),
        "ruff-format": ([_script("ruff"), "format", "--check"], "python"),
        "bandit": ([_script("bandit"), "--quiet", "--exit-zero"], "python"),
        "semgrep": ([engine, *flags], "text"),
        "detect-secrets": ([_script("detect-secrets-hook")], "text"),
        "cyclonedx": ([_script("cyclonedx-py"), "requirements", "--output-file", "/dev/null"], "requirements"),
    }
    listed = [
        {
            "id": name,
            "name": name,
            "language": "system",
            "entry": " ".join(entry),
            **_concerning(about),
            **({"priority": 0} if rival else {}),
        }
        for name, (entry, about) in hooks.items()
        if entry[0]
    ]
    # JSON is YAML.
    (project / CONFIG).write_text(json.dumps({"repos": [{"repo": "local", "hooks": listed}]}, indent=1))
    return [name for name, (entry, _) in hooks.items() if not entry[0]]


def _concerning(about: str) -> dict[str, object]:
    if about == "requirements":  # as our gate: only where a manifest or lock is part of the change
        return {"files": "^requirements[.]txt$", "require_serial": True}
    # Our own parallelism is inside; a hook's files in several processes would start semgrep more than once.
    return {"types": [about], "require_serial": True}


def _script(name: str) -> str:
    path = _SCRIPTS / name
    return str(path) if path.is_file() else shutil.which(name) or ""
