"""Tests the SBOM gate on real changes: the difference, unlocked dependencies, broken locks, the document."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from referencing import Registry, Resource

from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates import sbom
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import GateResult

    Project = Any


def _found(result: GateResult, *, new: bool = True) -> list[tuple[str, str, int]]:
    return [(each.rule, each.path, each.line) for each in result.findings if each.new is new]


def _uv(*packages: str) -> str:
    own = 'version = 1\n\n[[package]]\nname = "mine"\nversion = "0"\nsource = { virtual = "." }\n'
    registry = '{ registry = "https://pypi.org/simple" }'
    rows = (each.split("==") for each in packages)
    return own + "".join(
        f'\n[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {registry}\n' for name, version in rows
    )


def _pyproject(*dependencies: str) -> str:
    return (
        '[project]\nname = "mine"\nversion = "0"\ndependencies = [\n'
        + "".join(f'  "{d}",\n' for d in dependencies)
        + "]\n"
    )


def test_no_manifest_in_the_change_is_a_skip(project: Project) -> None:
    project.commit_files({"requirements.txt": "a==1\n"})
    project.write("a.py", "x = 1\n")
    result = project.gate("sbom_generate")
    assert (result.status, result.reason) == (GateStatus.SKIP, "no manifest or lock file was changed")


def test_a_dependency_that_the_task_does_not_name_blocks(project: Project) -> None:
    project.commit_files({"requirements.txt": "kept==1\n"})
    project.write("requirements.txt", "kept==1\nLeft_Pad==1\nrich==13\n")
    assert project.gate("sbom_generate").status is GateStatus.PASS, "by hand there is no task"
    result = project.gate("sbom_generate", announced="Print it with rich. It is left-padded.")
    assert result.status is GateStatus.FAIL
    blocking = [each for each in result.new_findings if each.rule == "dependency-unannounced"]
    assert [(each.path, each.line) for each in blocking] == [("requirements.txt", 2)]
    assert "`left-pad` is a new dependency that the task does not name" in blocking[0].message
    assert project.gate("sbom_generate", announced="Use left.pad, and rich.").status is GateStatus.PASS


def test_a_dependency_that_moves_between_manifests_is_not_new(project: Project) -> None:
    project.commit_files({"requirements.txt": "a==1\n", "dev/requirements.txt": "b==1\n"})
    project.write("requirements.txt", "a==1\nb==1\n")
    assert project.gate("sbom_generate", announced="tidy up").status is GateStatus.PASS


@pytest.mark.parametrize(
    ("name", "words", "named"),
    [("@scope/thing", "use thing here", True), ("org.x:thing", "use x", False), ("re", "more rest", False)],
)
def test_a_name_counts_as_a_word(project: Project, name: str, words: str, *, named: bool) -> None:
    project.write("package.json", json.dumps({"name": "mine", "dependencies": {name: "1.0.0"}}))
    result = project.gate("sbom_generate", announced=words)
    assert ("dependency-unannounced" not in {each.rule for each in result.findings}) is named


def test_the_difference_informs(project: Project) -> None:
    project.commit_files({"requirements.txt": "a==1\nb==1\nc==1\n"})
    project.write("requirements.txt", "a==1\nb==2\nd==1\n")
    result = project.gate("sbom_generate")
    assert result.status is GateStatus.PASS
    assert result.reason == "1 added, 1 removed, 1 changed of 3 components"
    assert sorted(_found(result)) == [
        ("dependency-added", "requirements.txt", 3),
        ("dependency-changed", "requirements.txt", 2),
        ("dependency-removed", "requirements.txt", 0),
    ]
    assert {each.severity for each in result.findings} == {Severity.INFO}
    assert "b (pypi) 1 became 2" in {each.message for each in result.findings}


@pytest.mark.parametrize(("text", "severity"), [("flask\n", Severity.LOW), ("a==1\nflask\n", Severity.MEDIUM)])
def test_a_new_list_in_which_nothing_is_pinned_informs(project: Project, text: str, severity: Severity) -> None:
    project.write("requirements.txt", text)
    result = project.gate("sbom_generate")
    (finding,) = [each for each in result.findings if each.rule == "dependency-unpinned"]
    assert (finding.severity, "flask" in finding.message) == (severity, True)


def test_an_unpinned_requirement_blocks_when_it_is_new(project: Project) -> None:
    project.commit_files({"requirements.txt": "old>=1\npinned==1\n"})
    project.write("requirements.txt", "old>=1\npinned==1\nfresh>=1\n")
    result = project.gate("sbom_generate")
    assert result.status is GateStatus.FAIL
    assert ("dependency-unpinned", "requirements.txt", 3) in _found(result)
    assert _found(result, new=False) == [("dependency-unpinned", "requirements.txt", 1)]


def test_where_ranges_are_the_habit_one_more_is_only_told(project: Project) -> None:
    project.commit_files({"requirements.txt": "old>=1\n"})
    project.write("requirements.txt", "old>=1\nfresh>=1\n{{ template }}\n")
    result = project.gate("sbom_generate")
    assert result.status is GateStatus.PASS
    assert ("dependency-unpinned", "requirements.txt", 2) in _found(result)


def test_a_constraint_pins(project: Project) -> None:
    project.commit_files({"requirements.txt": "-c constraints.txt\n", "constraints.txt": "fresh==1\n"})
    project.write("requirements.txt", "-c constraints.txt\nfresh\n")
    assert project.gate("sbom_generate").status is GateStatus.PASS


def test_a_library_without_a_lock_may_declare_ranges(project: Project) -> None:
    project.commit_files({"pyproject.toml": _pyproject("a>=1")})
    project.write("pyproject.toml", _pyproject("a>=1", "b>=2"))
    result = project.gate("sbom_generate")
    assert result.status is GateStatus.PASS
    assert [(each.rule, each.severity) for each in result.new_findings if each.severity is not Severity.INFO] == [
        ("dependency-unpinned", Severity.LOW)
    ]


@pytest.mark.parametrize(
    ("wish", "locked", "rule"),
    [("b>=2", ("a==1",), "dependency-unpinned"), ("b>=2", ("a==1", "b==1.5"), "lock-mismatch"),
     ("b>=2", ("a==1", "b==2.1"), ""), ("b>=2 ; python_version < '3.8'", ("a==1",), "")],
)  # fmt: skip
def test_the_lock_must_follow_the_manifest(project: Project, wish: str, locked: tuple[str, ...], rule: str) -> None:
    project.commit_files({"pyproject.toml": _pyproject("a>=1"), "uv.lock": _uv("a==1")})
    project.write("pyproject.toml", _pyproject("a>=1", wish))
    project.write("uv.lock", _uv(*locked))
    result = project.gate("sbom_generate")
    assert [each.rule for each in result.new_findings if each.severity is Severity.MEDIUM] == ([rule] if rule else [])
    assert result.status is (GateStatus.FAIL if rule else GateStatus.PASS)


def test_a_lock_that_loses_what_the_manifest_asks_for(project: Project) -> None:
    project.commit_files({"pyproject.toml": _pyproject("a>=1"), "uv.lock": _uv("a==1")})
    project.write("uv.lock", _uv("b==1"))
    result = project.gate("sbom_generate")
    assert ("lock-mismatch", "pyproject.toml", 5) in _found(result)


def test_npm_compares_what_the_lock_was_made_for(project: Project) -> None:
    def lock(spec: str) -> str:
        return json.dumps({"lockfileVersion": 3, "packages": {"": {"dependencies": {"a": spec}},
                                                              "node_modules/a": {"version": "1.0.0"}}})  # fmt: skip

    project.commit_files({"package.json": '{"dependencies": {"a": "^1"}}', "package-lock.json": lock("^1")})
    project.write("package.json", '{"dependencies": {"a": "^2"}}')
    result = project.gate("sbom_generate")
    assert [each.message for each in result.new_findings] == [
        "`a ^2` is asked for and package-lock.json was made for ^1"
    ]


def test_a_lock_above_speaks_for_members_of_its_workspace_alone(project: Project) -> None:
    lock = "lockfileVersion: '9.0'\n\nimporters:\n\n  .: {}\n\n  member:\n    dependencies:\n      a:\n"
    lock += "        specifier: ^1\n        version: 1.0.0\n\npackages:\n\n  a@1.0.0:\n    resolution: {integrity: x}\n"
    project.commit_files({"pnpm-lock.yaml": lock, "package.json": "{}"})
    project.write("template/package.json", '{"dependencies": {"b": "^1"}}')
    assert project.gate("sbom_generate").status is GateStatus.PASS
    project.write("member/package.json", '{"dependencies": {"b": "^1"}}')
    result = project.gate("sbom_generate")
    assert result.status is GateStatus.FAIL
    assert {each.path for each in result.findings if each.severity is Severity.MEDIUM} == {"member/package.json"}


@pytest.mark.slow
def test_a_deleted_and_a_very_large_lock_are_looked_at(project: Project) -> None:
    packages = {f"node_modules/p{n}": {"version": "1.0.0", "resolved": "x" * 80} for n in range(9000)}
    lock = json.dumps({"lockfileVersion": 3, "packages": {"": {}, **packages}})
    project.commit_files({"package-lock.json": '{"lockfileVersion": 3, "packages": {}}'})
    project.write("package-lock.json", lock)
    result = project.gate("sbom_generate")
    assert "9000 added" in result.reason
    assert len(result.findings) == 9000
    (project.root / "package-lock.json").unlink()
    assert project.gate("sbom_generate").status is GateStatus.PASS


def test_a_lock_that_the_change_broke_is_an_error_and_an_old_one_a_note(project: Project) -> None:
    project.commit_files({"a/uv.lock": "version = \n", "uv.lock": _uv("a==1")})
    project.write("uv.lock", _uv("a==2") + "broken\n")
    result = project.gate("sbom_generate")
    assert result.status is GateStatus.ERROR
    assert result.reason.startswith("uv.lock:12: not valid TOML")
    project.write("uv.lock", _uv("a==2"))
    result = project.gate("sbom_generate")
    assert result.status is GateStatus.PASS
    assert "unreadable before and now: a/uv.lock:1" in result.reason


def test_samples_and_vendored_locks_are_not_the_projects(project: Project) -> None:
    project.write("tests/fixtures/package-lock.json", "{broken")
    project.write("vendor/x/requirements.txt", "a\n")
    assert project.gate("sbom_generate").status is GateStatus.SKIP


def _validator(spec: str) -> Any:
    folder = files("cyclonedx.schema") / "_res"

    def load(name: str) -> Any:
        return json.loads((folder / name).read_text(encoding="utf-8"))

    parts = {"spdx.schema.json": "spdx.SNAPSHOT.schema.json", "jsf-0.82.schema.json": "jsf-0.82.SNAPSHOT.schema.json",
             "cryptography-defs.schema.json": "cryptography-defs.SNAPSHOT.schema.json"}  # fmt: skip
    base = "http://cyclonedx.org/schema/"
    registry: Registry[Any] = Registry().with_resources(
        (base + name, Resource.from_contents(load(file))) for name, file in parts.items()
    )
    import jsonschema  # type: ignore[import-untyped]  # it ships none; late: a second and a half for each worker

    return jsonschema.Draft7Validator(load(f"bom-{spec}.SNAPSHOT.schema.json"), registry=registry)


@pytest.mark.parametrize("spec", ["1.6", "1.7"])
def test_the_document_is_valid_and_the_same_every_time(project: Project, spec: str) -> None:
    git = "-e git+https://u:p@github.com/u/r.git@v1#egg=thing\n./local dir\n"
    project.write("requirements.txt", f"Foo==1.0 --hash=sha256:{'a' * 64} --hash=md5:bad\nbar>=1\n{git}")
    project.write("uv.lock", _uv("a==1"))
    project.write("web/package-lock.json", json.dumps({"lockfileVersion": 3, "packages": {
        "": {"name": "web"}, "node_modules/@s/b": {"version": "1.0.0", "dependencies": {"c": "1"}},
        "node_modules/c": {"version": "1.0.0"}}}))  # fmt: skip
    project.write("broken/Cargo.lock", "[[package]\n")
    repository = Repository.discover(project.root)
    tree = repository.snapshot()
    text = sbom.document(repository, tree, spec=spec)
    document = json.loads(text)
    errors = [error.message for error in _validator(spec).iter_errors(document)]
    assert errors == []
    assert text == sbom.document(repository, tree, spec=spec)
    assert b"u:p@" not in text
    assert "timestamp" not in document["metadata"]
    assert document["compositions"][0]["aggregate"] == "incomplete"
    assert "broken/Cargo.lock:1" in document["metadata"]["properties"][0]["value"]
    refs = [each["bom-ref"] for each in document["components"]]
    assert refs == sorted(set(refs))
    assert {row["ref"] for row in document["dependencies"]} == {*refs, "root-component"}
    stamped = json.loads(
        sbom.document(repository, tree, timestamp="2026-01-02T03:04:05Z", serial="urn:uuid:" + "0" * 8)
    )
    assert (stamped["metadata"]["timestamp"], stamped["serialNumber"]) == ("2026-01-02T03:04:05Z", "urn:uuid:00000000")


def test_an_unknown_specification_is_refused(project: Project) -> None:
    repository = Repository.discover(project.root)
    with pytest.raises(ValueError, match=r"CycloneDX 2\.0"):
        sbom.document(repository, repository.head_tree(), spec="2.0")


def test_the_hot_path_needs_no_jsonschema(project: Project) -> None:
    import subprocess
    import sys

    project.write("requirements.txt", "a>=1\n")
    code = (
        "import sys\nfrom pathlib import Path\nfrom swarmgate.gates import sbom\n"
        "from swarmgate.workspace.git.repository import Repository\n"
        "r = Repository.discover(Path.cwd()); sbom.document(r, r.snapshot())\n"
        "print(sorted({'jsonschema', 'cyclonedx', 'packageurl'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project.root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
