"""Tests the secrets gate: secrets are found in every text file and never shown. This file holds none."""

from __future__ import annotations

import base64
import time
import tomllib
import uuid
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate import assets
from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.adapters import secrets
from swarmgate.gates.project.files import language_of, traits_of
from swarmgate.gates.secret_scan import redaction
from swarmgate.gates.secret_scan import rules as secret_rules
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    Project = Any

RANDOM = "".join("k7QzR2vX9mLp4TnBw8HcJ5sDy1GfN3aEu6VoC0tiZqXw2Sb4")
HEX = sha256(b"sample").hexdigest()

PROVIDERS = {
    "AWS": "AKIA" + "Q7RZ2VX9MLP4TNBW",
    "GitHub": "ghp_" + RANDOM[:36],
    "GitHub fine-grained": "github_pat_" + RANDOM + RANDOM[:30],
    "GitLab": "glpat-" + RANDOM[:20],
    "Slack": "xoxb-" + "271828182845-" + RANDOM[:24],
    "Stripe": "sk_live_" + RANDOM[:24],
    "OpenAI": "sk-proj-" + RANDOM,
    "Anthropic": "sk-ant-" + "api03-" + RANDOM * 2,
    "Google": "AIza" + RANDOM[:35],
    "Hugging Face": "hf_" + RANDOM[:34],
    "npm": "npm_" + RANDOM[:36],
    "PyPI": "pypi-" + "AgEIcHlwaS5vcmc" + RANDOM * 2,
    "SendGrid": "SG." + RANDOM[:22] + "." + RANDOM[:43],
    "GitHub OAuth": "gho_" + RANDOM[:36],
    "GitHub user": "ghu_" + RANDOM[:36],
    "GitHub server": "ghs_" + RANDOM[:36],
    "GitHub refresh": "ghr_" + RANDOM[:36],
    "GitLab runner": "glrt-" + RANDOM[:20],
    "Slack webhook": "https://hooks.slack" + ".com/services/T0A1B2C3D/B0A1B2C3D/" + RANDOM[:24],
    "Azure": "AccountName=a;AccountKey" + "=" + RANDOM + RANDOM[:38] + "==",
    "Azure client": RANDOM[:3] + "8Q~" + RANDOM[:34],
    "Twilio": "SK" + HEX[:32],
    "Mailgun": "key-" + HEX[:32],
    "Telegram": "271828182:AA" + RANDOM[:33],
    "Discord": "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + RANDOM[:27],
    "DigitalOcean": "dop_v1_" + HEX,
    "Shopify": "shpat_" + HEX[:32],
    "Square": "sq0atp-" + RANDOM[:22],
    "Databricks": "dapi" + HEX[:32],
    "Google OAuth": "GOCSPX-" + RANDOM[:28],
    "age": "AGE-SECRET-" + "KEY-1" + (RANDOM * 2).upper()[:58],
    "JWT": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiJhZGEifQ" + "." + RANDOM[:43],
}
PEM = "-----BEGIN RSA " + "PRIVATE KEY-----\nMII" + RANDOM + "\n" + RANDOM + "\n-----END RSA " + "PRIVATE KEY-----\n"


def look(path: str, text: str) -> Any:
    return secrets.scan_file(SourceFile.of(path, language_of(path), traits_of(path), text.encode()))


def _basic(text: str) -> str:
    return f"Authorization: Basic {b64encode(text.encode()).decode()}\n"


