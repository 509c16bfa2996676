"""Loads the system messages of roles from `<role>/<step>.md` or `<role>.md`, with front matter.

    ---
    role: architect
    inputs: [step]
    reply: {delegate: [declare_scope, delegate]}
    ---
    {% include "architect/shared/role.md" %}
    # Your job: delegate one task to the coder ...

A file of the project's `.swarm/prompts/` takes the place of a built-in one: the step's file first, then the role's,
which may answer for every step (`{% if step == "plan" %}`). What is included is always built in: a link in a repository
of somebody else's could lead anywhere.

`inputs` are the variables that the text may use, of those in `INPUTS`. `reply` names, by step, the tools that the text
speaks of as the answer: each must be on offer at that step, and one of them must end the turn.

What stands between `<!-- BEHAVIORAL_GUIDANCE_START -->` and `<!-- BEHAVIORAL_GUIDANCE_END -->` appeals to judgement. A
role with compact prompts gets one line instead: its small model would rather lose the task over it, and the rules that
count are enforced by programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from swarmgate import assets
from swarmgate.agents.tools.arguments import Arguments
from swarmgate.agents.tools.tool_table import IN_TEXT, OFFERED, offered
from swarmgate.config import nearest
from swarmgate.domain.base import Frozen
from swarmgate.errors import ConfigError
from swarmgate.llm.endpoint.wire import estimated_tokens

if TYPE_CHECKING:
    from jinja2 import Environment, Template

INPUTS = ("step", "tools", "program", "asks")
"""What a prompt can be rendered with: the step, the names of the tools on offer, separated by commas, whether it is for
an agent program, which has tools of its own (of ours it is offered only those that are its answer), and whether the
role may ask the user in the middle of a task."""

SHORT = "[Enforcement: programmatic gates active]"
"""What a section of guidance becomes in a compact prompt."""

_HINT = "write START before and END after each section of guidance, as HTML comments"
_MARK = re.compile(r"<!--[ \t]*BEHAVIORAL_GUIDANCE_(START|END)[ \t]*-->")
_SECTION = re.compile(rf"{_MARK.pattern}.*?{_MARK.pattern}", re.DOTALL)
_MARK_LINE = re.compile(rf"^[ \t]*{_MARK.pattern}[ \t]*\n|{_MARK.pattern}", re.MULTILINE)


class FrontMatter(Frozen):
    """The front matter of a prompt file."""

    role: str
    inputs: tuple[str, ...] = ()
    reply: dict[str, tuple[str, ...]]


class Prompts:
    """Renders the system message of a role at a step.

    Args:
        override_dir: the folder with the project's own prompts; need not exist.
        compact: the roles that get compact prompts.
        asking: the roles that may ask the user in the middle of a task.
    """

    def __init__(
        self, override_dir: Path | None = None, *, compact: Iterable[str] = (), asking: Iterable[str] = ()
    ) -> None:
        self._override_dir = override_dir
        self._compact = frozenset(compact)
        self._asking = frozenset(asking)
        self._chosen: dict[tuple[str, str], Path] = {}
        self._loaded: dict[Path, tuple[FrontMatter, Template]] = {}
        self._rendered: dict[tuple[str, str, bool], str] = {}

    def load(self, roles: Iterable[str]) -> None:
        """Reads the files of these roles now; what is written into them later has no effect.

        Raises:
            ConfigError: as `render`.
        """
        self._rendered.clear()
        for role in roles:
            self._check_names(role)
            chosen = {each: self._path(*each) for each in OFFERED if each[0] == role}
            self._loaded |= {path: _load(path, role) for path in dict.fromkeys(chosen.values())}
            self._chosen |= chosen

    def render(self, role: str, step: str, *, program: bool = False) -> str:
        """The system message, full or compact as the role gets it; what it is for a `program` is never compact.

        Raises:
            ConfigError: the file cannot be read, or does not fit its role, its inputs or the tools; names the file.
        """
        text = self._text(role, step, program=program)
        return compacted(text) if role in self._compact and not program else _MARK_LINE.sub("", text).strip()

    def saved(self, role: str, step: str) -> int:
        """Tokens that the compact prompt spares in each call of the role at the step; 0 where it gets the full one."""
        return self.saving(role, step) if role in self._compact else 0

    def saving(self, role: str, step: str) -> int:
        """Tokens that the compact prompt would spare, at a token per 4 characters.

        Raises:
            ConfigError: as `render`.
        """
        text = self._text(role, step)
        return estimated_tokens(len(_MARK_LINE.sub("", text).strip())) - estimated_tokens(len(compacted(text)))

    def _text(self, role: str, step: str, *, program: bool = False) -> str:
        """The rendered prompt with its marks; a file that was read once is rendered once for each step."""
        if (role, step, program) not in self._rendered:
            self._rendered[role, step, program] = self._render(role, step, program=program)
        return self._rendered[role, step, program]

    def _render(self, role: str, step: str, *, program: bool) -> str:
        if (role, step) not in self._chosen:
            self.load((role,))
        path = self._chosen[role, step]
        front, template = self._loaded[path]
        _check_reply(path, front, step)
        asks = role in self._asking
        tools = [tool.name for tool in offered(role, step, asks=asks) if tool.spec.answers or not program]
        values = {"step": step, "tools": ", ".join(tools), "program": program, "asks": asks}
        from jinja2 import TemplateError  # noqa: PLC0415 - late: a tenth of a second

        try:
            text = template.render({name: values[name] for name in front.inputs}).strip()
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise ConfigError(f"{path} cannot be rendered for step {step}: {error}") from error
        _check_marks(path, text, f"for step {step}, line {{line}} of what is rendered")
        return text

    def _check_names(self, role: str) -> None:
        """Whether every prompt in the project's folder for the role is that of a step: others would be ignored."""
        if self._override_dir is None:
            return
        steps = sorted(step for of, step in OFFERED if of == role)
        known = {self._override_dir / role / f"{name}.md" for name in ("README", *steps)}
        for path in sorted({*(self._override_dir / role).rglob("*.md")} - known):
            raise ConfigError(f"{path} is the prompt of no step", hint=f"steps of the {role}: {', '.join(steps)}")

    def _path(self, role: str, step: str) -> Path:
        """The first that is there: the project's file of the step, of the role, the built-in one of the step."""
        names = (f"{role}/{step}.md", f"{role}.md")
        own = [self._override_dir / name for name in names] if self._override_dir else []
        built_in = [assets.prompts() / name for name in names]
        return next((path for path in (*own, *built_in) if path.exists()), built_in[-1])


