"""Names of models: which are the same one, which are kin, and which roles may not share one."""

from __future__ import annotations

from typing import Any

import pytest

from swarmgate.config import Config
from swarmgate.errors import ConfigError
from swarmgate.llm.connect import same_model_warning
from swarmgate.llm.families import family, own_name, require_distinct, shared

SAME = [
    ("anthropic/claude-sonnet-4-5-20250929", "openrouter/anthropic/claude-sonnet-4.5"),
    ("anthropic/claude-sonnet-4-5", "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ("openai/gpt-4o-2024-08-06", "azure/gpt-4o"),
    ("ollama/qwen3-coder:30b", "vllm/Qwen/Qwen3-Coder-30B-A3B-Instruct"),
    ("ollama/llama3.1:8b-instruct-q4_K_M", "openrouter/meta-llama/Llama-3.1-8B-Instruct"),
    ("ollama/gpt-oss:20b", "lmstudio/openai/gpt-oss-20b"),
    ("openrouter/deepseek/deepseek-r1:free", "local/deepseek-r1:latest"),
    ("a/Mistral-Small-24B-Instruct-AWQ", "b/mistral-small:24b"),
]
OTHER = [
    ("openai/gpt-5", "openai/gpt-5-mini"),
    ("openai/gpt-4o", "openai/gpt-4.1"),
    ("a/claude-sonnet-4-5", "a/claude-opus-4-5"),
    ("ollama/qwen3:8b", "ollama/qwen3:14b"),
    ("ollama/qwen3:8b", "ollama/qwen3-coder:8b"),
    ("a/deepseek-r1", "a/deepseek-v3"),
    ("local/senior", "local/junior"),
    ("local/one", "local/two"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_one_model_by_two_names(one: str, two: str) -> None:
    assert own_name(one) == own_name(two)


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_two_models(one: str, two: str) -> None:
    assert own_name(one) != own_name(two)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("openai/gpt-5-mini", "gpt"),
        ("openai/o3", "gpt"),
        ("lmstudio/openai/gpt-oss-20b", "gpt"),
        ("x/claude-haiku-4-5", "claude"),
        ("google/gemini-2.5-pro", "gemini"),
        ("ollama/gemma3:27b", "gemma"),
        ("ollama/codellama:7b", "llama"),
        ("ollama/qwq:32b", "qwen"),
        ("openrouter/deepseek/deepseek-r1-distill-llama-70b", "deepseek"),
        ("m/codestral-latest", "mistral"),
        ("m/mixtral-8x7b", "mistral"),
        ("ollama/phi4", "phi"),
        ("z/glm-4.6", "glm"),
        ("openrouter/moonshotai/kimi-k2", "kimi"),
        ("x/grok-4", "grok"),
        ("c/command-r-plus", "command-r"),
        ("local/our-own-model", "our-own-model"),
        ("command:claude -p --output-format json", "claude"),
        ("command:/usr/bin/codex exec", "gpt"),
        ("command:aider --model openrouter/qwen/qwen3-coder", "qwen"),
        ("command:aider --yes", "aider"),
    ],
)
def test_families(model: str, expected: str) -> None:
    assert family(model) == expected


def config(distinct: list[str] | None, **roles: Any) -> Config:
    providers = {name: {"base_url": "http://127.0.0.1:9/v1"} for name in ("a", "b")}
    models = {} if distinct is None else {"require_distinct": distinct}
    return Config.model_validate({"providers": providers, "roles": roles, "models": models})


def test_roles_that_share_a_model_are_refused_with_both_names() -> None:
    settings = config(
        ["coder", "reviewer"], coder={"model": "a/claude-sonnet-4-5"}, reviewer={"model": "b/x/claude-sonnet-4.5"}
    )
    with pytest.raises(ConfigError) as caught:
        require_distinct(settings)
    assert caught.value.exit_code == 2
    for word in ("`coder`", "`reviewer`", "a/claude-sonnet-4-5", "b/x/claude-sonnet-4.5", "require_distinct"):
        assert word in caught.value.message


def test_a_shared_fallback_counts() -> None:
    settings = config(
        ["coder", "reviewer", "test_engineer"],
        coder={"model": "a/one", "fallback": ["a/three"]},
        reviewer={"model": "a/two"},
        default={"model": "b/three"},
    )
    assert [each.roles for each in shared(settings, settings.models.require_distinct)] == [("coder", "test_engineer")]
    with pytest.raises(ConfigError, match="`coder` and `test_engineer`"):
        require_distinct(settings)


def test_two_roles_that_fall_on_the_default_share_it() -> None:
    with pytest.raises(ConfigError, match="`coder` and `reviewer` \\(a/one\\)"):
        require_distinct(config(["coder", "reviewer"], default={"model": "a/one"}))


def test_kin_are_no_twins_and_a_role_without_a_model_is_left_out() -> None:
    kin = config(["coder", "reviewer", "sme"], coder={"model": "a/gpt-5"}, reviewer={"model": "a/gpt-5-mini"})
    one = config([], default={"model": "a/one"})
    assert [list(shared(each, each.models.require_distinct)) for each in (kin, one)] == [[], []]
    require_distinct(kin)
    require_distinct(one)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("python3 a.py", "python3 b.py"),
        ("python3 agents/a.py", "python3 other/a.py"),
        ("python3 -m agents.a", "python3 -m agents.b"),
        ("python3 -c 'import a'", "python3 -c 'import b'"),
        ("bash -lc 'agent --one'", "bash -lc 'agent --two'"),
        ("node --import tsx a.ts", "node --import tsx b.ts"),
        ("npx -y @openai/codex exec", "npx -y @anthropic-ai/claude-code -p"),
        ("uv run --with x a.py", "uv run --with x b.py"),
        ("uv run python a.py", "uv run python b.py"),
        ("java -jar a.jar", "java -jar b.jar"),
        ("docker run --rm -e KEY one/agent", "docker run --rm -e KEY two/agent-b"),
        ("cd a && python3 agent.py", "cd b && python3 agent.py"),
    ],
)
def test_two_programs_of_one_interpreter_are_two(one: str, two: str) -> None:
    assert own_name(f"command:{one}") != own_name(f"command:{two}")
    roles = {"coder": {"model": f"command:{one}"}, "reviewer": {"model": f"command:{two}"}}
    require_distinct(config(["coder", "reviewer"], **roles))
    assert not same_model_warning(config([], **roles))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("python3 a.py --role coder", "/usr/bin/python3.12 -u ./a.py --role reviewer"),
        ("npx -y @openai/codex@1.2 exec", "codex exec --json -"),
        ("python3 a.py --model gpt-5", "python3 b.py --model=gpt-5"),
        ("env A=1 claude -p", "claude -p --output-format json"),
    ],
)
def test_one_program_by_two_command_lines(one: str, two: str) -> None:
    assert own_name(f"command:{one}") == own_name(f"command:{two}")


