"""Tests that no gate or report format writes a secret out. This file holds none."""

from __future__ import annotations

import gc
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import Finding, GateReport, GateResult, GateStatus, Severity
from swarmgate.gates.adapters import secrets
from swarmgate.gates.baseline import entry
from swarmgate.gates.cache.scan_results import Memory
from swarmgate.gates.cache.store import Cache
from swarmgate.gates.formats import FORMATS, render
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.pipeline import quoted_lines
from swarmgate.gates.secret_scan import redaction
from swarmgate.gates.source.file import SourceFile
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

    Project = Any

PHRASE = "correct horse battery staple"
KEY = "hU7gT2kQ" + "9zLmX4vB"
GROUPS = ("::group::", "::endgroup::")
TOKEN = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO2d4kzP"
WEAK = f"""password = "{PHRASE}"


def login(password="{PHRASE[::-1]}"):
    return open(password, token="{PHRASE[8:]}x")
"""


def rendered(report: GateReport) -> str:
    return "".join(render(form, report, "a change") for form in FORMATS)


@pytest.mark.slow
def test_a_hard_coded_password_is_found_and_not_shown(project: Project) -> None:
    project.write("a.py", WEAK)
    result = project.gate("sast_scan", fix=False)
    assert {each.line for each in result.findings if each.cwe in redaction.SECRET_CWES} == {1, 4, 5}
    text = rendered(GateReport(tree="0" * 40, results=(result,)))
    for value in (PHRASE, PHRASE[::-1], PHRASE[8:]):
        assert value not in text
    assert redaction.mask(PHRASE) in text


@pytest.mark.slow
def test_what_was_fixed_shows_no_secret(project: Project) -> None:
    project.write("pyproject.toml", "[tool.ruff]\n")
    project.write("a.py", f"API_KEY = '{KEY}'\nPASSWORD = '{PHRASE}'\n")
    result = next(each for each in project.run().results if each.gate == "lint_fix")
    assert result.fixed == ("a.py",)
    assert result.patch.count(redaction.mask(KEY)) == result.patch.count(redaction.mask(PHRASE)) == 2
    assert KEY not in result.patch
    assert PHRASE not in result.patch


def test_the_lines_of_a_patch_stay() -> None:
    key = "\n+".join(["-----BEGIN RSA PRIVATE" + " KEY-----", *[KEY * 4] * 3, "-----END RSA PRIVATE" + " KEY-----"])
    difference = f"--- a/k\n+++ b/k\n@@ -1 +1 @@\n-x = 1\n+{key}\n context = 2\n"
    masked = redaction.patch(difference)
    assert KEY not in masked
    assert [line[:1] for line in masked.split("\n")] == [line[:1] for line in difference.split("\n")]
    plain = "--- a/x\n+++ b/x\n-a = 1\n+a = 2\n"
    assert redaction.patch(plain) == plain


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        (f"git+https://bob:{KEY}@github.com/a/b", f"git+https://bob:{redaction.mask(KEY)}@github.com/a/b"),
        (f"https://{TOKEN}@github.com/a", f"https://{redaction.mask(TOKEN)}@github.com/a"),
        ("https://a:p@ss@host/x", f"https://a:{redaction.mask('p@ss')}@host/x"),
        ("ssh://git@github.com/a/b", "ssh://git@github.com/a/b"),
        ("https://bob:${PASS}@host/a", "https://bob:${PASS}@host/a"),
        ("https://host/a@b", "https://host/a@b"),
    ],
)
def test_the_user_of_a_url(url: str, masked: str) -> None:
    assert redaction.text(f"it is from {url} now") == f"it is from {masked} now"
    assert redaction.text(masked) == masked


def test_everything_that_an_outcome_says_is_masked() -> None:
    said = f"bad token {TOKEN} here"
    finding = Finding(rule="R", path="a", message=said, suggestion=f"drop password: '{KEY}!'")
    outcome = redaction.outcome(Outcome((finding,), notes=(said,), skip=said, failure=said, error=f"API_KEY={KEY}"))
    assert TOKEN not in repr(outcome)
    assert KEY not in repr(outcome)
    assert outcome.notes == (f"bad token {redaction.mask(TOKEN)} here",)
    assert redaction.outcome(outcome) is outcome


