"""Locates swarmgate's data folders: gate definitions, prompts, the `.swarm/` template, the demo, pages and examples.

In a wheel the folders stand under `swarmgate/_data/` (see pyproject.toml); in an
editable checkout they are the top-level folders of the repository.
"""

from __future__ import annotations

from pathlib import Path

from swarmgate.errors import MissingRequirement

_PACKAGE = Path(__file__).resolve().parent
_WHEEL = _PACKAGE / "_data"
_CHECKOUT = _PACKAGE.parent.parent


def gates() -> Path:
    """The folder of the built-in gate definitions (`<id>.toml`) and their rule packs (`rules/`)."""
    return _folder("gates", "gates")


def prompts() -> Path:
    """The folder of the built-in prompts, one markdown file a role, or a step where a role has many."""
    return _folder("prompts", "prompts")


def template() -> Path:
    """The folder that `swarm init` copies to `.swarm/`."""
    return _folder("swarm-template", ".swarm-template")


def demo() -> Path:
    """The folder of `swarm demo`: the small project (`project/`) and what the scripted model says (`script.yaml`)."""
    return _folder("demo", "examples/demo")


def docs() -> Path:
    """The folder of the pages that `swarm docs` shows; `README.md` is their index."""
    return _folder("docs", "docs")


def examples() -> Path:
    """The folder of the files to begin with, which `swarm docs` shows as well."""
    return _folder("examples", "examples")


def _folder(in_wheel: str, in_checkout: str) -> Path:
    # A checkout is told by its pyproject.toml: `site-packages/../gates` must never be taken for ours.
    if (_CHECKOUT / "pyproject.toml").is_file() and (_CHECKOUT / in_checkout).is_dir():
        return _CHECKOUT / in_checkout
    if (_WHEEL / in_wheel).is_dir():
        return _WHEEL / in_wheel
    raise MissingRequirement(
        f"swarmgate's own data folder {in_wheel!r} is missing: neither {_WHEEL / in_wheel} "
        f"nor {_CHECKOUT / in_checkout} is there.",
        hint="The installation is incomplete. Install it again: pip install --force-reinstall WHEEL",
    )
