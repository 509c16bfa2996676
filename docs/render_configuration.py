"""Writes the key tables of docs/configuration.md from the fields of `swarmgate.config`.

Run it with `python docs/render_configuration.py`. The text between the two marks of the page is derived and not to be
edited; everything around it is. A test (tests/test_docs.py) fails while the page differs from what would be written.
"""  # noqa: INP001 - a script beside the pages that it writes, not a package

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from derived import Derived

from swarmgate.config import PREFIX, Config, Section

_PLACEHOLDERS = {
    "providers": "NAME",
    "roles": "ROLE",
    "agents": "NAME",
    "authority": "ROLE",
    "prices": '"provider/model"',
    "hooks": "EVENT",
    "repositories": "NAME",
    "queues": "NAME",
}
_LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "pattern": "of the form `{}`",
}
"""JSON-schema keyword -> how the page says it."""


def tables() -> str:
    """One heading and one table for each section of `Config`, in its order; a section's own sections follow it."""
    return "\n".join(_section(*names) for names in _sections(Config))


def _sections(table: type[Section], *above: str) -> Iterator[tuple[str, Any]]:
    """The dotted name and the type of every section below a table."""
    for name, field in table.model_fields.items():
        annotation: Any = field.annotation
        if not above or _is_section(annotation) or _is_many(annotation) or _is_list(annotation):
            yield ".".join((*above, name)), annotation
        if _is_section(annotation):
            yield from _sections(annotation, *above, name)


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Section)


def _is_many(annotation: Any) -> bool:
    """Whether it is a table of sections: a name, then its keys."""
    return get_origin(annotation) is dict and _is_section(get_args(annotation)[1])


def _is_list(annotation: Any) -> bool:
    """Whether it is a list of tables."""
    return get_origin(annotation) is tuple and _is_section(get_args(annotation)[0])


def _texts(name: str) -> str:
    """A table of the user's own keys, each with a text."""
    field = Config.model_fields[name]
    key, variable = _PLACEHOLDERS[name], f"{PREFIX}{_nested(name)}__{_PLACEHOLDERS[name]}"
    lines = [f"### `[{name}]`", "", field.description or "", "", f"Environment: `{variable}`.", ""]
    lines += ["| key | type | default | limits | meaning |", "|---|---|---|---|---|"]
    spec = Config.model_json_schema()["properties"][name]
    limits = "; ".join(f"the key of the form `{form}`" for form in spec.get("patternProperties", {}))
    return "\n".join(
        [*lines, f"| `{key}` | string | unset | {limits} | A shell command; the event is JSON on its stdin. |", ""]
    )


def _section(name: str, annotation: Any) -> str:
    if get_origin(annotation) is dict and not _is_many(annotation):
        return _texts(name)
    many, listed = _is_many(annotation), _is_list(annotation)
    placeholder = _PLACEHOLDERS[name.rpartition(".")[2]] if many else ""
    section: type[Section] = get_args(annotation)[1] if many else get_args(annotation)[0] if listed else annotation
    title = f"{name}.{placeholder}" if many else f"[{name}]" if listed else name
    doc = (section.__doc__ or "").partition(": ")[2]
    lines = [f"### `[{title}]`", "", doc[:1].upper() + doc[1:], ""]
    names = get_args(annotation)[0] if many else None
    if get_origin(names) is Literal:
        lines += [f"{placeholder} is one of {', '.join(f'`{each}`' for each in get_args(names))}.", ""]
    if not (many or listed):
        lines += [f"Environment: `{PREFIX}{_nested(name)}__KEY`, such as `{_variable(name, section)}`.", ""]
    lines += ["| key | type | default | limits | meaning |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *_rows(section), ""])


def _variable(name: str, section: type[Section]) -> str:
    return f"{PREFIX}{_nested(name)}__{next(iter(section.model_fields))}".upper()


def _nested(name: str) -> str:
    return name.replace(".", "__").upper()


def _rows(section: type[Section]) -> list[str]:
    schema = section.model_json_schema()
    required = schema.get("required", [])
    rows = []
    for key, spec in schema["properties"].items():
        field = section.model_fields[key]
        if _is_section(field.annotation) or _is_many(field.annotation) or _is_list(field.annotation):
            continue
        default = "required" if key in required else _value(field.get_default(call_default_factory=True))
        cells = (f"`{key}`", _type(spec), default, _limits(spec), field.description or "")
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return rows


def _choices(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in spec.get("anyOf", [spec]) if each.get("type") != "null"]


def _type(spec: dict[str, Any]) -> str:
    kinds = {"array": "list of strings", "object": "table of strings"}
    return " or ".join(
        ", ".join(f"`{value}`" for value in each["enum"]) if "enum" in each else kinds.get(each["type"], each["type"])
        for each in _choices(spec)
    )


def _value(default: Any) -> str:
    if default is None:
        return "unset"
    return f"`{json.dumps(default)}`"


def _limits(spec: dict[str, Any]) -> str:
    found = [text.format(_number(each[key])) for each in _choices(spec) for key, text in _LIMITS.items() if key in each]
    return ", ".join(found)


def _number(limit: Any) -> str:
    return f"{limit:,.10g}" if isinstance(limit, int | float) else str(limit)


DERIVED = Derived(Path(__file__).with_name("configuration.md"), Path(__file__).name, tables)

if __name__ == "__main__":
    sys.exit(DERIVED.write())
