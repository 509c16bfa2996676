"""The table of tools (DESIGN.md, "The model wire"): arguments, roles that are offered each, parsing of a call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from swarmgate.agents.briefs.role_markers import restored_values
from swarmgate.agents.tools import arguments as args
from swarmgate.config import nearest
from swarmgate.domain.text.json_text import DuplicateKey, loaded
from swarmgate.llm.model import ToolCall, ToolSpec

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


_LISTED = 50
"""Errors in the arguments of one call that a model is told; more of them is noise."""


class BadCall(ValueError):
    """A tool call that cannot be carried out; the message tells the model how to mend it."""


@dataclass(frozen=True)
class Tool:
    """One tool: its name on the wire, what the model is told, the model of its arguments, whether it ends the turn."""

    name: str
    description: str
    arguments: type[args.Arguments]
    ends: bool = False

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as it is offered to a model."""
        note = " Ends your turn." if self.ends else ""
        answers = self.ends or self.name in {"declare_scope", "send_message"}
        parameters = schema(self.arguments)
        return ToolSpec(name=self.name, description=self.description + note, parameters=parameters, answers=answers)


_ALL = (
    Tool("read_file", "Show a text file, or some of its lines.", args.ReadFile),
    Tool("read_change", "Show the change of one file as a diff, in parts where it is long.", args.ReadChange),
    Tool("list_files", "List the files of the repository.", args.ListFiles),
    Tool("search", "Find lines that match a regular expression.", args.Search),
    Tool("write_file", "Create a file or replace its whole content.", args.WriteFile),
    Tool("edit_file", "Replace one piece of text in a file.", args.EditFile),
    Tool("delete_file", "Delete a file.", args.DeleteFile),
    Tool("run_command", "Run a shell command; gives exit code, output and time.", args.RunCommand),
    Tool("run_gates", "Run the quality gates over the files as they are now.", args.RunGates),
    Tool(
        "ask_sme",
        "Ask a subject matter expert; what was asked before in this project is answered from its notes.",
        args.AskSme,
    ),
    Tool("ask_user", "Ask the user what neither the goal nor the repository can tell.", args.AskUser, ends=True),
    Tool("save_plan", "Save the whole plan.", args.SavePlan, ends=True),
    Tool("declare_scope", "Declare the files of this delegation.", args.DeclareScope),
    Tool("delegate", "Hand the task to the coder: one task, once.", args.Delegate, ends=True),
    Tool("finish", "Say that the work is done.", args.Finish, ends=True),
    Tool("submit_verdict", "Give your verdict.", args.SubmitVerdict, ends=True),
    Tool("send_message", "Send a message to one voice, to several, or to all.", args.SendMessage),
    Tool("synthesize", "End the chat with what came of it.", args.Synthesize, ends=True),
    Tool("submit_answer", "Give your answer, in the form that the step asks for.", args.Arguments, ends=True),
    Tool("close_phase", "Close the phase with a summary.", args.ClosePhase, ends=True),
)
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _ALL}
"""Every tool by name."""

_TEST_VERDICT = Tool("submit_verdict", "Give your verdict.", args.SubmitTestVerdict, ends=True)

_READ = ("read_file", "list_files", "search")
_WRITE = ("write_file", "edit_file")

SUBMIT = "submit_answer"
"""How a council voice answers where the answer has a form; the arguments are the schema of the step."""

_COUNCIL_LOOKS = ("position", "argue", "attack", "respond", "contribute", "evaluate")
"""Steps of council voices that may look at the files first, and whose answer has a form."""

_COUNCIL_JUDGES = ("experts", "frame", "analogy", "assess", "reopen", "conclude", "facilitate")
"""Steps of council voices that judge from their brief alone, in a form."""

_COUNCIL_WRITES, _COUNCIL_SPEAKS = ("generate", "improve"), ("ask", "record")
"""Steps whose answer is prose: those that may look at the files first, and those that speak from their brief."""