def _load(path: Path, role: str) -> tuple[FrontMatter, Template]:
    """Reads the file and checks everything that does not depend on the step."""
    try:
        source = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start})", hint="save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    return _parsed(path, source, role)


@lru_cache(maxsize=128)
def _parsed(path: Path, source: str, role: str) -> tuple[FrontMatter, Template]:
    """The prompt of a text; once for all councils of a process, since a role may have twenty of them."""
    _check_marks(path, source, "line {line}")
    head, body = _split(path, source)
    front = _front_matter(path, head)
    if front.role != role:
        raise ConfigError(f"{path}: `role` must be {role}, as the file's name says, not {front.role!r}")
    for name in front.inputs:
        if name not in INPUTS:
            close = nearest(name, INPUTS)
            known = f"did you mean `{close}`?" if close else f"known: {', '.join(INPUTS)}"
            raise ConfigError(f"{path}: unknown input `{name}`; {known}")
    return front, _template(path, body, front)


def compacted(text: str) -> str:
    """The text with one line instead of each section of guidance."""
    return _SECTION.sub(SHORT, text).strip()


def _check_marks(path: Path, text: str, place: str) -> None:
    """Whether every section of guidance that is opened is closed, one after the other.

    Raises:
        ConfigError: one is not; the message names file and line.
    """
    opened = 0
    for found in _MARK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        if (found[1] == "START") == bool(opened):
            what = f"opens a section inside of that of line {opened}" if opened else "closes no section"
            raise ConfigError(f"{path}: {place.format(line=line)}: BEHAVIORAL_GUIDANCE_{found[1]} {what}", hint=_HINT)
        opened = 0 if opened else line
    if opened:
        raise ConfigError(f"{path}: {place.format(line=opened)}: BEHAVIORAL_GUIDANCE_START is never closed", hint=_HINT)


def _split(path: Path, source: str) -> tuple[str, str]:
    lines = source.splitlines(keepends=True)
    marks = [number for number, line in enumerate(lines) if line.rstrip() == "---"][:2]
    if len(marks) < 2 or marks[0] != 0:  # noqa: PLR2004 - one mark opens, one closes
        raise ConfigError(
            f"{path} has no front matter", hint="begin it with `role`, `inputs`, `reply` between --- lines"
        )
    return "".join(lines[1 : marks[1]]), "".join(lines[marks[1] + 1 :])


def _front_matter(path: Path, head: str) -> FrontMatter:
    import yaml  # noqa: PLC0415 - late: only a run needs prompts

    try:
        return FrontMatter.model_validate(yaml.safe_load(head))
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: the front matter is not valid YAML: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: front matter `{place}`: {first['msg']}") from None


def _template(path: Path, body: str, front: FrontMatter) -> Template:
    from jinja2 import TemplateSyntaxError, meta  # noqa: PLC0415 - late: a tenth of a second

    environment = _environment()
    try:
        tree = environment.parse(body)
        used = meta.find_undeclared_variables(tree)
        for name in meta.find_referenced_templates(tree):
            if name not in _shared():
                known = ", ".join(_shared())
                raise ConfigError(f"{path} cannot be rendered: it may include {known}, and not {name or 'what varies'}")
            used |= meta.find_undeclared_variables(environment.parse(_shared()[name]))
        if missing := used - set(front.inputs):
            raise ConfigError(f"{path} uses `{min(missing)}`, which its `inputs` do not name")
        return environment.from_string(body)
    except TemplateSyntaxError as error:
        raise ConfigError(f"{path}: line {error.lineno} after the front matter: {error.message}") from error


@cache
def _environment() -> Environment:
    from jinja2 import DictLoader, StrictUndefined  # noqa: PLC0415 - late: a tenth of a second
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - late: a tenth of a second

    # Sandboxed: a prompt of `.swarm/prompts/` comes with the repository, which may be anybody's.
    return ImmutableSandboxedEnvironment(
        loader=DictLoader(_shared()),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def _shared() -> dict[str, str]:
    """The built-in parts that several steps include, by name, as they stood when a prompt was first read."""
    folder = assets.prompts()
    found = sorted(folder.glob("*/shared/*.md"))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}


def _check_reply(path: Path, front: FrontMatter, step: str) -> None:
    tools: dict[str, Any] = {tool.name: tool for tool in offered(front.role, step, Arguments, asks=True)}
    if step not in front.reply:
        raise ConfigError(f"{path}: `reply` says nothing about step {step}")
    for name in front.reply[step]:
        if name not in tools:
            raise ConfigError(f"{path}: `reply` names the tool {name!r}, which is not on offer at step {step}")
    if (front.role, step) not in IN_TEXT and not any(tools[name].ends for name in front.reply[step]):
        raise ConfigError(f"{path}: no tool of `reply` ends step {step}")
