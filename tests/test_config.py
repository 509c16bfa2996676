"""Sources and their order; every bad input and what the user is told about it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from swarmgate import config
from swarmgate.config import Config, load, nearest, program_of
from swarmgate.errors import ConfigError, UnknownVariable

PROVIDERS = '[providers.local]\nbase_url = "http://127.0.0.1:8899/v1/"\n'


def loaded(tmp_path: Path, toml: str = "", environ: dict[str, str] | None = None, **more: Any) -> Config:
    file = tmp_path / "config.toml"
    file.write_text(toml)
    return load(user_file=more.pop("user_file", tmp_path / "none"), project_file=file, environ=environ or {}, **more)


def refusal(tmp_path: Path, toml: str = "", environ: dict[str, str] | None = None, **more: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, toml, environ, **more)
    assert caught.value.exit_code == 2
    return caught.value.message.replace(f"{tmp_path}/", "")


def test_nothing_set_is_the_built_in_defaults(tmp_path: Path) -> None:
    assert load(user_file=tmp_path / "none", environ={}) == Config()
    assert Config().loop.max_rejections == 2
    assert Config().git.branch_prefix == "swarm/"


def test_later_sources_win_key_by_key(tmp_path: Path) -> None:
    user = tmp_path / "user.toml"
    user.write_text("[loop]\nmax_turns = 1\nreplies = 1\ncritic_rounds = 1\nmax_rejections = 1\n[tests]\ncommand = 'u'")
    project = "[loop]\nreplies = 2\ncritic_rounds = 2\nmax_rejections = 2"
    environ = {"SWARM_LOOP__CRITIC_ROUNDS": "3", "SWARM_LOOP__MAX_REJECTIONS": "3", "HOME": "/x"}
    flags = {"loop": {"max_rejections": 4, "max_turns": None}, "budget": None}
    merged = loaded(tmp_path, project, environ, user_file=user, flags=flags)
    loop = merged.loop
    assert (loop.max_turns, loop.replies, loop.critic_rounds, loop.max_rejections) == (1, 2, 3, 4)
    assert merged.tests.command == "u"


def test_the_users_file_stands_where_the_platform_keeps_settings(isolated: Path) -> None:
    from platformdirs import user_config_path

    file = user_config_path("swarmgate") / "config.toml"
    assert isolated in file.parents
    file.parent.mkdir(parents=True)
    file.write_text("[budget]\nusd = 2\n")
    assert load(environ={}).budget.usd == 2


def test_a_list_replaces_a_list(tmp_path: Path) -> None:
    merged = loaded(tmp_path, "[gates]\nskip = ['a', 'b']", flags={"gates": {"skip": ["c"]}})
    assert merged.gates.skip == ("c",)


def test_the_environment_nests_and_lists_are_json(tmp_path: Path) -> None:
    environ = {
        "SWARM_PROVIDERS__LOCAL__BASE_URL": "http://x/v1",
        "SWARM_PROVIDERS__LOCAL__TOOLS": "false",
        "SWARM_PROVIDERS__LOCAL__HEADERS__X_TEAM": "blue",
        "SWARM_ROLES__CODER__MODEL": "local/org/m",
        "SWARM_ROLES__CODER__FALLBACK": '["local/n"]',
        "SWARM_BUDGET": '{"usd": 1, "tokens": 2}',
        "SWARM_BUDGET__USD": "3",
        "SWARMING": "not ours",
    }
    merged = loaded(tmp_path, environ=environ)
    assert merged.role("coder").fallback == ("local/n",)
    provider, served = merged.provider(merged.role("coder").model)
    assert (served, provider.tools, provider.headers) == ("org/m", False, {"x_team": "blue"})
    assert (merged.budget.usd, merged.budget.tokens) == (3, 2)


def test_a_role_falls_back_to_the_default_role(tmp_path: Path) -> None:
    roles = '[roles.default]\nmodel = "local/a"\n[roles.coder]\nmodel = "local/b"\n'
    merged = loaded(tmp_path, PROVIDERS + roles)
    assert [merged.role(name).model for name in ("coder", "critic")] == ["local/b", "local/a"]
    assert merged.providers["local"].base_url == "http://127.0.0.1:8899/v1"


def test_a_role_without_a_model_shows_what_to_add_and_where(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="role `coder`") as caught:
        Config().role("coder")
    assert ".swarm/config.toml" in caught.value.hint
    snippet = caught.value.hint.partition("\n")[2]
    assert loaded(tmp_path, snippet).role("coder").model.startswith("local/")
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, PROVIDERS).role("coder")
    assert "base_url" not in caught.value.hint


def test_every_model_that_is_named_counts_once(tmp_path: Path) -> None:
    text = (
        '[roles.coder]\nmodel = "local/a"\nfallback = ["local/b"]\n[agents.pm]\nmodel = "local/c"\n[agents.ux]\n'
        'role = "user"\n[agents.ops]\nmodel = "local/a"\n[models.tiers]\nlarge = "local/d"\n'
    )
    assert loaded(tmp_path, PROVIDERS + text).named_models == ("local/a", "local/b", "local/c", "local/d")


def test_it_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Config().budget.usd = 3  # type: ignore[misc]  # that it cannot be set is the point


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("budget = = 3", "config.toml is not valid TOML: Invalid value (at line 1, column 10)"),
        ("[budgt]\nusd = 1", "config.toml, line 1: `budgt`: unknown key `budgt`; did you mean `budget`?"),
        ("[budget]\n\nusdd = 1", "config.toml, line 3: `budget.usdd`: unknown key `usdd`; did you mean `usd`?"),
        ("[budget]\neuros = 1", "unknown key `euros`; known here: usd, tokens"),
        ("budget.'usdd' = 1", "config.toml, line 1: `budget.usdd`"),
        ("budget = {usdd = 1}", "config.toml, line 1: `budget.usdd`"),
        ("budget = 3", "`budget`: must be a table, [budget]"),
        ("providers = 3", "`providers`: must be a table, [providers]"),
        ("[budget]\nusd = -1", "`budget.usd`: must be greater than or equal to 0"),
        ("[budget]\nusd = nan", "`budget.usd`: must be a finite number"),
        ("[loop]\nmax_rejections = 6", "line 2: `loop.max_rejections`: must be less than or equal to 5"),
        ("[tests]\ntimeout_s = 0", "`tests.timeout_s`: must be greater than or equal to 1"),
        ("[tests]\ntimeout_s = 86401", "`tests.timeout_s`: must be less than or equal to 86400"),
        ("[tests]\ncount_pattern = '('", "`tests.count_pattern`: must be a regular expression: missing )"),
        ("[tests]\ncount_pattern = 'x'", "must have a group `passed`"),
        ("[git]\nbranch_prefix = '-x'", "`git.branch_prefix`: must be the beginning of a git branch name"),
        ("[gates]\nskip = 'lint'", "`gates.skip`: must be a list"),
        ("[providers.local]\n", "line 1: `providers.local`: the key `base_url` is missing"),
        ("[providers.'a/b']\nbase_url = 'http://x'", "`a/b` cannot be a name here"),
        ("[providers.a]\nbase_url = 'ftp://x'", "line 2: `providers.a.base_url`: must be an http or https address"),
        ("[providers.a]\nbase_url = 'http://x:99999/'", "must be an http or https address"),
        ("[providers.a]\nbase_url = 'http://me:pw@x/v1'", "must not carry a user name or password"),
        (
            "[providers.a]\nbase_url='http://x'\napi_key_env = 'sk-abcdef123456'",
            "line 3: `providers.a.api_key_env`",
        ),
        ("[providers.a]\nbase_url='http://x'\napi_key_env = 'ghp_abcdef123456'", "must be the NAME of an environment"),
        ("[providers.a]\nbase_url='http://x'\nheaders = {a = 'Bearer abcdefgh'}", "keys never stand in files"),
        ("[providers.a]\nbase_url='http://x'\nheaders = {a = 'h\u00e9'}", "printable ASCII"),
        ("[providers.a]\nbase_url='http://x'\nheaders = {a = \"b\\r\\nc: d\"}", "printable ASCII"),
        ("[providers.a]\nbase_url='http://x'\nheaders = {'a b' = 'c'}", "headers.a b"),
        ("[roles.codr]\nmodel = 'a/b'", "line 1: `roles.codr`: unknown key `codr`; did you mean `coder`?"),
        ('[roles.coder]\nmodel = "command:cat \'open"', "no shell can read this command line: no closing quotation"),
        ("[roles.coder]\nmodel = 'gpt'", '`roles.coder.model`: must read "provider/model"'),
        ("[review]\ncite = 'no'", "line 2: `review.cite`: must be true or false, without quotes"),
        ("[review]\ncite = 1", "`review.cite`: must be true or false, without quotes"),
        ("[scope]\nmax_outside = '3'", "line 2: `scope.max_outside`: must be a whole number, without quotes"),
        ("[scope]\nmax_outside = true", "`scope.max_outside`: must be a whole number, without quotes"),
        ("[budget]\nusd = '3'", "`budget.usd`: must be a number, without quotes"),
        ("[gates.quality]\nmax_function_lines = '9'", "`gates.quality.max_function_lines`: must be a whole number"),
        ("[commands]\nwritable = ['/']", 'line 2: `commands.writable.0`: "/" would open all of it'),
        ("[commands]\nwritable = ['~/']", '`commands.writable.0`: "~/" would open all of it'),
        ("[commands]\nreadable = ['/x/..']", '`commands.readable.0`: "/x/.." would open all of it'),
        ("[commands]\nreadable = ['data']", "`commands.readable.0`: must be absolute or begin with `~/`"),
        ("[commands]\nenv = ['MY KEY']", "`commands.env.0`: must be the NAME of an environment variable"),
        ("[commands]\nallow = ['make *', ' * ']", '`commands.allow.1`: " * " lets every command line through'),
        ("[authority.coder]\nallow = ['../x']", '`authority.coder.allow.0`: "../x" never matches'),
        ("[authority.coder]\ndeny = ['/home/me/src/**']", '`authority.coder.deny.0`: "/home/me/src/**" never matches'),
        ("[scope]\nartefacts = ['']", "`scope.artefacts.0`: is empty, and matches nothing"),
        ("[models]\nrequire_distinct = ['coder']", "`models.require_distinct`: needs two roles or more"),
        ("[models]\nrequire_distinct = ['coder', 'coder']", "`models.require_distinct`: needs two roles or more"),
        (
            PROVIDERS + "[roles.coder]\nmodel = 'lokal/b'",
            "line 4: `roles.coder.model`: unknown provider `lokal`; did you mean `local`?",
        ),
        (
            PROVIDERS + "[roles.coder]\nmodel = 'local/b'\nfallback = ['x/y']",
            "line 5: `roles.coder.fallback.0`: unknown prov",
        ),
    ],
)
def test_a_bad_file_names_file_line_and_key(tmp_path: Path, toml: str, message: str) -> None:
    assert message in refusal(tmp_path, toml)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("SWARM_BUDGET", '{"usdd": 3}', "variable SWARM_BUDGET: `budget.usdd`: unknown key"),
        ("SWARM_BUDGET__USD", "much", "variable SWARM_BUDGET__USD: `budget.usd`: must be a valid number"),
        ("SWARM_GATES__SKIP", "a,b", "variable SWARM_GATES__SKIP must hold JSON"),
        ("SWARM_BUDGET", "3", "variable SWARM_BUDGET: `budget`: must be a table"),
    ],
)
def test_a_bad_variable_is_named(tmp_path: Path, name: str, value: str, message: str) -> None:
    assert message in refusal(tmp_path, environ={name: value})


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("SWARM_BUDGT__USD", "SWARM_BUDGET__USD"),
        ("SWARM_BUDGET__USDD", "SWARM_BUDGET__USD"),
        ("SWARM_ROLES__CODR__MODEL", "SWARM_ROLES__CODER__MODEL"),
        ("SWARM_PROVIDERS__MINE__BASE_ULR", "SWARM_PROVIDERS__MINE__BASE_URL"),
        ("SWARM_BUDGET__USD__X", ""),
        ("SWARM_", ""),
        ("SWARM_ZZZZZZ", ""),
    ],
)
def test_a_variable_that_names_no_setting_is_a_warning(tmp_path: Path, name: str, nearest: str) -> None:
    meant = f"; did you mean {nearest}?" if nearest else ""
    with pytest.warns(UnknownVariable) as told:
        config = loaded(tmp_path, environ={name: "sk-abcdef123456", "SWARM_BUDGET__TOKENS": "7"})
    assert [str(each.message) for each in told] == [f"environment variable {name} is no setting and is ignored{meant}"]
    assert (config.budget.tokens, config.providers, config.roles) == (7, {}, {})


@pytest.mark.parametrize(
    ("toml", "environ"),
    [
        ("[providers.a]\nbase_url = 'http://x/v1'\napi_key_env = 'NAME'", {}),
        ("", {"SWARM_PROVIDERS__A__BASE_URL": "http://x/v1", "SWARM_PROVIDERS__A__API_KEY_ENV": "NAME"}),
        ("", {"SWARM_PROVIDERS": '{"a": {"base_url": "http://x/v1", "api_key_env": "NAME"}}'}),
    ],
)
@pytest.mark.parametrize("name", ["SWARM_KEY", "SWARM_BUDGET", "SWARM_BUDGET__USD"])
def test_a_variable_with_a_key_is_not_looked_at(tmp_path: Path, toml: str, environ: dict[str, str], name: str) -> None:
    """Warnings are errors in these tests: there is none."""
    variables = {each: value.replace("NAME", name) for each, value in environ.items()}
    config = loaded(tmp_path, toml.replace("NAME", name), {**variables, name: "sk-abcdef123456"})
    assert config.providers["a"].api_key_env == name
    assert config.budget == Config().budget


def test_files_have_types_and_variables_are_read_as_what_they_say(tmp_path: Path) -> None:
    toml = (
        "[budget]\nusd = 3\n[gates.quality]\nmax_file_lines = 'off'\n[commands]\nwritable = ['~/.cache/x', '/opt/x']\n"
        "[authority.coder]\ndeny = ['/README.md', 'infra/']\n[models]\nrequire_distinct = ['coder', 'reviewer']\n"
    )
    (tmp_path / "config.toml").write_text(toml)
    variables = {"SWARM_REVIEW__CITE": "no", "SWARM_SCOPE__MAX_OUTSIDE": "3"}
    config = load(user_file=tmp_path / "none.toml", project_file=tmp_path / "config.toml", environ=variables)
    assert (config.review.cite, config.scope.max_outside, config.budget.usd) == (False, 3, 3.0)


def test_a_bad_flag_is_blamed_not_the_file_below_it(tmp_path: Path) -> None:
    message = refusal(tmp_path, "[budget]\nusd = 1", flags={"budget": {"usd": -1}})
    assert message.startswith("the command line: `budget.usd`")


def test_the_last_source_that_says_it_is_blamed(tmp_path: Path) -> None:
    (tmp_path / "user.toml").write_text("[budget]\nusd = -1")
    message = refusal(tmp_path, "[budget]\ntokens = 1", user_file=tmp_path / "user.toml")
    assert message.startswith("user.toml, line 2")


def test_a_key_pasted_by_mistake_is_never_echoed(tmp_path: Path) -> None:
    for toml in ("api_key_env = 'sk-abcdef123456'", "base_url = 'sk-abcdef123456'", "max_retries = 'sk-abcdef123456'"):
        rest = "" if "base_url" in toml else "base_url = 'http://x'\n"
        assert "abcdef" not in refusal(tmp_path, f"[providers.a]\n{rest}{toml}")


def test_a_key_in_a_file_is_told_as_one(tmp_path: Path) -> None:
    for key in ("api_key = 'hunter2-hunter2'", "note = 'sk-abcdef123456'", "api_key = 'sk-abcdef123456'"):
        told = refusal(tmp_path, f"[providers.a]\nbase_url = 'http://x'\n{key}")
        assert f"line 3: `providers.a.{key.split()[0]}`: a key seems to stand here" in told
        assert "did you mean" not in told


def test_a_link_to_nothing_is_no_empty_file(tmp_path: Path) -> None:
    (tmp_path / "link.toml").symlink_to(tmp_path / "gone.toml")
    assert "link.toml is a symbolic link to " in refusal(tmp_path, user_file=tmp_path / "link.toml")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    (tmp_path / "folder.toml").mkdir()
    for name, what in (("latin.toml", "is not UTF-8 text (byte 2)"), ("folder.toml", "is not a regular file")):
        assert refusal(tmp_path, user_file=tmp_path / name).startswith(f"{name} {what}")


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    assert loaded(tmp_path, "\ufeff[budget]\nusd = 1").budget.usd == 1


def test_an_unknown_provider_at_run_time_is_told() -> None:
    with pytest.raises(ConfigError, match="unknown provider `x`; known: none"):
        Config().provider("x/y")


@pytest.mark.parametrize(("name", "found"), [("statsu", "status"), ("PLAN", "plan"), ("zzz", None)])
def test_nearest(name: str, found: str | None) -> None:
    assert nearest(name, ["plan", "status"]) == found


def test_every_setting_is_described() -> None:
    def undescribed(section: type[config.Section]) -> list[str]:
        return [name for name, field in section.model_fields.items() if not field.description]

    sections = config.Section.__subclasses__()
    assert len(sections) >= 11
    assert [undescribed(section) for section in sections] == [[]] * len(sections)


def test_import_is_light_and_without_variables_pydantic_settings_stays_out() -> None:
    code = (
        "import sys, pathlib, swarmgate.config as c; c.load(user_file=pathlib.Path('none'), environ={}); "
        "sys.exit('pydantic_settings' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- the quality budget ---


def test_limits_of_the_quality_budget_from_file_and_environment(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[gates.quality]\nmax_complexity_delta = "off"\nmax_new_suppressions = 0\n', "utf-8")
    environ = {"SWARM_GATES__QUALITY__MIN_TEST_TO_CODE_RATIO": "0.5", "SWARM_GATES__QUALITY__MAX_FILE_LINES": "off"}
    quality = config.load(user_file=tmp_path / "none.toml", project_file=path, environ=environ).gates.quality
    assert quality.max_complexity_delta is None
    assert quality.max_new_suppressions == 0
    assert quality.min_test_to_code_ratio == 0.5
    assert quality.max_file_lines is None
    assert quality.max_public_api_delta == 10


def test_a_limit_that_is_none_names_its_key(tmp_path: Path) -> None:
    for text, told in (
        ("max_complexity_delta = -1", "`gates.quality.max_complexity_delta`: must be greater than or equal to 0"),
        ("max_complexity_dleta = 1", "did you mean `max_complexity_delta`?"),
    ):
        path = tmp_path / "config.toml"
        path.write_text(f"[gates.quality]\n{text}\n", "utf-8")
        with pytest.raises(ConfigError) as caught:
            config.load(user_file=tmp_path / "none.toml", project_file=path, environ={})
        assert told in caught.value.message


def test_limits_lie_over_those_of_the_gate() -> None:
    below = config.Quality(max_complexity_delta=7, max_file_lines=50)
    above = config.Quality(max_complexity_delta=3).over(below)
    assert (above.max_complexity_delta, above.max_file_lines, above.max_public_api_delta) == (3, 50, 10)


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("command:claude -p", "claude"),
        ("command: /opt/bin/codex exec -", "/opt/bin/codex"),
        ("command:env A=1 gemini", "gemini"),
        ("command:unclosed 'quote", "unclosed"),
        ("command:", ""),
    ],
)
def test_an_agent_program_is_named_by_its_command(name: str, program: str) -> None:
    assert program_of(name) == program