OFFERED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("architect", "plan"): (*_READ, "ask_sme", "ask_user", "save_plan"),
    ("architect", "revise"): (*_READ, "ask_sme", "ask_user", "save_plan"),
    ("architect", "delegate"): (*_READ, "ask_sme", "declare_scope", "delegate"),
    ("architect", "implement"): (*_READ, *_WRITE, "delete_file", "ask_sme", "finish"),
    ("architect", "weigh"): (*_READ, "submit_verdict"),
    ("architect", "close_phase"): (*_READ, "close_phase"),
    ("critic", "review_plan"): (*_READ, "submit_verdict"),
    ("critic", "evaluate_phase"): (*_READ, "submit_verdict"),
    ("coder", "code"): (*_READ, *_WRITE, "delete_file", "ask_sme", "run_command", "run_gates", "finish"),
    ("sme", "consult"): _READ,
    ("architect", "synthesize"): (SUBMIT,),
    ("participant", "debate"): (*_READ, SUBMIT),
    ("participant", "dispatch"): _READ,
    ("participant", "moderate"): (SUBMIT,),
    ("participant", "first_look"): (SUBMIT,),
    ("participant", "chat"): (*_READ, "send_message", "synthesize"),
    **{("participant", step): (*_READ, SUBMIT) for step in _COUNCIL_LOOKS},
    **{("participant", step): (SUBMIT,) for step in _COUNCIL_JUDGES},
    **{("participant", step): _READ for step in _COUNCIL_WRITES},
    **{("participant", step): () for step in _COUNCIL_SPEAKS},
    ("reviewer", "review"): (*_READ, "read_change", "submit_verdict"),
    ("reviewer", "security_review"): (*_READ, "read_change", "submit_verdict"),
    ("reviewer", "validate_phase"): (*_READ, "read_change", "submit_verdict"),
    ("test_engineer", "test"): (*_READ, *_WRITE, "run_command", "submit_verdict"),
    ("test_engineer", "adversarial_test"): (*_READ, *_WRITE, "run_command", "submit_verdict"),
}
"""The tools on offer by role and step."""

IN_TEXT = frozenset(
    {
        ("sme", "consult"),
        ("architect", "synthesize"),
        *(("participant", step) for step in ("debate", "dispatch", "moderate", "first_look", "chat")),
        *(("participant", step) for step in (*_COUNCIL_LOOKS, *_COUNCIL_JUDGES)),
        *(("participant", step) for step in (*_COUNCIL_WRITES, *_COUNCIL_SPEAKS)),
    }
)
"""Where a reply in plain text ends the turn; everywhere else a tool call does."""


def offered(role: str, step: str, form: type[args.Arguments] | None = None) -> tuple[Tool, ...]:
    """The tools that a role is offered at a step; `form` is the schema of `submit_answer`, None: it is not on offer."""
    tools = (TOOLS[name] for name in OFFERED[role, step] if form or name != SUBMIT)
    own = {"submit_verdict": _TEST_VERDICT} if role == "test_engineer" else {}
    own |= {SUBMIT: _submitting(form)} if form else {}
    return tuple(own.get(tool.name, tool) for tool in tools)


@lru_cache(maxsize=64)
def _submitting(form: type[args.Arguments]) -> Tool:
    """`submit_answer` with a schema; kept, for making the JSON schema takes up to 9 ms."""
    return replace(TOOLS[SUBMIT], arguments=form)


def read_call(call: ToolCall, tools: Sequence[Tool]) -> tuple[Tool, args.Arguments]:
    """The tool that a call means, and its arguments.

    Raises:
        BadCall: no such tool on offer, no valid JSON, or arguments that the tool does not take.
    """
    tool = next((each for each in tools if each.name == call.name), None)
    if tool is None:
        raise BadCall(_unknown_tool(call.name, [each.name for each in tools]))
    raw = _decoded(call)
    try:
        return tool, tool.arguments.model_validate(raw)
    except ValidationError as error:
        found = "\n".join(f"- {each}" for each in sentences(error, raw, tool.arguments))
        raise BadCall(
            f"The arguments of {tool.name} are not valid:\n{found}\nCall it again with these mended."
        ) from None


def sentences(error: ValidationError, raw: Any, model: type[args.Arguments]) -> list[str]:
    """What is wrong with arguments, each thing once; `raw` are they as they came."""
    errors = error.errors(include_url=False, include_input=False)
    messages = dict.fromkeys(_sentence(each, raw, model) for each in errors[:_LISTED])
    return [*messages, *([f"and {len(errors) - _LISTED} more"] if len(errors) > _LISTED else [])]