def test_what_holds_no_secret_stays_and_costs_little() -> None:
    message = "line {} is too long (130 > 100), unexpected token `)`, key 'name' of https://host/a is unknown"
    outcome = Outcome(tuple(Finding(rule="R", path="a", message=message.format(n)) for n in range(100)))
    assert redaction.outcome(outcome) is outcome
    for said in (outcome, Outcome()):
        started = time.process_time()
        redaction.outcome(said)
        assert time.process_time() - started < 0.1


def test_a_component_and_a_link_show_no_secret(project: Project) -> None:
    project.write("requirements.txt", f"a @ git+https://bob:{KEY}@github.com/a/b\n")
    (project.root / "link").symlink_to(f"/srv/{TOKEN}/data")
    report = project.run(fix=False, only=("sbom_generate", "diff"))
    text = rendered(report)
    assert any(each.path == "link" for result in report.results for each in result.findings)
    assert any(each.path == "requirements.txt" for result in report.results for each in result.findings)
    assert KEY not in text
    assert TOKEN not in text


def test_what_is_kept_is_masked(tmp_path: Path) -> None:
    memory = Memory(Cache(tmp_path))
    finding = Finding(rule="R", path="a", message=f"value {TOKEN}")
    memory.keep("0" * 64, Outcome((finding,), notes=(f"saw {TOKEN}",)))
    kept = "".join(place.read_text() for place in tmp_path.glob("*.json"))
    assert redaction.mask(TOKEN)[:4] in kept
    assert TOKEN not in kept


@pytest.mark.parametrize("cwe", sorted(redaction.SECRET_CWES))
def test_an_accepted_secret_of_any_gate_has_no_line_hash(cwe: str) -> None:
    finding = Finding(rule="B105", path="a.py", line=1, cwe=cwe, message="x")
    assert entry(finding, "sast_scan", WEAK, reason="r", who="", expires=None).line_hash == ""
    assert redaction.about_a_secret("sast_scan", finding)
    other = finding.model_copy(update={"cwe": "CWE-78"})
    assert entry(other, "sast_scan", WEAK, reason="r", who="", expires=None).line_hash
    assert not redaction.about_a_secret("sast_scan", other)


def openssh(body: str) -> str:
    head = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAzAAAAC3NzaC1lZDI1NTE5AA"
    kind = "OPENSSH PRIVATE" + " KEY-----"
    return f"-----BEGIN {kind}\n{head}\n{body * 4}\n-----END {kind}\n"


def test_another_private_key_is_a_new_finding(project: Project) -> None:
    project.commit_files({"id": openssh(KEY)})
    project.write("id", openssh(KEY[::-1]))
    (finding,) = project.gate("secret_scan", fix=False).findings
    assert finding.new
    project.write("id", "# moved\n" + openssh(KEY))
    (finding,) = project.gate("secret_scan", fix=False).findings
    assert not finding.new


@pytest.mark.parametrize("nuls", [500, 6000, 9000])
def test_nuls_hide_no_secret_and_are_told(project: Project, nuls: int) -> None:
    zeros = b"\0" * nuls
    project.write(".env", b"#" + zeros + f"\nAPI_KEY={KEY}\nDB_PASSWORD={KEY[::-1]}\n".encode())
    project.write("a.js", b"/* " + zeros + f' */\nconst password = "{KEY}";\n'.encode())
    found = project.gate("secret_scan", fix=False).findings
    assert [(each.path, each.line) for each in found if each.cwe] == [(".env", 2), (".env", 3), ("a.js", 2)]
    rendered = [(each.path, each.severity) for each in found if each.rule == "nul-bytes"]
    assert rendered == [(".env", Severity.MEDIUM), ("a.js", Severity.MEDIUM)]


def test_a_mark_of_utf_16_before_plain_text_hides_nothing() -> None:
    content = b"\xff\xfe\n" + f'password = "{KEY}"\n'.encode()
    found = secrets.scan_file(SourceFile.of("a.py", "python", content=content))
    assert [each.line for each in found if isinstance(each, Finding)] == [2]


