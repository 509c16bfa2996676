"""Reads patches of agents with their bases and labels: files of SWE-bench, or JSON lines of one's own.

Two forms of `DATA`, a JSON object a line each, told apart by their keys:

- predictions as SWE-bench has them: `instance_id`, `model_patch`, `model_name_or_path`. What each is for stands in a
  file of instances (`repo`, `base_commit`; optional `patch`, `test_patch`, `problem_statement`, `test_command`), which
  are right in a file of labels. `FAIL_TO_PASS` and other keys are passed over: all tests of `test_command` count.
- patches of your own: `id`, `repo`, `base`, `patch`, `label` (`right` or `wrong`); optional `model`, `statement`,
  `test_patch`, `test_command`.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from swarmgate.domain.base import Frozen
from swarmgate.errors import UsageError
from swarmgate.workspace.files import regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Label = Literal["right", "wrong"]
Half = Literal["tuning", "held"]
_Model = TypeVar("_Model", bound=Frozen)

_FILE = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)", re.MULTILINE)
HUMAN = "human fixes"
"""The model that the instances' own patches are counted under."""
_FORMS = "swarm docs evaluation#patches-of-agents says what each line holds."


class AgentPatch(Frozen):
    """One patch as it was handed in, and what is known of it.

    `base` is the full id of the commit that it starts from, in a clone of `repo` (`owner/name`). `statement` is what
    was asked for; `test_patch` adds the hidden tests. `test_command` runs those that exist, and the hidden ones among
    them; empty: as swarmgate finds it.
    """

    id: str = Field(min_length=1)
    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    base: str = Field(pattern=r"^[0-9a-f]{40}$")
    patch: str
    label: Label
    model: str = "unnamed"
    statement: str = ""
    test_patch: str = ""
    test_command: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it changes, as its headers name them."""
        return _named(self.patch)

    @property
    def test_files(self) -> tuple[str, ...]:
        """The files of the hidden tests."""
        return _named(self.test_patch)

    @property
    def half(self) -> Half:
        """The half that it belongs to, by the hash of its id: rules are tuned on one, and reported on the other."""
        return "held" if hashlib.sha256(self.id.encode()).digest()[0] % 2 else "tuning"


class _Prediction(Frozen):
    instance_id: str
    model_patch: str | None
    model_name_or_path: str = "unnamed"


class Instance(Frozen):
    """A task as SWE-bench has it: what predictions are for; `test_patch` adds the hidden tests."""

    instance_id: str
    repo: str
    base_commit: str
    patch: str = ""
    test_patch: str = ""
    problem_statement: str = ""
    test_command: str = ""

    @property
    def test_files(self) -> tuple[str, ...]:
        """The files of the hidden tests."""
        return _named(self.test_patch)


def _named(patch: str) -> tuple[str, ...]:
    """The files that a patch changes, as its headers name them."""
    return tuple(dict.fromkeys(path for path in _FILE.findall(patch) if path != "/dev/null"))


def load(data: Path, *, instances: Path | None = None, labels: str = "", fixes: bool = False) -> tuple[AgentPatch, ...]:
    """Reads all patches, in the order of the file.

    Args:
        data: predictions, or patches of one's own.
        instances: what predictions are for; JSON, or JSON lines.
        labels: a file that says which predictions are right: a list of ids, or an object with `resolved_ids` (or
            `resolved`); `FILE#KEY` names the object inside of a larger one.
        fixes: whether the instances' own patches are added, as right ones of the model `HUMAN`.

    Raises:
        UsageError: a file cannot be read, or a line does not fit; the message names file, line and key.
    """
    rows = list(_rows(data))
    if not rows:
        raise UsageError(f"{data}: no patch is in it", hint=_FORMS)
    if "model_patch" not in rows[0][1]:
        if instances or labels or fixes:
            raise UsageError(
                f"{data}:{rows[0][0]}: key 'model_patch' is missing, and --instances, --labels and --fixes go with it",
                hint=_FORMS,
            )
        return _apart(data, [(number, _own(data, number, row)) for number, row in rows])
    if instances is None or not labels:
        raise UsageError(
            f"{data}: predictions say neither what they are for nor which are right",
            hint="Name both: --instances FILE --labels FILE",
        )
    known = {each.instance_id: each for each in read_instances(instances)}
    right = _resolved(labels)
    found = [(number, _joined(data, number, row, known, right, instances)) for number, row in rows]
    patches = _apart(data, [(number, each) for number, each in found if each])
    return (*patches, *(_fixes(patches, known, instances) if fixes else ()))


def _own(data: Path, number: int, row: Mapping[str, Any]) -> AgentPatch:
    return _validated(AgentPatch, row, f"{data}:{number}")


def _joined(
    data: Path, number: int, row: Mapping[str, Any], known: Mapping[str, Instance], right: frozenset[str], file: Path
) -> AgentPatch | None:
    """The patch of a prediction; None for an empty one, which hands in nothing."""
    made = _validated(
        _Prediction, {key: row[key] for key in _Prediction.model_fields if key in row}, f"{data}:{number}"
    )
    instance = known.get(made.instance_id)
    if instance is None:
        raise UsageError(f"{data}:{number}: key 'instance_id': {made.instance_id} is not in {file}", hint=_FORMS)
    if not (made.model_patch or "").strip():
        return None
    label = "right" if made.instance_id in right else "wrong"
    return _patch(instance, made.model_patch or "", label, made.model_name_or_path, f"{data}:{number}")


def _patch(instance: Instance, patch: str, label: str, model: str, place: str) -> AgentPatch:
    return _validated(
        AgentPatch,
        {
            "id": instance.instance_id, "repo": instance.repo, "base": instance.base_commit, "patch": patch,
            "label": label, "model": model, "statement": instance.problem_statement,
            "test_patch": instance.test_patch, "test_command": instance.test_command,
        },
        place,
    )  # fmt: skip


def _fixes(patches: tuple[AgentPatch, ...], known: Mapping[str, Instance], file: Path) -> tuple[AgentPatch, ...]:
    ids = dict.fromkeys(each.id for each in patches)
    there = [known[each] for each in ids if known[each].patch.strip()]
    if not there:
        raise UsageError(f"{file}: no instance has a `patch`, so there are no human fixes to replay")
    return tuple(_patch(each, each.patch, "right", HUMAN, f"{file}: {each.instance_id}") for each in there)


def _apart(data: Path, found: list[tuple[int, AgentPatch]]) -> tuple[AgentPatch, ...]:
    """The patches, of which no two have the same id and model."""
    seen: dict[tuple[str, str], int] = {}
    for number, each in found:
        before = seen.setdefault((each.model, each.id), number)
        if before != number:
            raise UsageError(f"{data}:{number}: {each.id} of {each.model} stands in line {before}, too")
    return tuple(each for _, each in found)


def read_instances(file: Path) -> Iterator[Instance]:
    """Reads the tasks of a file, in its order.

    Raises:
        UsageError: it cannot be read, or a line does not fit.
    """
    for number, row in _rows(file):
        yield _validated(Instance, {key: row[key] for key in Instance.model_fields if key in row}, f"{file}:{number}")


def _resolved(labels: str) -> frozenset[str]:
    name, _, key = labels.partition("#")
    file = Path(name).expanduser()
    found = _parsed(_text(file), str(file))
    for part in filter(None, key.split(".")):
        if not isinstance(found, dict) or part not in found:
            raise UsageError(f"{file}: key '{part}' of #{key} is missing")
        found = found[part]
    if isinstance(found, dict):
        found = found.get("resolved_ids", found.get("resolved"))
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise UsageError(
            f"{file}: key 'resolved_ids' is missing, or no list of ids",
            hint="Labels are a list of ids, or an object with `resolved_ids`; FILE#KEY names one inside of another.",
        )
    return frozenset(found)


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines, with their lines; or those of one JSON list, with their numbers from 1."""
    text = _text(file)
    if text.lstrip().startswith("["):
        rows = list(enumerate(_parsed(text, str(file)), 1))
    else:
        lines = enumerate(text.splitlines(), 1)
        rows = [(number, _parsed(line, f"{file}:{number}")) for number, line in lines if line.strip()]
    for number, row in rows:
        if not isinstance(row, dict):
            raise UsageError(f"{file}:{number}: a JSON object is due, this is {type(row).__name__}", hint=_FORMS)
        yield number, row


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{place}: not JSON: {error}") from error


def _text(file: Path) -> str:
    try:
        return regular.given(file, limit=regular.LIMIT_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read: {error}", hint=_FORMS) from error


def _validated(model: type[_Model], row: Mapping[str, Any], place: str) -> _Model:
    try:
        return model.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        why = {"missing": "is missing", "extra_forbidden": "is unknown"}.get(first["type"], first["msg"])
        raise UsageError(f"{place}: key '{key}': {why}", hint=_FORMS) from error
