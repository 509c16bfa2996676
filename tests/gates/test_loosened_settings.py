"""Tests the report of loosened tool settings that the task did not ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus
from swarmgate.gates.loosened_settings import RULE, loosened

if TYPE_CHECKING:
    Project = Any

RUFF = '[lint]\nselect = ["E", "F", "S"]\nignore = ["E501"]\n'
LOOSENED = [
    ("ruff.toml", RUFF, RUFF.replace('"E501"', '"E501", "F401"')),
    ("ruff.toml", RUFF, RUFF.replace(', "S"', "")),
    ("ruff.toml", RUFF, RUFF + 'per-file-ignores = {"src/**" = ["ALL"]}\n'),
    ("ruff.toml", RUFF, RUFF + 'per-file-ignores = {"{tests,src}/**" = ["ALL"]}\n'),
    ("ruff.toml", RUFF, 'exclude = ["src/a.py"]\n' + RUFF),
    ("ruff.toml", RUFF, 'exclude = ["tests/../src"]\n' + RUFF),
    ("ruff.toml", RUFF, 'extend-exclude = ["*"]\n' + RUFF),
    ("ruff.toml", RUFF, ""),
    ("ruff.toml", "", 'lint.ignore = ["F"]\n'),
    ("src/ruff.toml", "", 'lint.select = ["COM812"]\n'),
    ("pyproject.toml", "", '[tool.ruff.lint]\nper-file-ignores = {"*" = ["F"]}\n'),
    ("pyproject.toml", "[tool.mypy]\nstrict = true\n", "[tool.mypy]\nstrict = false\n"),
    ("pyproject.toml", "[tool.mypy]\nstrict = true\n", "[tool.mypy]\n"),
    ("pyproject.toml", "", '[[tool.mypy.overrides]]\nmodule = "app.*"\nignore_errors = true\n'),
    ("pyproject.toml", "", '[tool.mypy]\ndisable_error_code = ["arg-type"]\n'),
    ("mypy.ini", "[mypy]\ndisallow_untyped_defs = True\n", "[mypy]\ndisallow_untyped_defs = False\n"),
    ("mypy.ini", "[mypy]\n", "[mypy-app.*]\nignore_errors = True\n"),
    ("setup.cfg", "[flake8]\n", "[flake8]\nextend-ignore =\n    F401,\n    F821\n"),
    (".flake8", "", "[flake8]\nexclude = src\n"),
    ("tsconfig.json", '{"compilerOptions": {"strict": true}}', '{"compilerOptions": {"strict": false}}'),
    ("tsconfig.json", '{"include": ["src", "lib"]}', '{"include": ["lib"], /* so */}'),
    ("tsconfig.json", "{}", '{"exclude": ["src/bad.ts"]}'),
    (".eslintrc.json", '{"rules": {"no-eval": "error"}}', '{"rules": {"no-eval": "off"}}'),
    (".eslintrc.json", "{}", '{"rules": {"no-eval": ["off"]}}'),
    (".eslintrc.json", "{}", '{"ignorePatterns": ["src/**"]}'),
    ("package.json", "{}", '{"eslintConfig": {"rules": {"no-eval": 0}}}'),
    ("biome.json", "{}", '{"linter": {"rules": {"suspicious": {"noDebugger": "off"}}}}'),
    ("biome.json", '{"linter": {"enabled": true}}', '{"linter": {"enabled": false}}'),
    ("biome.json", '{"files": {"includes": ["**"]}}', '{"files": {"includes": ["**", "!src/bad.ts"]}}'),
    ("eslint.config.js", "export default [a];\n", "export default [];\n"),
    ("eslint.config.mjs", "", "export default [{ ignores: ['**'] }];\n"),
    (".eslintignore", "dist\n", "dist\nsrc/bad.js\n"),
    ("Cargo.toml", "", '[lints.clippy]\nunwrap_used = "allow"\n'),
    (".golangci.yml", "linters: {}\n", "linters: {disable: [errcheck]}\n"),
    (".gitattributes", "", "src/** linguist-generated\n"),
    (".gitattributes", "", "[attr]made linguist-vendored=true\nsrc/** made\n"),
    ("src/.gitattributes", "* text\n", "* text\n* linguist-vendored=1\n"),
]  # fmt: skip
FINE = [
    ("ruff.toml", RUFF, 'line-length = 100\ntarget-version = "py312"\n' + RUFF.replace('"F"', '"F", "B"')),
    ("ruff.toml", RUFF, RUFF.replace('"E501"', "")),
    ("ruff.toml", RUFF, RUFF + 'per-file-ignores = {"tests/**" = ["S101"]}\n'),
    ("ruff.toml", RUFF, RUFF + 'per-file-ignores = {"**/test_*.py" = ["S101"]}\n'),
    ("ruff.toml", "", 'lint.select = ["ALL"]\n'),
    ("ruff.toml", RUFF, 'extend-exclude = ["vendor", "node_modules", "dist/**"]\n' + RUFF),
    ("pyproject.toml", "[project]\nname = 'a'\n", "[project]\nname = 'a'\ndependencies = ['x']\n"),
    ("pyproject.toml", "", '[tool.pytest.ini_options]\naddopts = "--ignore=slow"\n'),
    ("pyproject.toml", "", '[[tool.mypy.overrides]]\nmodule = "yaml.*"\nignore_missing_imports = true\n'),
    ("mypy.ini", "[mypy]\n", "[mypy]\nstrict = True\n"),
    ("tsconfig.json", "{}", '{"compilerOptions": {"paths": {"@/*": ["src/*"]}, "skipLibCheck": true, "noEmit": true}}'),
    ("tsconfig.json", '{"include": ["src"]}', '{"include": ["src", "lib"], "exclude": ["node_modules", "dist"]}'),
    (".eslintrc.json", '{"rules": {"no-eval": "off"}}', '{"rules": {"no-eval": "error", "semi": "warn"}}'),
    ("package.json", "{}", '{"dependencies": {"express": "4"}, "scripts": {"skip": "off"}}'),
    (".eslintignore", "", "# built\nnode_modules/\ndist/\n"),
    ("Cargo.toml", "", '[dependencies]\nserde = "1"\n[lints.clippy]\nunwrap_used = "deny"\n'),
    (".gitattributes", "", "* text=auto\n*.png binary\nvendor/ours/** -linguist-vendored\nx linguist-generated=false"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new"), LOOSENED)
def test_what_judges_less_is_named(path: str, old: str, new: str) -> None:
    assert loosened(path, old.encode(), new.encode())
    assert loosened(path, new.encode(), new.encode()) == []


@pytest.mark.parametrize(("path", "old", "new"), FINE)
def test_what_judges_as_much_or_more_is_fine(path: str, old: str, new: str) -> None:
    assert loosened(path, old.encode(), new.encode()) == []


def rules(project: Project, announced: str | None) -> list[tuple[str, str]]:
    result = project.gate("diff", announced=announced)
    assert (result.status is GateStatus.FAIL) == bool(result.findings)
    return [(each.rule, each.path) for each in result.findings]


def test_a_change_that_nobody_asked_for_blocks(project: Project) -> None:
    project.commit_files({"ruff.toml": RUFF})
    project.write("ruff.toml", RUFF.replace('"E501"', '"E501", "F401"'))
    project.write("src/a.py", "import os\n")
    for announced in ("Add a parser. It reads files.", "Add a parser; ruff and mypy pass\nNo new settings.", "truffle"):
        assert rules(project, announced) == [(RULE, "ruff.toml")], announced
    (finding,) = project.gate("diff", announced="Add a parser.").findings
    assert "lint.ignore" in finding.message


@pytest.mark.slow
def test_one_that_the_task_asks_for_does_not_nor_one_by_hand(project: Project) -> None:
    project.commit_files({"ruff.toml": RUFF, "pyproject.toml": "[tool.mypy]\nstrict = true\n"})
    project.write("ruff.toml", RUFF.replace('"E501"', '"E501", "F401"'))
    for announced in ("Configure ruff: unused imports are fine", "Edit ruff.toml", None):
        assert rules(project, announced) == []
    project.write("pyproject.toml", "[tool.mypy]\n")
    assert rules(project, "Configure ruff, and edit pyproject.toml") == [(RULE, "pyproject.toml")]
    assert rules(project, "Relax ruff and mypy") == []


def test_settings_that_are_gone_count(project: Project) -> None:
    project.commit_files({"ruff.toml": RUFF})
    (project.root / "ruff.toml").unlink()
    assert rules(project, "Add a parser.") == [(RULE, "ruff.toml")]
    project.write("conf/ruff.toml", RUFF)  # git says that it moved
    assert (RULE, "ruff.toml") in rules(project, "Add a parser.")
