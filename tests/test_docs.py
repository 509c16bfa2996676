"""README and docs say what is so: links, commands, options, settings, exit codes, tables, and programs that run."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from tests.docs_scripts import script, up_to_date
from tests.project import BARE_PYTEST
from typer.testing import CliRunner

from swarmgate import config, errors
from swarmgate.agents.tools.tool_table import TOOLS
from swarmgate.cli.app import app
from swarmgate.cli.views.docs import slug
from swarmgate.council.discussion import personas as personas_file
from swarmgate.domain.events import event
from swarmgate.domain.review.evidence import Verdict
from swarmgate.domain.review.finding import Severity
from swarmgate.engine.initialise import initialise
from swarmgate.evaluation.agent_trials import PROBLEMS
from swarmgate.gates import definition
from swarmgate.gates.definition import GateDefinition
from swarmgate.gates.sensitivity import definition as sensitivity
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.llm.programs.recipes import RECIPES
from swarmgate.testing import Script

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "examples/demo/README.md",
    ROOT / "examples/eval/README.md",
]
INDEX = ROOT / "docs/README.md"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SIGNALS = {0, 130}
"""Exit codes that no error of the tree stands for: done, interrupted."""


def blocks(page: Path, *languages: str) -> list[str]:
    return [text for language, text in _FENCE.findall(page.read_text("utf-8")) if language in languages]


def every_block(*languages: str) -> list[Any]:
    return [
        pytest.param(text, id=f"{page.name}-{number}")
        for page in PAGES
        for number, text in enumerate(blocks(page, *languages), start=1)
    ]


def prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text("utf-8"))


def section(page: Path, title: str) -> str:
    """The text under a heading, up to the next heading of its level."""
    _, _, rest = page.read_text("utf-8").partition(f"\n## {title}\n")
    assert rest, f"{page} has no section {title}"
    return rest.partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    """The first column of the tables in a text, without heads and rulers."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [row.split("|")[1].strip() for row in rows]


# --- links ---


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        place = (page.parent / name).resolve() if name else page
        assert place.exists(), f"{page.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", place.read_text("utf-8")), re.MULTILINE)
            assert anchor in [slug(heading) for heading in headings], f"{page.name}: {target}"


def test_every_page_has_its_line_in_the_index_which_the_readme_names() -> None:
    listed = re.findall(r"^- \[(.+?)\]\((.+?)\.md\): \S", INDEX.read_text("utf-8"), re.MULTILINE)
    assert [name for name, target in listed if name != target] == []
    pages = {page.relative_to(INDEX.parent).with_suffix("").as_posix() for page in INDEX.parent.rglob("*.md")}
    assert sorted(name for name, _ in listed) == sorted(pages - {"README"})
    examples = {f"examples/{path.name}" for path in (ROOT / "examples").iterdir() if path.is_file()}
    assert set(re.findall(r"\[(examples/[\w.-]+)\]\(\.\./\1\)", INDEX.read_text("utf-8"))) == examples
    assert "(docs/README.md)" in (ROOT / "README.md").read_text("utf-8")


def cited() -> set[str]:
    """The pages that messages, the template of `.swarm/` and the definitions of gates name."""
    found: set[str] = set()
    for folder in ("src/swarmgate", ".swarm-template", "gates"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".toml", ".md"}:
                found |= set(re.findall(r"swarm docs ([\w/#-]+(?:\.\w+)?)", path.read_text("utf-8")))
    return found


def test_pages_that_messages_cite_are_there_with_their_sections() -> None:
    assert {"hooks", "configuration", "discussion#personas"} <= cited()
    told = {each: CliRunner().invoke(app, ["docs", each]) for each in cited()}
    assert {each: done.stderr for each, done in told.items() if done.exit_code or not done.stdout.strip()} == {}


def test_no_message_cites_a_page_by_a_file_that_an_installation_has_elsewhere() -> None:
    pages = "|".join(page.relative_to(ROOT).as_posix() for page in INDEX.parent.rglob("*.md"))
    cites = re.compile(rf"(?<![\w/])(?:{pages})")
    for path in (*(ROOT / "src").rglob("*.py"), *(ROOT / ".swarm-template").rglob("*.*")):
        text = path.read_text("utf-8")
        found = cites.findall(text)
        if found and path.suffix == ".py":  # what developers read of the checkout is no message
            tree = ast.parse(text)
            own = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            said = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in own]
            found = cites.findall("\n".join(node.value for node in said if isinstance(node.value, str)))
        assert found == [], path


# --- commands ---


@cache
def verbs() -> dict[str, Any]:
    return subcommands(typer.main.get_command(app))


