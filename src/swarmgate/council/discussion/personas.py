"""Reads and edits a personas file (TOML, YAML or JSON), which defines the participants of a discussion.

[[experts]]
id = "security-lead"
name = "Security lead"
expertise = "Threat models, key custody"
thinkingStyle = "from the worst case"

[[tensions]]
between = ["security-lead", "operator"]
axis = "safety against speed"

[problemDefinition]
statement = "How often keys rotate, and who does it"
successCriteria = ["nobody is woken"]

A text may be a list of texts, and the tensions may stand under `tensionMap`. Keys stand in camelCase or snake_case.
Every mistake is named with file, line and key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, ConfigDict, Field, ValidationError

from swarmgate.config import nearest, toml_text
from swarmgate.config.setting_errors import unknown
from swarmgate.council.discussion.findings import Camel
from swarmgate.council.discussion.model import USER, Cast, Expert, Mode, ProblemDefinition, Tension
from swarmgate.council.discussion.request import FIXED, Agents, Begins, check_experts
from swarmgate.council.limits import PARTICIPANTS, PERSONA, TOPIC
from swarmgate.council.records.document_store import Documents
from swarmgate.council.requests import request_file, yaml_text
from swarmgate.council.requests.toml_lines import Place
from swarmgate.errors import CouncilRefused

PROPOSED = "personas/proposed.json"
"""The text of a cast that waits to be confirmed, in its record."""

_EDITED = ("experts", "tensions", "problem_definition")
"""What of a cast is its user's to change in that text."""

_TAKEN = (*FIXED, USER)
_KEYS = ("id", "name", "expertise", "thinkingStyle", "bias", "replyTendency", "stakes", "blindSpots")
_KEYS_IF_GIVEN = ("agent", "model", "system", "folder")
_MOST_BYTES = 1_000_000
_KINDS = {".json": "JSON", ".yaml": "YAML", ".yml": "YAML"}
_JOINED = ("statement", "scope", "expertise", "thinkingStyle", "bias", "replyTendency", "stakes", "blindSpots")
"""Keys of texts that may be lists."""

_HINT = "Mend that, then try again; every key: docs/discussion.md, Personas."


