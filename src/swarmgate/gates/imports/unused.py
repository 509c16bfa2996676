"""Reports dependencies that the change adds to a manifest and nothing in the project imports."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.imports.edges import PYTHON, SCRIPT
from swarmgate.gates.imports.importers import grep
from swarmgate.gates.imports.python import known_packages
from swarmgate.gates.sbom import formats
from swarmgate.gates.sbom.formats import Role, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.gates.project.environment import Environment
    from swarmgate.gates.project.view import View
    from swarmgate.gates.sbom.model import Declared

_TOOLS = re.compile(
    r"^(?:types-.*|.*-stubs|pytest.*|.*pytest|sphinx.*|mkdocs.*|flake8.*|pylint.*|mypy.*|black.*|isort|ruff|tox.*|nox.*|"
    r"coverage.*|.*-cov|pre-commit.*|build|wheel|setuptools.*|hatch.*|flit.*|poetry.*|pdm.*|twine|pip.*|uv.*|gunicorn|"
    r"hypercorn|daphne|waitress|uwsgi|gevent|eventlet|psycopg.*|mysqlclient|pymysql|cx-oracle|oracledb|asyncpg|aiosqlite|"
    r"aiomysql|redis|hiredis|python-multipart|email-validator|brotli.*|cchardet|chardet|tzdata|pytz|colorama|lxml|"
    r"html5lib|openpyxl|xlrd|xlsxwriter|pyarrow|fastparquet|tables|pillow|cryptography|pywin32.*|pyobjc.*|watchdog|"
    r"watchfiles|furo|.*-theme|towncrier|bump.*|commitizen|python-semantic-release|ipython|jupyter.*|notebook|ipykernel|"
    r"whitenoise|django-.*|flask-.*|celery-.*|opentelemetry-.*|.*-plugin.*|.*-backend.*|.*-dialect.*|sqlalchemy-.*|"
    r"s3fs|gcsfs|adlfs|.*-driver|boto3-stubs.*|pyright|bandit|safety|vulture|interrogate|codespell|invoke|nodeenv|"
    r"cython|numpy-.*|pybind11|cmake|ninja|meson.*|scikit-build.*|maturin|certifi|urllib3|typing-extensions)$"
)
"""What a program runs or loads by name, and does not import: tools, plug-ins, stubs, drivers, build backends."""
_NPM_TOOLS = re.compile(
    r"^(?:@types/.*|.*(?:eslint|prettier|babel|webpack|rollup|vite|jest|vitest|mocha|karma|postcss|tailwind|stylelint|"
    r"typescript|loader|plugin|preset|config|husky|lint-staged|storybook|cli|polyfill|sass|less|autoprefixer|nodemon|"
    r"ts-node|tsx|tslib|core-js|regenerator|react-dom|react-native|expo|electron|pm2|cross-env|rimraf|concurrently|"
    r"npm-run-all|turbo|lerna|nx|changeset|semantic-release|commitlint|playwright|cypress|puppeteer|esbuild|swc|tsup|"
    r"fontsource|fonts?|icons?|theme|driver|sqlite|pg|mysql|mongodb|adapter|bin).*)$",
    re.IGNORECASE,
)


def unused(head: View, base: View, change: ChangeSet, environment: Environment) -> list[Finding]:
    """One finding per dependency that the change added and no file of the project names."""
    found = []
    for file in change.present:
        kind = formats.of(file.path)
        if kind is None or kind.role is Role.LOCK or kind.type not in {"pypi", "npm"}:
            continue
        before = {each.name for each in _declared(base, file.old_path or file.path)} if file.old_mode else set()
        if not file.old_mode and not _is_main(file.path):
            continue
        fresh = (each for each in _declared(head, file.path) if each.name not in before and not each.optional)
        found += [_finding(file.path, each) for each in fresh if not _is_used(head, each, environment)]
    return found


def is_tool(type_: str, name: str) -> bool:
    """Whether it is a development tool that nobody imports.

    Plug-ins are not exempt: whoever invents a name likes to begin it with `flask-`.
    """
    if type_ == "npm":
        return bool(_NPM_TOOLS.match(name))
    return name.startswith("types-") or name in _TOOLS.pattern.replace(".*|", "|").removeprefix("^(?:").split("|")


def _is_main(path: str) -> bool:
    return posixpath.basename(path) in {"pyproject.toml", "package.json", "requirements.txt", "Pipfile"}


def _declared(view: View, path: str) -> Iterator[Declared]:
    content, kind = view.content(path), formats.of(path)
    if content is None or kind is None:
        return
    reading = formats.read(path, content, kind, lambda _: None)
    if not isinstance(reading, Unreadable):
        tools = _TOOLS if kind.type == "pypi" else _NPM_TOOLS
        dev = re.search(r"dev|test|doc|lint|ci|build", posixpath.basename(path)) is not None and kind.type == "pypi"
        yield from (
            each for each in reading.declared if not tools.match(each.name) and not (dev and path.endswith(".txt"))
        )


def _is_used(view: View, each: Declared, environment: Environment) -> bool:
    """Whether a file of the project, code or configuration, names it under one of its import names."""
    if each.type == "npm":
        return bool(grep(view, [each.name], (*SCRIPT, ".json", ".html", ".css", ".scss", ".md"), sources_only=True))
    names = {each.name, each.name.replace("-", "_"), each.name.replace("-", ".")}
    names |= {re.sub(r"^(?:python|py)-?|-?(?:python|py)$", "", each.name).replace("-", "_")}
    names |= {name for name, dists in known_packages.providers().items() if each.name in dists}
    names |= environment.provided_by(each.name)
    parts = {part for part in re.split(r"[-_.]", each.name) if len(part) > 3}  # noqa: PLR2004 - a word
    return bool(grep(view, sorted(names | parts), (*PYTHON, ".ini", ".cfg", ".yml", ".yaml", ".sh", ".ipynb", "file")))


def _finding(path: str, each: Declared) -> Finding:
    return Finding(
        rule="unused-dependency", path=path, line=each.line, severity=Severity.LOW,
        message=f"the change declares `{each.name}`, and no file of the project imports it",
        suggestion="remove it, or add the code that uses it to the change",
    )  # fmt: skip
