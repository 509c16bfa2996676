"""Tests the doctor's check of keys and values, with their lines, and repairs where the right key is certain."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from swarmgate import assets
from swarmgate.automation.doctor import contradictions, hook_commands, keys, redaction
from swarmgate.automation.doctor.problem import Problem
from swarmgate.automation.setting_locations import Places, SettingsFile
from swarmgate.config import Config, load
from swarmgate.config.setting_errors import Source
from swarmgate.ledger.settings.file import changed


def look(text: str) -> tuple[Problem, ...]:
    return keys.inspect(SettingsFile(".swarm/config.toml", Path("config.toml"), text))


def mended(text: str) -> str:
    return changed(text, [edit for each in look(text) for edit in each.edits])


def test_every_unknown_key_is_named_with_its_line() -> None:
    found = look("[tests]\ncomand = 'x'\nqqq = 1\n\n[gates]\nskp = []\n[tezts]\n")
    assert [(each.line, each.severity) for each in found] == [(2, "error"), (3, "error"), (6, "error"), (7, "error")]
    assert "unknown key `comand`; did you mean `command`?" in found[0].message
    assert "known here: command, timeout_s" in found[1].message
    assert [each.fixable for each in found] == [True, False, True, False]  # [tests] is there already
    assert found[0].text.startswith(".swarm/config.toml line 2: ")
    assert mended("[tests]\ncomand = 'x'\n[tezts]\n") == "[tests]\ncommand = 'x'\n[tezts]\n"


def test_spellings_of_others_are_the_same_letters() -> None:
    text = "[providers.local]\nbaseUrl = 'http://x/v1' # here\nMAX-RETRIES = 3\n"
    assert mended(text) == "[providers.local]\nbase_url = 'http://x/v1' # here\nmax_retries = 3\n"


@pytest.mark.parametrize(
    "text",
    [
        "[tests]\ncomand = 'a'\ncommand = 'b'\n",  # the right one is there
        "[tests]\ncomand = 1\n",  # no command
        "[roles.default]\nmodel = 'a/b'\n[roles.coder]\nmodel = 'a/b'\n[roles.codr]\nmodel = 'a/c'\n",
        "[loop]\nmax_repairs = 2\n",  # far from everything
        "[gates]\nskip = 'a, b'\n",  # one gate or two?
        "[tests]\nmutation = 'maybe'\n",
        "[tests]\ntimeout_s = '5m'\n",
        "[tests]\ntimeout_s = '0'\n",  # out of its bounds
        "[budget]\nusd = '5,000'\n",  # five, or five thousand?
        "[budget]\nUsd = 'a lot'\n",
        "[loop]\nmax_rejections = 2.5\n",
        "[guardrails]\nmax = 1\n",
    ],
)
def test_what_is_not_clear_is_told_and_left(text: str) -> None:
    (found,) = look(text)
    assert (found.edits, found.fixable, found.line > 0) == ((), False, True)


def test_types_that_are_clear() -> None:
    text = (
        "[tests]\nmutation = 'yes' # on\ntimeout_s = '60'\nmin_kill_rate = ' 0.5'\n[loop]\nmax_turns = 8.0\n"
        "[budget]\ntokens = '2_000_000'\n[gates]\nskip = 'sast_scan'\n"
    )
    assert [each.line for each in look(text)] == [2, 3, 4, 6, 8, 10]
    new = mended(text)
    assert tomllib.loads(new) == {
        "tests": {"mutation": True, "timeout_s": 60, "min_kill_rate": 0.5},
        "loop": {"max_turns": 8},
        "budget": {"tokens": 2_000_000},
        "gates": {"skip": ["sast_scan"]},
    }
    assert "mutation = true # on\n" in new
    assert look(new) == ()


def test_deprecated_keys() -> None:
    once, elsewhere = look('[project]\nname = "x"\n[guardrails]\nmax = 1\n')
    assert "is no setting any more" in once.message
    assert (once.fixable, elsewhere.fixable) == (True, False)
    assert "write [breakers]" in elsewhere.hint
    assert mended('[project]\nname = "x" # c\nlanguages = []\n') == "[project]\n# c\nlanguages = []\n"
    for path in keys.DEPRECATED:
        values: dict[str, object] = {path[-1]: 1}
        assert path in keys.errors_of({path[0]: values} if path[1:] else values)


def test_keys_of_providers_are_found_and_never_shown() -> None:
    key = "sk-" + "abcdefghij1234567890"
    text = f"[hooks]\nrun_started = \"curl -H 'Authorization: Bearer {key}'\"\n# was {key}\n"
    text += "# risk-based task-force-12345678901234\n"
    found = look(text)
    assert [each.line for each in found] == [2, 3]
    assert all(key not in each.text for each in found)
    assert key not in redaction.masked(text)
    (named,) = look(f'[providers.a]\nbase_url = "http://x/v1"\napi_key_env = "{key}"\n')
    assert key not in named.text


def test_no_alarm_on_what_ships() -> None:
    template = (assets.template() / "config.toml").read_text()
    assert look(template) == ()
    lines = [re.sub(r"^# (?=\[|[a-z_]+ = )", "", line) for line in template.splitlines()]
    assert len([line for line in lines if line.startswith("[")]) > 10
    assert look("\n".join(dict.fromkeys(lines))) == ()


@pytest.mark.parametrize("text", ["[tests\n", "\ufeff", "a = 1\x00", "[" * 200])
def test_what_is_no_toml_has_no_keys(text: str) -> None:
    assert look(text) == ()


@given(st.sampled_from(sorted(Config.model_fields)), st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=14))
def test_mending_never_makes_anything_worse(table: str, key: str) -> None:
    text = f"[{table}]\n{key} = 'x' # kept\n"
    before = keys.errors_of(tomllib.loads(text))
    new = mended(text)
    after = keys.errors_of(tomllib.loads(new))
    assert len(after) <= len(before)
    assert (new == text) or len(after) < len(before)
    assert mended(new) == new


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("command", "command", 0), ("comand", "command", 1), ("commnad", "command", 1), ("xommand", "command", 1),
     ("commandd", "command", 1), ("cmmnd", "command", 2), ("usd", "tokens", 2), ("ba", "ab", 1), ("a", "", 1)],
)  # fmt: skip
def test_slips(one: str, other: str, count: int) -> None:
    assert keys.slips(one, other) == keys.slips(other, one) == count


_JSON = st.recursive(
    st.one_of(
        st.booleans(), st.integers(-5, 5), st.floats(), st.text(max_size=4), st.sampled_from(["yes", "60", "off"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["model", "task", "codr", "coder", "skip", "a b", "", "usd", "Mode"]), inner),
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(Config.model_fields)), _JSON, max_size=3))
def test_no_settings_are_too_odd_to_be_looked_at(values: dict[str, object]) -> None:
    text = tomlkit.dumps(values)
    found = look(text)
    assert all(each.line >= 0 and each.message for each in found)
    after = look(mended(text))
    assert len(after) <= len(found)
    assert not [each for each in after if each.edits and each in found]


def test_no_alarm_on_settings_that_the_docs_show() -> None:
    pages = (Path(__file__).parents[3] / "docs").glob("*.md")
    texts = [re.findall(r"^```toml\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL) for page in pages]
    settings = [block for blocks in texts for block in blocks if block.startswith("# .swarm/config.toml\n")]
    assert len(settings) > 5
    assert [each.text for block in settings for each in look(block)] == []


def test_a_key_in_the_file_is_told_as_one() -> None:
    shape = "sk-" + "abcdefghij1234567890"
    for line in (f'api_key = "{shape}"', 'api_key = "hunter2-hunter2"', f'note = "{shape}"', "Password = 'x y z'"):
        (found,) = look(f"[providers.a]\nbase_url = 'http://x/v1'\n{line}\n")
        assert "a key seems to stand here" in found.message
        assert found.hint.startswith("take it out, make it invalid")
        assert (found.line, found.fixable) == (3, False)
    for line in ('api_key = "OPENAI_API_KEY"', 'api_key_evn = "MY_KEY"', 'api_key = "${MY_KEY}"'):
        (found,) = look(f"[providers.a]\nbase_url = 'http://x/v1'\n{line}\n")
        assert "did you mean `api_key_env`?" in found.message
    (found,) = look("[council]\ntoken = '5000'\n")
    assert "did you mean `tokens`?" in found.message


def test_a_wrong_name_with_a_wrong_type_is_mended_whole() -> None:
    assert mended("[tests]\nminKillRate = '0.5' # here\n") == "[tests]\nmin_kill_rate = 0.5 # here\n"
    assert mended("[Budget] # mine\nUsd = '5'\n[Budget.Run]\nTokens = 9\n") == (
        "[budget] # mine\nusd = 5\n[budget.run]\ntokens = 9\n"
    )
    assert mended("[Budget]\nUsd = '5'\nqqq = 1\n") == "[Budget]\nUsd = '5'\nqqq = 1\n"


def test_two_that_mean_one_key() -> None:
    for text in (
        "[budget]\nUsd = 5\nUSD = 6\n",
        "[budget]\n[Budget]\nUsd = 5\n",
        "[Budget]\nusd = 1\n[BUDGET]\nusd = 2\n",
    ):
        assert mended(text) == text
        assert all("means the same: keep one of them" in each.hint for each in look(text))
    assert (
        mended("[Tests]\n[TESTS]\ncommand = 'x'\n") == "[Tests]\n[tests]\ncommand = 'x'\n"
    )  # an empty one stands back


def _legal(kind: Any) -> Any:
    """A legal value of a key that has no default to take."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    options = [each for each in get_args(kind) if each is not type(None)]
    if get_origin(kind) in {Union, UnionType}:
        return _legal(options[0])
    if get_origin(kind) is Literal:
        return options[0]
    return {bool: True, int: 1000, float: 1.0, str: "local/other"}[kind]