@pytest.mark.parametrize("value", PROVIDERS.values(), ids=PROVIDERS.keys())
@pytest.mark.parametrize("form", ["client = Client(key='{}')\n", "See {} for it.\n", 'const a = "{}"\n'])
def test_formats_of_providers(value: str, form: str) -> None:
    for path in ("a.py", "README.md", "package-lock.json", ".env", "no_suffix"):
        (finding,) = look(path, "x\n" + form.format(value))
        assert finding.line == 2
        assert finding.severity is Severity.CRITICAL


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("key.pem", PEM),
        ("a.py", f"KEY = '''{PEM}'''\n"),
        ("a.json", '{"key": "' + PEM.replace("\n", "\\n") + '"}'),
        ("a.py", f"db = 'postgres://ada:{RANDOM[:14]}@db.internal/app'\n"),
        (".env", f"DB_PASSWORD={RANDOM[:14]}\n"),
        (".env", f"SESSION_TOKEN={RANDOM[:30]}\n"),
        ("a.py", f"password = '{RANDOM[:12]}'\n"),
        ("a.py", "password = 'hunter" + "2hunter2'\n"),
        ("a.yaml", f"api_key: {RANDOM[:20]}\n"),
        ("a.js", f"const apiKey = `{RANDOM[:24]}`;\n"),
        ("a.json", f'{{"client_secret": "{RANDOM[:24]}"}}\n'),
        ("a.tf", f'secret_key = "{RANDOM[:40]}"\n'),
        ("a.py", f'signing_key = "{HEX}"\n'),
    ],
)
def test_keys_urls_and_assignments(path: str, text: str) -> None:
    (finding,) = look(path, text)
    assert finding.line == 1
    assert finding.severity.rank >= Severity.MEDIUM.rank


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Dockerfile", f"ENV API_TOKEN={RANDOM[:30]}\n"),
        ("run.sh", f"export X_TOKEN={RANDOM[:30]}\n"),
        ("a.properties", f"spring.datasource.password={RANDOM[:12]}\n"),
        ("a.xml", f"<server><password>{RANDOM[:12]}</password></server>\n"),
        ("web.config", f'<add key="DbPassword" value="{RANDOM[:12]}"/>\n'),
        ("a.php", f"define('DB_PASSWORD', '{RANDOM[:12]}');\n"),
        ("a.php", f"return ['password' => '{RANDOM[:12]}'];\n"),
        ("a.cs", f'var c = "Server=db;User Id=ada;Password={RANDOM[:12]};";\n'),
        ("a.ts", f"private password: string = '{RANDOM[:12]}';\n"),
        ("a.go", f'password := "{RANDOM[:12]}"\n'),
        ("a.java", f'config.setPassword("{RANDOM[:12]}");\n'),
        ("a.sql", f"CREATE USER ada IDENTIFIED BY '{RANDOM[:12]}';\n"),
        ("a.md", f"curl -u ada:{RANDOM[:12]} https://a.invalid\n"),
        ("a.md", f"mycli --api-key {RANDOM[:30]} list\n"),
        ("a.ipynb", '{"source": ["password = \\"' + RANDOM[:12] + '\\"\\n"]}\n'),
        (".npmrc", f"//registry.npmjs.org/:_authToken={RANDOM[:36]}\n"),
        (".pypirc", f"password = {RANDOM[:16]}\n"),
        (".netrc", f"machine a.invalid login ada password {RANDOM[:12]}\n"),
        (".pgpass", f"db:5432:app:ada:{RANDOM[:12]}\n"),
        (".git-credentials", f"https://ada:{RANDOM[:12]}@git.invalid\n"),
        (".htpasswd", f"ada:$apr1$abcdefgh${RANDOM[:22]}\n"),
        ("config.json", '{"auths": {"a": {"auth": "' + b64encode(f"ada:{RANDOM[:12]}".encode()).decode() + '"}}}\n'),
        ("kubeconfig", "client-key-data: " + b64encode(PEM.encode()).decode() + "\n"),
        ("a.yaml", f"- name: DB_PASSWORD\n  value: {RANDOM[:12]}\n"),
        ("a.http", "Authorization: Basic " + b64encode(f"ada:{RANDOM[:12]}".encode()).decode() + "\n"),
        ("a.http", f"Authorization: Bearer {RANDOM[:40]}\n"),
        ("a.env", f"AWS_SECRET_ACCESS_KEY={RANDOM[:40]}\n"),
        ("a.json", f'{{"HEROKU_API_KEY": "{uuid.UUID(HEX[:32])}"}}\n'),
    ],
)
def test_forms(path: str, text: str) -> None:
    (finding,) = look(path, text)
    assert finding.severity.rank >= Severity.MEDIUM.rank
    assert finding.cwe in {"CWE-798", "CWE-321", "CWE-256"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "password = get_password()\n"),
        ("a.py", "password = os.environ['DB_PASSWORD']\n"),
        ("a.py", "api_key = 'your-key-here'\n"),
        ("a.py", "password = 'changeme'\n"),
        ("a.py", "secret = 'example-secret'\n"),
        ("a.py", "aws = 'AKIA" + "IOSFODNN7EXAMPLE'\n"),
        ("a.py", f"request_id = '{uuid.UUID(HEX[:32])}'\n"),
        ("a.py", f"api_key_id = '{uuid.UUID(HEX[:32])}'\n"),
        ("uv.lock", f'hash = "sha256:{HEX}"\n'),
        ("package-lock.json", f'"integrity": "sha512-{RANDOM}=="\n'),
        ("a.py", f"SHA256 = '{HEX}'\n"),
        ("a.yml", f"uses: actions/checkout@{HEX[:40]}\n"),
        ("a.py", "password_field = 'user_password'\n"),
        ("a.py", "api_key_env = 'MY_SERVICE_KEY'\n"),
        ("a.py", "label = 'Enter your password: '\n"),
        ("a.yaml", "password: ${DB_PASSWORD}\n"),
        ("a.yaml", "password: {{ vault_password }}\n"),
        ("a.md", "postgres://user:password@localhost/db\n"),
        ("a.py", "url = f'postgres://{user}:{password}@host/db'\n"),
        ("a.py", "if '-----BEGIN " + "PRIVATE KEY-----' in text:\n"),
        ("a.py", "def login(password: str, token: str = '') -> None:\n"),
        ("a.ts", "interface A { password: string; token?: string }\n"),
        ("a.py", "token = 'comma'\n"),
        ("a.py", "alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'\n"),
        ("a.go", "token := parser.Next()\n"),
        ("a.ini", "password =\n"),
        ("a.py", "{'max_tokens': 'Unsupported parameter 7'}\n"),
        ("de.json", '{"Password": "Kennwort", "LABEL_PASSWORD": "Passwort"}\n'),
        ("a.py", "password: str = Field(...)\n"),
        ("a.js", "const apiKey = process.env.API_KEY;\n"),
        ("a.py", "token = os.environ['API_TOKEN']\n"),
        ("a.sql", "<primary primaryKey='campaign_id_2024_x7'/>\n"),
        ("a.yaml", "secretName: cilium-clustermesh-2\n"),
        ("a.json", '{"license_key": "sun-bcl-j2re-1.4.2"}\n'),
        ("a.rsp", "PASSWORD=###ORACLE_PWD###\n"),
        ("a.py", "TOKEN = r'[A-Za-z0-9]+(?:x|y)\\d'\n"),
        ("a.http", _basic("hello:world")),
        ("a.http", _basic("Aladdin:open sesame")),
        ("a.http", _basic("user:secret")),
        ("a.http", _basic("ada-service-1:ada-service-1")),
        ("docker-compose.yml", "DATABASE_URL: postgres://shop:shop@db/shop\n"),
    ],
)
def test_what_is_no_secret(path: str, text: str) -> None:
    assert look(path, text) == []