def subcommands(command: Any) -> dict[str, Any]:
    """The commands of a group; none of a plain command. Typer's classes are its own copy of click's: no isinstance."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else ()
    return {name: command.get_command(None, name) for name in names}


def leaves(command: Any) -> list[Any]:
    """The commands at the ends of a group of groups; a plain command itself."""
    below = subcommands(command)
    return [leaf for each in below.values() for leaf in leaves(each)] if below else [command]


def options_of(command: Any) -> set[str]:
    names = {name for each in command.params for name in (*each.opts, *each.secondary_opts) if name.startswith("-")}
    return names | {"--help", "-h"}


def commands_in(page: Path) -> list[str]:
    """Everything that reads as a command: lines of shell blocks, split at && and |, and code in the text."""
    lines = [line.partition("  #")[0] for text in blocks(page, "console", "sh") for line in text.splitlines()]
    parts = [part for line in lines for part in re.split(r"&&|\|", line.removeprefix("$ "))]
    spans = re.findall(r"`([^`\n]+)`", prose(page))
    stripped = (re.sub(r"^(?:[A-Z_]+=(?:'[^']*'|\S+) )+", "", text.strip()) for text in (*parts, *spans))
    return [text for text in stripped if re.match(r"swarm( |$)", text)]


def problem(line: str) -> str:
    """Why a command line cannot be typed like this; empty when it can."""
    words = shlex.split(line.partition(" -- ")[0])[1:]
    options = [word.partition("=")[0] for word in words if word.startswith("-")]
    if not words or words[0] in options_of(typer.main.get_command(app)):
        return ""
    if words[0] not in verbs():
        return f"no such verb: {words[0]}"
    command, rest = verbs()[words[0]], words[1:]
    while (below := subcommands(command)) and rest and (hasattr(command, "default") or not rest[0].startswith("-")):
        named = rest[0] if rest[0] in below else getattr(command, "default", "")
        if named not in below:
            return f"no such verb: {' '.join(words[: words.index(rest[0]) + 1])}"
        command, rest = below[named], rest[rest[0] == named :]
    unknown = [option for option in options if option not in options_of(command)]
    return f"unknown options: {unknown}" if unknown else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page: Path) -> None:
    assert {line: problem(line) for line in commands_in(page) if problem(line)} == {}


def test_the_check_of_commands_sees_what_is_wrong() -> None:
    assert problem("swarm frobnicate") == "no such verb: frobnicate"
    assert problem("swarm gates mend") == "no such verb: gates mend"
    assert problem("swarm server accounts mend ada") == "no such verb: server accounts mend"
    assert problem("swarm server keys add ada x --fast") == "unknown options: ['--fast']"
    assert problem("swarm run --fast") == "unknown options: ['--fast']"
    assert problem("swarm --show-everything bash") == "no such verb: --show-everything"
    assert problem("swarm --show-completion bash") == problem('swarm plan --answer 1="x y" --json') == ""
    assert len(commands_in(ROOT / "docs/commands.md")) > 20


def test_every_verb_and_option_has_its_place_on_the_page_of_commands() -> None:
    page = ROOT / "docs/commands.md"
    everywhere = {"--repo", "--json", "--help", "-h"}
    for name, command in verbs().items():
        text = section(page, f"`swarm {name}`")
        options = {option for part in leaves(command) for option in options_of(part)} - everywhere
        assert {option for option in options if f"`{option}" not in text} == set(), name
        assert "Exit codes:" in text, name


# --- settings, gates, scripts ---


@pytest.mark.parametrize("text", every_block("toml"))
def test_toml_is_what_swarmgate_reads(text: str, tmp_path: Path) -> None:
    if re.match(r"# (debate|tasks(-\w+)?|chat)\.toml\n", text):
        return  # held whole by tests/examples/test_council_page.py
    if text.startswith("# personas.toml\n"):
        assert len(personas_file.parsed(text, "personas.toml").experts) > 1
        return
    if text.startswith("# ~/.config/swarmgate/config.toml\n"):
        (tmp_path / "config.toml").write_text(text, "utf-8")
        config.load(user_file=tmp_path / "config.toml", environ={})
        return
    named = re.match(r"# (\.swarm/(?:config|gates/(?:rules/)?\w+)\.toml)\n", text)
    assert named, "a TOML block begins with the name of its file"
    path = tmp_path / named[1]
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    if path.name == "config.toml":
        config.load(user_file=tmp_path / "none.toml", project_file=path, environ={})
    elif path.parent.name == "rules":
        assert sensitivity.load(tmp_path) != sensitivity.load()
    else:
        assert path.stem in [gate.id for gate in definition.load(tmp_path)]


def test_the_page_of_gates_names_every_gate_and_key() -> None:
    page = ROOT / "docs/gates.md"
    assert first_cells(section(page, "The gates of today"))[1:] == [f"`{gate.id}`" for gate in definition.load()]
    keys = " ".join(first_cells(section(page, "Your own gate")))
    fields = [name for name in GateDefinition.model_fields if name not in ("files", "weakened", "source")]
    assert [name for name in fields if f"`{name}`" not in keys] == []


@pytest.mark.parametrize("text", every_block("yaml"))
def test_yaml_is_a_script(text: str, tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(text, "utf-8")
    assert Script.load(path).rules


def test_a_script_writes_between_its_marks_and_needs_both(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Before.\n<!-- begin: written by docs/x.py -->\nold\n<!-- end -->\nAfter.\n")
    derived = script("derived").Derived(page, "x.py", lambda: "new")
    assert derived.write() == 0
    assert page.read_text() == "Before.\n<!-- begin: written by docs/x.py -->\n\nnew\n<!-- end -->\nAfter.\n"
    page.write_text("Before.\n<!-- end -->\n")
    with pytest.raises(ValueError, match="needs both marks"):
        derived.write()
    assert page.read_text() == "Before.\n<!-- end -->\n"


def test_the_page_of_settings_is_up_to_date() -> None:
    assert up_to_date("render_configuration"), "run: python docs/render_configuration.py"


def test_the_table_of_tools_is_up_to_date_and_complete() -> None:
    page = ROOT / "docs/testing.md"
    assert up_to_date("render_tools"), "run: python docs/render_tools.py"
    named = first_cells(section(page, "The tools"))[1:]
    assert set(named) == {f"`{name}`" for name in TOOLS}
    assert named.count("`submit_verdict`") == 2  # the test engineer's maps criteria to tests
    text = section(page, "The tools")
    assert all(f"`{word}`" in text for word in (*Verdict, *Severity))


def test_the_page_of_settings_has_every_key_with_its_limits() -> None:
    tables = script("render_configuration").tables()
    assert "| `max_rejections` | integer | `2` | at least 1, at most 5 |" in tables
    assert "| `base_url` | string | required |" in tables
    assert all(f"### `[{name}" in tables for name in config.Config.model_fields)


# --- exit codes, errors, events ---


def tree(root: type[errors.SwarmError] = errors.SwarmError) -> list[type[errors.SwarmError]]:
    below = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, root)]
    return [kind for kind in below if kind is not root]


def codes() -> set[int]:
    return {kind.exit_code for kind in tree()} | {errors.SwarmError.exit_code} | _SIGNALS


@pytest.mark.parametrize("name", ["README.md", "docs/commands.md"])
def test_tables_of_exit_codes_are_complete(name: str) -> None:
    cells = first_cells(section(ROOT / name, "Exit codes"))
    assert {int(cell) for cell in cells if cell.isdigit()} == codes()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_exit_codes_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    if page.name == "gates.md":
        text = text.replace("An exit code other than 0", "")  # a tool's, not ours
    listed = [word for line in re.findall(r"Exit codes: ([^\n]*)", text) for word in re.findall(r"\b\d+\b", line)]
    named = re.findall(r"exit code (\d+)", text)
    assert {int(code) for code in (*listed, *named)} <= codes()


def test_error_codes_are_those_of_the_tree() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (\d+) \|", section(ROOT / "docs/commands.md", "Exit codes"), re.MULTILINE)
    assert {code: int(number) for code, number in rows} == {kind.code: kind.exit_code for kind in tree()}


def test_the_page_of_the_ledger_names_every_event() -> None:
    union = get_args(get_args(event.Event)[0])
    tags = [f"`{kind.model_fields['type'].default}`" for kind in union]
    assert first_cells(section(ROOT / "docs/ledger.md", "Events"))[1:] == tags


# --- the rules of guards ---


def rules_on_record() -> set[str]:
    """Every value of `GuardNote(rule=...)` in the source: a text, a constant, or what a helper is called with."""
    found: set[str] = set()
    for path in sorted((ROOT / "src/swarmgate").rglob("*.py")):
        text = path.read_text("utf-8")
        if "GuardNote(" in text:
            found |= _rules_in(ast.parse(text), ".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
    return found


def _rules_in(tree: ast.Module, module: str) -> set[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found: set[str] = set()
    for call in calls:
        for given in (each.value for each in call.keywords if each.arg == "rule" and _name(call.func) == "GuardNote"):
            inside = [each for each in functions if each.lineno <= call.lineno <= (each.end_lineno or 0)]
            helper = next((each for each in inside if "rule" in [arg.arg for arg in each.args.args]), None)
            if helper is not None and isinstance(given, ast.Name) and given.id == "rule":
                place = [arg.arg for arg in helper.args.args if arg.arg != "self"].index("rule")
                found |= {_value(each.args[place], module) for each in calls if _name(each.func) == helper.name}
            else:
                found.add(_value(given, module))
    return found


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _value(given: ast.expr, module: str) -> str:
    if isinstance(given, ast.Constant):
        return str(given.value)
    assert isinstance(given, ast.Name), f"{module}: the rule of a note is a text or a constant"
    return str(getattr(importlib.import_module(module), given.id))


def test_the_page_of_guards_explains_every_rule_that_stands_on_record() -> None:
    head = (ROOT / "docs/guards.md").read_text("utf-8").partition("\n## ")[0]
    explained = [cell.strip("`") for cell in first_cells(head)[1:]]
    assert len(explained) == len(set(explained))
    assert set(explained) == rules_on_record()
    assert {"authority", "breaker", "criteria", "self-coding", "trajectory"} <= set(explained)


# --- programs ---


def test_the_page_of_agent_programs_has_every_recipe_and_every_problem() -> None:
    page = (ROOT / "docs/agent-programs.md").read_text("utf-8")
    for each in RECIPES:
        assert f"| {each.title} |" in page
        for model in each.ways.values():
            assert f"`{model.partition(':')[2]}` (" in page
    cells = " ".join(first_cells(section(ROOT / "docs/agent-programs.md", "What is wrong with it"))[1:])
    assert set(re.findall(r"`([a-z-]+)`", cells)) == PROBLEMS


def test_ten_lines_check_the_chain(repo: Path, tmp_path: Path) -> None:
    (program,) = [text for text in blocks(ROOT / "docs/ledger.md", "python") if "hashlib" in text]
    script = tmp_path / "check.py"
    script.write_text(program, "utf-8")
    initialise(repo)
    with Ledger.write(SwarmFolder(repo)) as ledger:
        ledger.append([event.GoalSet(goal="x"), event.QuestionsAsked(questions=("why?",))], expect=ledger.state.seq)
    path = SwarmFolder(repo).ledger

    def said() -> tuple[int, str]:
        done = subprocess.run([sys.executable, script, path], capture_output=True, text=True, check=False)
        return done.returncode, (done.stdout + done.stderr).strip()

    whole = path.read_bytes()
    assert said() == (0, "the chain holds")
    path.write_bytes(whole.replace(b'"goal":"x"', b'"goal":"y"'))
    assert said() == (1, "line 2 does not fit")
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[::2]))
    assert said() == (1, "line 2 does not fit")


@pytest.mark.parametrize("text", every_block("python"))
def test_python_compiles(text: str) -> None:
    assert compile(text, "<docs>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT).co_names, "it says something"


@pytest.mark.slow
def test_the_library_example_works() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/library.py"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **BARE_PYTEST},
    )
    assert done.returncode == 0, done.stderr
    assert "- [x] Task 1.1: Greet by name [SMALL]" in done.stdout
    assert done.stdout.endswith("chain: ok\nprojections: ok\nevidence: ok\nrecords: ok\ncommits: ok\nanchors: ok\n")


def test_ci_finds_the_test_command_in_the_readme() -> None:
    """The line of .ci/run that reads the README, run as it stands there."""
    (line,) = [line for line in (ROOT / ".ci/run").read_text("utf-8").splitlines() if line.startswith('tests="$(sed')]
    done = subprocess.run(
        ["bash", "-c", f'{line}; echo "$tests"'], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"python -m pytest -q -n (auto|\d+)", done.stdout.strip())
    setup = r"^python3 -m venv \.venv && \. \.venv/bin/activate && pip install -e '\.\[dev\]' && python -m pytest -q"
    assert re.search(r"<!-- test-command -->\n```\w*\n" + setup[1:], (ROOT / "README.md").read_text("utf-8"))


# --- the glossary ---


def test_the_glossary_is_short_sorted_and_used() -> None:
    terms = [cell for cell in first_cells(section(ROOT / "docs/architecture.md", "Words")) if cell != "word"]
    assert 0 < len(terms) <= 40
    assert terms == sorted(set(terms))
    source = " ".join(re.sub(r"[\s_]+", " ", path.read_text("utf-8")) for path in (ROOT / "src").rglob("*.py")).lower()
    assert [term for term in terms if not re.search(rf"\b{term}s?\b", source)] == []