def schema(model: type[args.Arguments]) -> dict[str, Any]:
    """The JSON schema of arguments, without references and without what only pydantic needs."""
    whole = model.model_json_schema()
    inlined: dict[str, Any] = _inline(whole, whole.pop("$defs", {}))
    inlined.pop("description", None)
    return inlined


def _inline(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    if "anyOf" in node:  # `X | None` is said by leaving the key out
        node = {**next(each for each in node["anyOf"] if each != {"type": "null"}), **node}
        del node["anyOf"]
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        node = {**{k: v for k, v in target.items() if k != "description"}, **node}
        del node["$ref"]
    plain = {key: value for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    if plain.get("default", ...) is None:
        del plain["default"]
    return {key: _inline(value, definitions) for key, value in plain.items()}


def _unknown_tool(name: str, names: Sequence[str]) -> str:
    close = nearest(name, names) if name not in TOOLS else None
    why = "you are not offered it at this step" if name in TOOLS else "there is no such tool"
    hint = f" Did you mean {close}?" if close else ""
    return f"{name[:100]!r} cannot be called: {why}.{hint} Your tools: {', '.join(names)}."


def _decoded(call: ToolCall) -> dict[str, Any]:
    """The JSON object of the arguments; also one that was encoded twice, or with bare line breaks in strings."""
    text = call.arguments
    try:
        value = loaded(text.strip() or "{}", strict=False)
        value = restored_values(loaded(value, strict=False) if isinstance(value, str) else value)
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - 30) : error.pos + 30]
        raise BadCall(
            f"The arguments of {call.name} are not valid JSON: {error.msg} at character {error.pos}, near {near!r}. "
            "Send one JSON object; escape quotes, backslashes and line breaks inside strings."
        ) from None
    except DuplicateKey as error:
        raise BadCall(f"The arguments of {call.name} can be read in two ways: {error}. Say it once.") from None
    except RecursionError:
        raise BadCall(f"The arguments of {call.name} cannot be read: they are nested too deeply.") from None
    except ValueError as error:
        raise BadCall(f"The arguments of {call.name} are not JSON that can be read: {error}.") from None
    if not isinstance(value, dict):
        raise BadCall(f'The arguments of {call.name} must be a JSON object, such as {{"key": "value"}}.')
    return value


def _sentence(error: ErrorDetails, raw: Any, model: type[args.Arguments]) -> str:
    """One validation error: whose, which key, what is wrong, and the known keys where one is unknown."""
    if error["type"] == "value_error":  # a whole sentence of ours
        return error["msg"].removeprefix("Value error, ")
    *tables, key = error["loc"]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(".")
    what = error["msg"].replace("Input should", "must").replace("valid tuple", "list")
    if error["type"] == "extra_forbidden":
        known = _keys(schema(model), tables)
        close = nearest(str(key), known)
        what = "unknown key; " + (f"did you mean `{close}`?" if close else f"known: {', '.join(known) or 'none'}")
    elif error["type"] == "missing":
        what = "is missing"
    elif error["type"] == "string_too_short" and error["ctx"]["min_length"] == 1:
        what = "must not be empty"
    elif error["type"] in {"model_type", "model_attributes_type"}:
        what = "must be an object"
    return f"{_owner(raw, error['loc'])}`{place}`: {what}"


def _keys(node: Mapping[str, Any], tables: Iterable[int | str]) -> tuple[str, ...]:
    for part in tables:
        node = node["items"] if isinstance(part, int) else node["properties"][part]
    return tuple(node.get("properties", ()))


def _owner(raw: Any, path: Sequence[int | str]) -> str:
    """`Task 1.2: ` for what lies inside of a task of a plan: its id, else its title, else its place."""
    match path:
        case ["phases", int(phase), "tasks", int(number), *_]:
            task = raw["phases"][phase]["tasks"][number]
            name = (task.get("id") or task.get("title")) if isinstance(task, dict) else None
            return f"Task {name}: " if name else f"Task number {number + 1} of phase {phase + 1}: "
        case ["phases", int(phase), *_]:
            return f"Phase {phase + 1}: "
    return ""