UUID = str(uuid.UUID(HEX[:32], version=4))


@pytest.mark.parametrize(
    "text",
    [
        f'api_token = "{UUID}"\n', f'CLIENT_SECRET = "{UUID}"\n', f'"access_token": "{UUID}",\n', f"API_KEY={UUID}\n",
        f'"tokens": ["{HEX[:16]}", "{HEX[16:32]}"]\n',
        "Cookie: " + "connect.sid=s%3A" + RANDOM[:32] + "." + RANDOM[:43] + "\n",
    ],
)  # fmt: skip
def test_uuids_lists_and_cookies_beside_telling_names(text: str) -> None:
    assert [each.severity in {Severity.HIGH, Severity.CRITICAL} for each in look("a.env", text)] == [True]


@pytest.mark.parametrize(
    "text",
    [
        f'ClientToken = "{UUID}"\n', f'"clientRequestToken": "{UUID}"\n', f"credentialsId: '{UUID}'\n",
        f'"partition_key": "{UUID}"\n', f'"key": "{UUID}"\n', f'id = "{UUID}"\n',
        'token = "550e8400-e29b-41d4-a716-446655440000"\n', 'token = "12345678-1234-5678-1234-567812345678"\n',
        'tokens = ["hello", "world", "tokenization"]\n',
    ],
)  # fmt: skip
def test_identifiers_and_examples_are_no_secrets(text: str) -> None:
    assert look("a.env", text) == []


def test_a_value_is_never_shown() -> None:
    value = RANDOM[:16]
    (finding,) = look("a.py", f"password = '{value}'\n")
    digest = sha256(value.encode()).hexdigest()[:12]
    assert finding.message.endswith(f": {value[:4]}… (sha256 {digest})")
    for size in range(5, len(value)):
        assert value[:size] not in finding.model_dump_json()


def test_a_short_value_shows_less() -> None:
    assert redaction.mask("abcdefgh").startswith("ab…")
    assert redaction.mask("abc").startswith("…")


def test_assignments_in_tests_do_not_block_and_formats_do() -> None:
    (finding,) = look("tests/test_a.py", f"password = '{RANDOM[:12]}'\n")
    assert finding.severity is Severity.LOW
    (finding,) = look("tests/test_a.py", f"token = '{PROVIDERS['GitHub']}'\n")
    assert finding.severity is Severity.CRITICAL