class PersonasFile(Camel):
    """What may stand in the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    experts: tuple[Expert, ...] = Field(min_length=int(PARTICIPANTS.least), max_length=int(PARTICIPANTS.most))
    tensions: tuple[Tension, ...] = Field((), validation_alias=AliasChoices("tensions", "tensionMap", "tension_map"))
    problem_definition: ProblemDefinition | None = None


def as_given(experts: Sequence[Expert], _begins: Begins) -> tuple[Expert, ...]:
    """The experts without what their agents say: for who only looks."""
    return tuple(experts)


def given(
    personas: Cast | Path | Sequence[Expert | Mapping[str, Any]], models: Mapping[str, str], agents: Agents
) -> tuple[Cast, dict[str, str]]:
    """The experts, given in any form, with their agents, models and tensions; and the models of fixed roles.

    Raises:
        CouncilRefused: a file or an expert is wrong, or a model is for nobody.
    """
    if isinstance(personas, Path):
        personas = read(personas, agents)
    elif isinstance(personas, Cast):
        personas = personas.model_copy(update={"experts": agents(personas.experts, in_code)})
    else:
        values = {"experts": [each.model_dump() if isinstance(each, Expert) else each for each in personas]}
        personas = cast_of(values, begins=in_code, agents=agents) if personas else Cast(experts=())
    known = [*FIXED, *(each.id for each in personas.experts)]
    for name in models:
        if name not in known:
            close = nearest(name, known)
            message = f"did you mean `{close}`?" if close else f"known here: {', '.join(known)}"
            raise CouncilRefused(f"`models` names {name!r:.60}, who does not take part; {message}")
    experts = tuple(
        each.model_copy(update={"model": models[each.id]}) if each.id in models else each for each in personas.experts
    )
    fixed = {name: model for name, model in models.items() if name in FIXED}
    return personas.model_copy(update={"experts": experts}), fixed


def in_code(place: Place) -> str:
    """How a message about a key of experts that are given in code begins."""
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place[1:])
    return f"`personas{key}`: "


def read(path: Path, agents: Agents = as_given) -> Cast:
    """The cast of a file.

    Raises:
        CouncilRefused: it cannot be read, a key is missing, unknown or wrong, or there is no such agent; names file,
            line and key.
    """
    return parsed(text_of(path), str(path), agents)


def changed(cast: Cast, text: str, name: str, mode: Mode, agents: Agents) -> Cast:
    """The cast with the experts and tensions of an edited text, and with its problem where it has one.

    Raises:
        CouncilRefused: as `parsed`; or these are too many or too few for a discussion of that mode.
    """
    made = parsed(text, name, agents)
    check_experts(made.experts, mode)
    problem = made.problem_definition or cast.problem_definition
    return cast.model_copy(
        update={"experts": made.experts, "tensions": made.tensions, "problem_definition": problem, "dropped": ()}
    )


def parsed(text: str, name: str, agents: Agents = as_given) -> Cast:
    """The cast of a text: YAML or JSON where `name`, the file's, says so, JSON too where it begins with a brace.

    A list alone is that of the experts.

    Raises:
        CouncilRefused: as `read`.
    """
    kind = _KINDS.get(Path(name).suffix, "JSON" if text.lstrip().startswith("{") else "TOML")
    try:
        values = toml_text.loads(text) if kind == "TOML" else yaml_text.loads(text, is_json=kind == "JSON")
    except (ValueError, RecursionError) as error:
        raise CouncilRefused(f"{name} is not valid {kind}: {error}", hint=_HINT) from None
    lines = text if kind == "TOML" or name.endswith(yaml_text.SUFFIXES) else ""
    values = {"experts": values} if isinstance(values, list) else values
    return cast_of(values, begins=lambda place: request_file.begins(name, lines, place), agents=agents)


def proposed(documents: Documents, record: str, cast: Cast, agents: Agents = as_given) -> Cast:
    """The cast of a record that waits to be confirmed, as its text has it, which somebody may have edited.

    Who stands in a text that nobody edited is as they were generated, or given.

    Args:
        documents: where the text is.
        record: whose it is.
        cast: as it was generated, where there is no text.
        agents: give the experts of an edited text what their agents say.

    Raises:
        CouncilRefused: it is no JSON, a key is missing, unknown or wrong, or there is no such agent; names file and
            key.
    """
    text, name = documents.get(record, PROPOSED), documents.place(record, PROPOSED)
    if not text:
        return cast
    try:
        values = dict(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise CouncilRefused(f"{name} is not valid JSON: {error}", hint=_HINT) from None
    own = Cast.model_fields.keys() - PersonasFile.model_fields.keys()
    remaining = {key: each for key, each in values.items() if key not in own}

    def begins(place: Place) -> str:
        return request_file.begins(name, "", place)

    there = cast_of(remaining, begins=begins, agents=as_given)
    edited = cast.model_copy(update={each: getattr(there, each) for each in _EDITED})
    return edited if edited == cast else edited.model_copy(update={"experts": agents(edited.experts, begins)})


def cast_of(values: Any, *, begins: Begins, agents: Agents) -> Cast:
    """The cast that the keys of a file describe, each expert with what its agent says.

    Raises:
        CouncilRefused: a key is missing, unknown or wrong, or there is no such agent.
    """
    try:
        file = PersonasFile.model_validate(values)
        for place, what in _problems(file):
            raise CouncilRefused(f"{begins(place)}{what}", hint=_HINT)
    except ValidationError as error:
        place, what = _mistake(error)
        raise CouncilRefused(f"{begins(place)}{what}", hint=_HINT) from None
    experts = agents(file.experts, begins)
    return Cast(experts=experts, tensions=file.tensions, problem_definition=file.problem_definition)


def written(cast: Cast) -> str:
    """The cast as TOML, to be edited; `parsed` gives it again."""
    lines: list[str] = []
    for expert in cast.experts:
        values = expert.model_dump(by_alias=True)
        remaining = {key: values[key] for key in (*_KEYS, *_KEYS_IF_GIVEN) if values[key] or key in _KEYS}
        lines += ["[[experts]]", *(f"{key} = {_quoted(value)}" for key, value in remaining.items()), ""]
    for each in cast.tensions:
        lines += ["[[tensions]]", f"between = [{', '.join(map(_quoted, each.between))}]"]
        lines += [f"axis = {_quoted(each.axis)}", f"description = {_quoted(each.description)}", ""]
    if problem := cast.problem_definition:
        criteria = ", ".join(map(_quoted, problem.success_criteria))
        lines += ["[problemDefinition]", f"statement = {_quoted(problem.statement)}"]
        lines += [f"scope = {_quoted(problem.scope)}", f"successCriteria = [{criteria}]", ""]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A TOML string; what JSON escapes, TOML does too, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def text_of(path: Path) -> str:
    """What stands in a file of personas.

    Raises:
        CouncilRefused: it cannot be read, is no text, or far too long.
    """
    return request_file.text_of(
        path, "personas file", hint="Give the path of a TOML, YAML or JSON file.", most=_MOST_BYTES
    )


def _problems(file: PersonasFile) -> Iterable[tuple[Place, str]]:
    """What is wrong between the keys: ids that are there twice, reserved or unknown; models and sizes."""
    ids = [each.id for each in file.experts]
    folded = [each.casefold() for each in ids]  # each has a file of its own, also where names of files know no case
    for at, expert in enumerate(file.experts):
        if folded[at] in folded[:at]:
            yield ("experts", at, "id"), f"there is another expert {expert.id!r}: every expert has an id of its own"
        if folded[at] in _TAKEN:
            yield ("experts", at, "id"), f"{expert.id!r} is the name of a fixed role: give the expert another one"
        for key, value in expert.model_dump(by_alias=True).items():
            if len(value) > PERSONA.most:
                yield ("experts", at, key), f"has {len(value):,} characters: the limit is {PERSONA.most:,.0f}"
    problem = file.problem_definition
    if problem and problem.size > TOPIC.most:
        yield ("problemDefinition",), f"has {problem.size:,} characters: the limit is {TOPIC.most:,.0f}"
    for at, tension in enumerate(file.tensions):
        strange = [each for each in tension.between if each not in ids]
        if strange:
            yield ("tensions", at, "between"), f"there is no expert {strange[0]!r}; known here: {', '.join(ids)}"
        elif len(set(tension.between)) == 1:
            yield (
                ("tensions", at, "between"),
                f"a tension is between two experts, not {tension.between[0]!r} and itself",
            )


def _mistake(error: ValidationError) -> tuple[Place, str]:
    """The first mistake of the form: where it is, and what."""
    found = error.errors(include_url=False, include_input=False)
    # A key that is misspelled is missing, too: the spelling is what to mend.
    first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
    place = tuple(first["loc"])
    if "between" in place:
        return place[: place.index("between") + 1], "must be the ids of two experts"
    match first["type"]:
        case "extra_forbidden":
            return place, unknown(str(place[-1]), _known(place))
        case "missing":
            return place[:-1], f"the key `{place[-1]}` is missing"
        case "string_pattern_mismatch":
            return place, "letters, digits, `.`, `_` and `-`, at most 40, a letter or digit first"
        case "model_type" | "model_attributes_type":
            return place, "must be a table"
        case "too_long" if place == ("experts",):
            return place, f"there are too many experts: the limit is {PARTICIPANTS}"
        case "too_short" if place == ("experts",):
            return place, f"there is no expert: the limit is {PARTICIPANTS}"
        case "string_type":
            return place, f"must be a text{', or a list of texts' if place[-1] in _JOINED else ''}"
    message = re.sub(r"^(Input|String|Tuple|List) should", "must", first["msg"].removeprefix("Value error, "))
    return place, message.replace("valid tuple", "list")


def _known(place: Place) -> Iterable[str]:
    kinds: dict[str, type[Camel]] = {"experts": Expert, "problem": ProblemDefinition, "tension": Tension}
    of = next((kind for key, kind in kinds.items() if str(place[0]).startswith(key)), PersonasFile)
    kind = of if place[1:] else PersonasFile
    return [each.alias or name for name, each in kind.model_fields.items()]