_NAMED: dict[tuple[str, ...], dict[str, Any]] = {
    ("providers",): {"local": {"base_url": "http://127.0.0.1:1/v1", "headers": {"X-Thing": "a"}}},
    ("prices",): {"local/other": {}},
    ("hooks",): {"task_completed": "true"},
    ("roles",): {"coder": {"model": "command:true", "fallback": ["local/other"]}},
}
_CHOSEN: dict[tuple[str, ...], Any] = {
    ("tests", "mutation"): True, ("review", "mode"): "auto", ("roles", "coder", "max_tokens"): 500,
    ("review", "plan_mode"): "debate", ("review", "plan_rounds"): 3,
    ("review", "plan_seats"): ["pm", "engineer"],
    ("tests", "suite", "name"): "api", ("tests", "suite", "paths"): ["lib"], ("tests", "suite", "command"): "true",
    ("council", "tokens"): 800, ("council", "usd"): 0.5, ("council", "discussion", "rounds"): 3,
    ("server", "notify", "url"): "https://chat.example.test/hook",
}  # fmt: skip
"""What users name, and keys that another one needs at a certain value."""


def _every_key(section: type[BaseModel], path: tuple[str, ...] = ()) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, field in section.model_fields.items():
        here, kind = (*path, name), field.annotation
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            values[name] = _every_key(kind, here)
        elif get_origin(kind) is dict and isinstance(inner := get_args(kind)[1], type) and issubclass(inner, BaseModel):
            given = _NAMED.get(here, {"coder": {}})
            values[name] = {each: _every_key(inner, (*here, each)) | own for each, own in given.items()}
        elif (
            get_origin(kind) is tuple and isinstance(inner := get_args(kind)[0], type) and issubclass(inner, BaseModel)
        ):
            values[name] = [_every_key(inner, here)]
        elif here in _CHOSEN:
            values[name] = _CHOSEN[here]
        elif default is None:
            values[name] = _legal(kind)
        else:
            values[name] = list(default) if isinstance(default, tuple) else _NAMED.get(here, default)
    return values


