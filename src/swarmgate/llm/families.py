"""Compares models by the names that endpoints give them: which are the same, which are of one family. No network.

One model has many names: `anthropic/claude-sonnet-4-5-20250929` and `openrouter/anthropic/claude-sonnet-4.5` are the
same weights, so are `ollama/qwen3-coder:30b` and `vllm/Qwen/Qwen3-Coder-30B-A3B-Instruct`. Where names do not say, two
that differ are two models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from swarmgate.config import PROJECT_FILE, Config, command_lines, command_of, is_program
from swarmgate.errors import ConfigError

_FAMILIES = (
    ("claude", r"claude"),
    ("gpt", r"gpt|\bo-[134]\b|codex|davinci"),
    ("gemini", r"gemini"),
    ("gemma", r"gemma"),
    ("llama", r"llama|nemotron"),
    ("qwen", r"qwen|qwq|qvq"),
    ("deepseek", r"deepseek"),
    ("mistral", r"mi[sx]tral|codestral|devstral|ministral|magistral|pixtral"),
    ("phi", r"\bphi"),
    ("glm", r"glm"),
    ("kimi", r"kimi|moonshot"),
    ("grok", r"grok"),
    ("command-r", r"\bcommand|c4ai|\baya\b"),
    ("minimax", r"minimax"),
    ("granite", r"granite"),
    ("nova", r"\bnova\b"),
    ("jamba", r"jamba"),
    ("yi", r"\byi\b"),
    ("starcoder", r"starcoder"),
    ("olmo", r"olmo"),
    ("ernie", r"ernie"),
    ("hunyuan", r"hunyuan"),
)
"""A family and what its models' names hold; of several that fit, the one named first in the name."""

_DATE = re.compile(r"-20\d\d-?\d\d-?\d\d(?=-|$)")
_CLOUD = re.compile(r"^(?:(?:us|eu|apac|global)\.)?(?:anthropic|meta|amazon|mistral|cohere|deepseek|openai|qwen)\.")
_REVISION = re.compile(r"-v\d+:\d+$")  # Bedrock's
_PACKING = re.compile(
    r"latest|instruct|it|chat|hf|gguf|awq|gptq|mlx|free|nitro|floor|online|exacto"
    r"|i?q\d+(_[a-z0-9]+)*|fp\d+|bf\d+|int\d+|\d+bit|mxfp\d+|nvfp\d+|a\d+(\.\d+)?b"
)
"""Words of a name that say how the weights are packed, served or sold; the weights stay the same."""
_PROGRAMS = {"codex": "gpt", "aider": "aider", "opencode": "opencode"}
"""Coding agents whose model their command line does not name: what is known of it."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Two roles that may be answered by one model; `models` are the two names that it has in the settings."""

    roles: tuple[str, str]
    models: tuple[str, str]


def own_name(model: str) -> str:
    """The model's own name, normalised: without provider, vendor, date of the snapshot, and packing.

    Args:
        model: `provider/model`, or `command:...` for a coding agent.
    """
    if is_program(model):
        return _program(model)
    served = _REVISION.sub("", _CLOUD.sub("", model.rpartition("/")[2].lower()))
    first, *words = _DATE.sub("", served.replace(":", "-")).split("-")
    family = "-".join([first, *(word for word in words if not _PACKING.fullmatch(word))])
    return "-".join(re.findall(r"[a-z]+|\d[a-z\d]*", family)) or model.lower()


def family(model: str) -> str:
    """The family of a model, such as `claude`; the model's own name where it is not known."""
    name = own_name(model)
    last = name.rpartition("/")[2]  # of a script's path: where it lies says nothing
    found = [(match.start(), kin) for kin, pattern in _FAMILIES if (match := re.search(pattern, last))]
    return min(found)[1] if found else _PROGRAMS.get(name, name)


def shared(config: Config, roles: Iterable[str]) -> Iterator[Shared]:
    """Each two of the roles that one model may answer, fallbacks included. Roles without a model are left out."""
    own = {role: _models(config, role) for role in dict.fromkeys(roles)}
    for first, second in combinations(own, 2):
        for name in own[first].keys() & own[second].keys():
            yield Shared((first, second), (own[first][name], own[second][name]))


def require_distinct(config: Config) -> None:
    """Whether no two roles of `[models] require_distinct` share a model, fallbacks included.

    Not set, it holds for coder and reviewer as soon as the roles have two models, without their fallbacks: with one
    model there is no choice, with two it is an oversight that the same one writes and reviews.

    Raises:
        ConfigError: two do; the message names roles and models.
    """
    if "require_distinct" not in config.models.model_fields_set:
        _require_another_reviewer(config)
        return
    found = sorted(shared(config, config.models.require_distinct), key=lambda each: (each.roles, each.models))
    if not found:
        return
    pairs = "; ".join(_described(each) for each in found)
    raise ConfigError(
        f"[models] require_distinct asks for different models, and these roles share one: {pairs}",
        hint=f"give one of them another model (or another fallback) in [roles] of {PROJECT_FILE}; see: swarm status",
    )


def _require_another_reviewer(config: Config) -> None:
    """As `require_distinct` where no roles are set. One program with other arguments may well ask another model."""
    first = {role: [*models.values()][-1] for role in config.speaking if (models := _models(config, role))}
    names = {role: model if is_program(model) else own_name(model) for role, model in first.items()}
    same = "coder" in names and names["coder"] == names.get("reviewer")
    if same and len(set(names.values())) > 1:
        raise ConfigError(
            f"coder and reviewer are the same model ({first['coder']}), and the roles have others: who writes a change "
            "does not see its own mistakes in it",
            hint=f"set another [roles.reviewer] model in {PROJECT_FILE}; to keep it so: [models] require_distinct = []",
        )


def _described(each: Shared) -> str:
    first, second = each.models
    which = first if first == second else f"{first}, the same model as {second}"
    return f"`{each.roles[0]}` and `{each.roles[1]}` ({which})"


def _models(config: Config, role: str) -> dict[str, str]:
    """The models that may answer as a role: own name -> name in the settings."""
    try:
        settings = config.role(role)
    except ConfigError:
        return {}
    return {own_name(model): model for model in (*settings.fallback, settings.model)}


def _program(model: str) -> str:
    """The model of a command line agent: the one in its command line, else what tells the program from another."""
    line = command_lines.read(command_of(model))
    return own_name(line.model) if line.model else line.identity