def test_sound_utf_16_and_binaries_are_no_finding() -> None:
    wide = "Write-Host 'ümlaut'\r\n".encode("utf-16")
    assert secrets.scan_file(SourceFile.of("a.ps1", "powershell", content=wide)) == []
    assert secrets.scan_file(SourceFile.of("a.ts", "typescript", content=bytes(range(256)) * 20)) == []
    assert secrets.scan_file(SourceFile.of("a.txt", "text", content=b"a\0b\n")) == []


NAME = "a\n::error::pwn\x1b[31m\r\x9b\u202e.py"


@pytest.mark.parametrize("form", FORMATS)
def test_no_name_or_message_acts_on_a_log(form: str) -> None:
    finding = Finding(rule="R", path=NAME, line=1, message="m\x1b[0m\n::warning::x\r##[error]y", severity=Severity.HIGH)
    patch = "--- a\n+++ b\n ::error::in a context line\n"
    results = (
        GateResult(gate="g", status=GateStatus.FAIL, findings=(finding,), fixed=(NAME,), patch=patch),
        GateResult(gate="h", status=GateStatus.ERROR, reason=f"broke on {NAME}"),
        GateResult(gate="i", status=GateStatus.SKIP, reason=f"::error::{NAME}"),
    )
    text = render(form, GateReport(tree="0" * 40, results=results, notes=(NAME,)), f"about {NAME}")
    assert not set(text) & set("\x1b\r\x9b\u202e")
    assert "##[" not in text
    commands = [line for line in text.split("\n") if line.lstrip().startswith("::")]
    if form == "github":
        assert commands
        assert all(
            line.startswith(("::error file=", "::error title=", "::warning title=", *GROUPS)) for line in commands
        )
    else:
        assert commands == []
    if form == "json":
        assert json.loads(text)["results"][0]["findings"][0]["path"] == NAME


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["pass:", "pass:" * 190 + "\n", "password='", "://a:", "x+=", '+secret: str = "'])
def test_it_takes_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        """Of this process alone: what else the machine does is no matter."""
        text = unit * (size // len(unit))
        gc.disable()  # it would walk over what all other tests left behind
        started = time.process_time()
        redaction.patch(text)
        redaction.outcome(Outcome(error=text))
        took = time.process_time() - started
        gc.enable()
        return took

    seconds(1_000)  # compiles the rules
    short = max(seconds(4_000), 0.05)
    assert any(seconds(16_000) < 8 * short for _ in range(3)), unit  # quadratic: 16 times as long


def test_the_line_of_a_finding_shows_nothing_of_a_secret(project: Project) -> None:
    project.write(
        "a.py",
        f'import sys\nkey = "{TOKEN}"; import os\nuser.login("{PHRASE}", password="{PHRASE}"); import os\n'
        f'url = "https://bob:{KEY}@example.org/"  # TODO: move\n',
    )
    project.write("b.env", f"DB_PASSWORD={KEY}\n")
    report = project.run(fix=False)
    said = rendered(report) + report.model_dump_json()
    for secret in (TOKEN, PHRASE, KEY):
        assert secret not in said
    codes = {(each.path, each.line): each.code for result in report.results for each in result.findings}
    assert codes["a.py", 1] == "import sys", "what holds none is shown"


def test_a_line_out_of_the_middle_of_a_key_is_not_shown(project: Project) -> None:
    body = ["MIIEpAIBAAKCAQEA" + "q7Gx9Zr2Lw5Tn8Kv" * 3 for _ in range(6)]
    key = ["-----BEGIN RSA " + "PRIVATE KEY-----", *body, "-----END RSA " + "PRIVATE KEY-----"]
    project.write("a.py", "\n".join(["import sys", 'KEY = """', *key, '"""', ""]))
    found = [Finding(rule="W291", path="a.py", line=line, message="m") for line in (1, 5, 6)]
    repository = Repository.discover(project.root)
    result = GateResult(gate="lint_check", status=GateStatus.FAIL, findings=tuple(found))
    (rendered,) = quoted_lines.quoted((result,), (), repository, repository.snapshot())
    assert rendered.findings[0].code == "import sys"
    assert body[0] not in rendered.model_dump_json()