def test_basic_authorization_in_tests_does_not_block() -> None:
    text = _basic(f"ada:{RANDOM[:12]}")
    (finding,) = look("tests/test_a.py", text)
    assert finding.severity is Severity.LOW
    (finding,) = look("a.http", text)
    assert finding.severity is Severity.HIGH


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docker-compose.yml", "POSTGRES_USER: shopfront\n      POSTGRES_PASSWORD: shopfront\n"),
        ("docker-compose.yml", "services:\n  shopfront:\n    environment:\n      DB_PASSWORD: shopfront\n"),
        (".github/workflows/a.yml", "POSTGRES_PASSWORD: shopfront\n  POSTGRES_DB: shopfront\n"),
        ("run.sh", "psql --user=shopfront\nexport PGPASSWORD=shopfront\n"),
        (".env", "MYSQL_DATABASE=shopfront\nMYSQL_PASSWORD=shopfront\n"),
        ("a.json", '{"user": "shopfront", "password": "' + 'shopfront"}\n'),
    ],
)
def test_a_password_that_repeats_its_user_or_database_is_a_local_default(path: str, text: str) -> None:
    (finding,) = look(path, text)
    assert finding.severity is Severity.LOW
    assert "repeats" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        "POSTGRES_USER: shopfront\nPOSTGRES_PASSWORD: shopfront7\n",
        "POSTGRES_USER: shopfront7\nPOSTGRES_PASSWORD: shopfront\n",
        f"APP_NAME: {RANDOM[:14]}\nDB_PASSWORD: {RANDOM[:14]}\n",
        "# the shopfront\nDB_PASSWORD: shopfront\n",
        "# user: shopfront\nDB_PASSWORD: shopfront\n",
        "DB_PASSWORD: shopfront  # database: shopfront\n",
    ],
)
def test_other_passwords_beside_a_name_block(text: str) -> None:
    (finding,) = look("docker-compose.yml", text)
    assert finding.severity is Severity.HIGH


def test_an_old_secret_informs_and_a_new_one_blocks(project: Project) -> None:
    project.commit_files({"config.py": f"password = '{RANDOM[:12]}'\n"})
    project.write("config.py", f"x = 1\npassword = '{RANDOM[:12]}'\n")
    result = project.gate("secret_scan")
    assert (result.status, [finding.new for finding in result.findings]) == (GateStatus.PASS, [False])
    project.write("config.py", f"password = '{RANDOM[10:24]}'\n")
    result = project.gate("secret_scan")
    assert result.status is GateStatus.FAIL
    assert RANDOM[10:24] not in result.model_dump_json()


def test_a_long_line_is_read_whole() -> None:
    (finding,) = look("a.json", '{"a": "' + "ab cd " * 20_000 + PROVIDERS["AWS"] + '"}')
    assert finding.rule == "aws-access-key-id"


@pytest.mark.parametrize(
    "unit", ["password=", "a", "token: ", "://a:", "-----BEGIN RSA " + "PRIVATE KEY-----", "eyJ.", '="']
)
def test_a_long_line_takes_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    look("a.env", text)
    assert time.process_time() - started < 3, unit


def test_utf_16_is_read() -> None:
    source = SourceFile.of("a.env", "ini", content=f"DB_PASSWORD={RANDOM[:14]}\r\n".encode("utf-16"))
    assert len(secrets.scan_file(source)) == 1


def test_every_rule_is_whole_and_its_id_unique() -> None:
    rules = tomllib.loads((assets.gates() / "rules" / "secrets.toml").read_text())
    ids = [each["id"] for each in (*rules["rule"], *rules["assignment"])]
    assert len(ids) == len(set(ids)) == secret_rules.load().count >= 90
    for each in (*rules["rule"], *rules["assignment"]):
        assert all(secret_rules.Pattern(text).re for text in (each["pattern"], *each.get("allow", ())))
    assert all(each["keywords"] == [word.lower() for word in each["keywords"]] for each in rules["rule"])


@pytest.mark.slow
def test_our_own_repository_holds_none() -> None:
    root = Path(__file__).parents[3]
    places = [
        path for folder in ("src", "tests", "gates", "prompts", "benchmarks") for path in (root / folder).rglob("*")
    ]
    found = {
        f"{path}:{finding.line}": finding.rule
        for path in places
        if path.is_file() and path.suffix != ".pyc" and "samples" not in path.parts
        for finding in look(str(path.relative_to(root)), path.read_text(errors="replace"))
        if finding.severity is not Severity.INFO
    }
    assert found == {}