@pytest.mark.parametrize(
    ("command", "expected"),
    [("npx -y @anthropic-ai/claude-code -p", "claude"), ("python3 /home/claude/x/agent.py", "/home/claude/x/agent.py")],
)
def test_the_family_of_a_package_and_of_a_script(command: str, expected: str) -> None:
    assert family(f"command:{command}") == expected


ONE, TWO, DATED = {"model": "a/one-5"}, {"model": "b/two"}, {"model": "b/x/one-5-20250929"}
PROGRAM = {"model": "command:agent --one"}


@pytest.mark.parametrize(
    ("roles", "refused"),
    [
        ({"default": ONE}, False),
        ({"default": ONE, "coder": DATED}, False),
        ({"default": ONE, "critic": TWO}, True),
        ({"default": ONE, "reviewer": DATED, "architect": TWO}, True),
        ({"default": ONE, "coder": TWO}, False),
        ({"default": TWO, "coder": ONE, "reviewer": {**TWO, "fallback": ["a/one-5"]}}, False),
        ({"default": ONE, "participant": TWO}, False),
        ({"architect": ONE, "critic": TWO, "test_engineer": TWO}, False),
        ({"default": ONE, "coder": PROGRAM, "reviewer": {"model": "command:agent --two"}}, False),
        ({"default": ONE, "coder": PROGRAM, "reviewer": PROGRAM}, True),
    ],
)
def test_with_two_models_coder_and_reviewer_may_not_be_the_same_one(roles: Any, *, refused: bool) -> None:
    require_distinct(config([], **roles))
    if not refused:
        require_distinct(config(None, **roles))
        return
    with pytest.raises(ConfigError, match="coder and reviewer are the same model") as caught:
        require_distinct(config(None, **roles))
    assert caught.value.exit_code == 2
    assert "require_distinct = []" in caught.value.hint