def test_a_wrong_key_in_a_list_of_tables_is_named_with_its_line_and_not_mended() -> None:
    suite = '[[tests.suite]]\nname = "{}"\npaths = ["x"]\n{} = "true"\n'
    found = look(suite.format("a", "command") + suite.format("b", "comand"))
    assert {(each.line, each.fixable) for each in found} == {(8, False)}
    assert "did you mean `command`?" in found[0].message


def test_every_key_with_a_legal_value_is_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(tomlkit.dumps(_every_key(Config)))
    assert [each.text for each in look(file.read_text())] == []
    config = load(user_file=file, environ={})  # [server] belongs into that one
    page = (Path(__file__).parents[3] / "docs/configuration.md").read_text().partition("## Every key")[2]
    written = re.findall(r"^(?:\[.*\.)?(\w+)(?: = |\])", file.read_text(), re.MULTILINE)
    assert set(written) >= set(re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE))
    places = Places((SettingsFile(".swarm/config.toml", file, file.read_text()),), {})
    assert [each.text for each in contradictions.inspect(config, places, ())] == []
    assert hook_commands.inspect(config, places, tmp_path) == ()


def test_what_only_all_sources_together_say() -> None:
    half = Source("a", {"providers": {"x": {"api_key_env": "K"}, "y": {"Base_Url": "http://y"}}}, "[providers.x]\n")
    (found,) = keys.across([half], [("providers", "y", "Base_Url")])
    assert (found.where, found.line, found.message) == ("a", 1, "`providers.x`: the key `base_url` is missing")
    rest = Source("b", {"providers": {"x": {"base_url": "http://x"}, "y": {"base_url": "http://y"}}})
    assert list(keys.across([half, rest], [("providers", "y", "Base_Url")])) == []
    (found,) = keys.across([Source("c", {"roles": {"coder": {"model": "z/m"}}})], [])
    assert "c: `roles.coder.model`: " in found.text