def test_a_secret_that_the_file_held_before_is_told_and_old(project: Project) -> None:
    line = f"export SECRET_KEY='{RANDOM[:20]}'\n"
    project.commit_files({"docs/setup.rst": f"Bash::\n\n    {line}"})
    project.write(
        "docs/setup.rst", f"Bash::\n\n    {line.replace(chr(39), chr(34))}\nFish::\n\n    > set -x {line[7:]}"
    )
    result = project.gate("secret_scan")
    assert result.findings
    assert not result.new_findings
    project.write("docs/setup.rst", f"Bash::\n\n    {line.replace(RANDOM[:20], RANDOM[5:25])}")
    assert project.gate("secret_scan").status is GateStatus.FAIL


def test_a_key_of_a_test_may_be_exchanged_and_no_other(project: Project) -> None:
    def key(part: str) -> str:
        return f"-----BEGIN {'RSA PRIVATE'} KEY-----\n{part * 8}\n-----END {'RSA PRIVATE'} KEY-----\n"

    old, fresh = key("MIIEpAIBAAKCAQ8xZqv7Kd3w"), key("MIIEowIBAAKCAQ0yTrp5Lm2s")
    project.commit_files({"tests/server.pem": old, "deploy/server.pem": old, "tests/test_a.py": "x = 1\n"})
    project.write("tests/server.pem", fresh)
    result = project.gate("secret_scan")
    assert result.status is GateStatus.PASS
    assert [(each.severity, each.new) for each in result.findings] == [(Severity.LOW, True)]
    project.write("tests/other.pem", key("MIIEpQIBAAKCAQ7zWks4Jn9b"))
    blocking = {each.path for each in project.gate("secret_scan").blocking_findings}
    assert blocking == {"tests/server.pem", "tests/other.pem"}
    (project.root / "tests/server.pem").unlink()
    assert project.gate("secret_scan").status is GateStatus.PASS
    (project.root / "tests/other.pem").unlink()
    project.write("deploy/server.pem", fresh)
    assert {each.path for each in project.gate("secret_scan").blocking_findings} == {"deploy/server.pem"}


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return bytes([tag, 0x82]) + len(content).to_bytes(2, "big") + content


def _pem(title: str, content: bytes) -> str:
    return f"-----BEGIN {title}-----\n{base64.encodebytes(content).decode()}-----END {title}-----\n"


def _pair(seed: int, *, issuer: str, subject: str) -> tuple[str, str]:
    """A key and its certificate, with the parts of X.509 that matter."""
    modulus = _der(0x02, bytes((seed + n * n) % 251 for n in range(256)))
    names = [_der(0x30, each.encode()) for each in (issuer, subject)]
    signed = _der(0x30, _der(0xA0, b"2"), _der(0x02, b"1"), _der(0x30), names[0], _der(0x30), names[1], modulus)
    title = "PRIVATE " + "KEY"
    return _pem(title, _der(0x30, _der(0x02, b"0"), modulus)), _pem("CERTIFICATE", _der(0x30, signed, _der(0x30)))


@pytest.mark.parametrize(
    ("folder", "issuer", "other", "blocks"),
    [
        ("tests/tls", "localhost", False, False),
        ("tests/tls", "An Authority", False, True),
        ("tests/tls", "localhost", True, True),
        ("deploy", "localhost", False, True),
    ],
)
def test_the_key_of_a_server_of_tests_informs_beside_its_own_certificate(
    project: Project, folder: str, issuer: str, *, other: bool, blocks: bool
) -> None:
    key, certificate = _pair(7, issuer=issuer, subject="localhost")
    project.write(f"{folder}/cert.pem", _pair(99, issuer=issuer, subject="localhost")[1] if other else certificate)
    project.write(f"{folder}/key.pem", key)
    result = project.gate("secret_scan")
    assert [each.rule for each in result.findings] == ["private-key"]
    assert (result.status is GateStatus.FAIL) is blocks


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('COLOURS = {Status.FAIL: "red", Status.PASS: "green", Status.SKIP: "dim"}', False),
        ('{"pass": "bright1", "fail": "bright2"}', False),
        ('{"user": "ann", "pass": "gr33n-Tree9"}', True),
        ('db.pass = "gr33n-Tree9"  # fails without it', True),
    ],
)
def test_a_verdict_that_is_called_pass_is_no_password(line: str, *, found: bool) -> None:
    assert bool(secrets.scan_file(SourceFile.of("a.py", "python", content=line.encode()))) is found
