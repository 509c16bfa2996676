"""Tests weakenings that come with a change of the product code: they inform; alone they block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from swarmgate.domain.review.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from swarmgate.domain.review.finding import Finding

    Findings = Callable[..., list[str]]


class Change:
    """Files before and after; `weaker`: what the tests would be where nothing goes with them, which has to block."""

    def __init__(self, before: dict[str, str], after: dict[str, str], weaker: dict[str, str]) -> None:
        self.before, self.after, self.weaker = before, after, weaker


@pytest.fixture
def findings(found: Callable[..., list[Finding]]) -> Findings:
    """The rules that block between two sides."""

    def judge(before: dict[str, str], after: dict[str, str], announced: str | None = None) -> list[str]:
        return sorted(
            each.rule for each in found(before, after, announced) if each.severity.rank >= Severity.MEDIUM.rank
        )

    return judge


BRANCH = """\
def send(body, status=None):
    if status is not None and isinstance(status, int):
        warn("send(body, status) is old", Old)
        body = with_status(body, status)
    return body
"""
NO_BRANCH = "def send(body, status=None):\n    return body\n"
OTHER_BRANCH = BRANCH.replace("isinstance(status, int)", "type(status) is int")
SEND = "from mail import send\n\n\ndef test_plain():\n    assert send('a') == 'a'\n"
STATUS = "\n\ndef test_status():\n    assert send('a', 200).status == 200\n    assert send('a', 404).status == 404\n"

CLASS = """\
class Store:
    def __init__(self, path, retries=3):
        if retries < 0:
            raise ValueError(retries)
        self.path = path


class Cache:
    def __init__(self, retries):
        self.retries = retries
"""
NO_PARAMETER = CLASS.replace(", retries=3):\n        if retries < 0:\n            raise ValueError(retries)", "):", 1)
STORE = "from store import Store\n\n\ndef test_path():\n    assert Store('a').path == 'a'\n"
RETRIES = "\n\ndef test_retries():\n    with pytest.raises(ValueError):\n        Store('a', retries=-1)\n"

GUARD = (
    "class Box:\n    def __init__(self):\n        self._seen = {}\n\n    def put(self, a):\n        self._seen[a] = a\n"
)
LIST = GUARD.replace("self._seen = {}", "self._seen = []").replace("self._seen[a] = a", "self._seen.append(a)")
BOX = "def test_put():\n    box = Box()\n    box.put(1)\n    assert box._seen[1] == 1\n    assert box\n"
NO_SEEN = BOX.replace("    assert box._seen[1] == 1\n", "")

OPTION = "def run(config):\n    first = config.shorthand and config.first\n    return [first, config.second]\n"
NO_OPTION = "def run(config):\n    return [config.first, config.second]\n"
SHORT = """\
def test_run():
    config = Config(shorthand=True)
    assert run(config)[0] == "normal form"
    assert len(run(config)) == 2
"""
NO_SHORT = "def test_run():\n    config = Config()\n    assert len(run(config)) == 2\n"

GONE = {
    "a branch of the function": Change(
        {"src/mail.py": BRANCH, "tests/test_mail.py": SEND + STATUS},
        {"src/mail.py": NO_BRANCH, "tests/test_mail.py": SEND},
        {"src/mail.py": OTHER_BRANCH, "tests/test_mail.py": SEND},
    ),
    "a parameter that another class has": Change(
        {"src/store.py": CLASS, "tests/test_store.py": STORE + RETRIES},
        {"src/store.py": NO_PARAMETER, "tests/test_store.py": STORE},
        {"src/store.py": CLASS + "\n\nx = 1\n", "tests/test_store.py": STORE},
    ),
    "an assertion about a private member": Change(
        {"src/box.py": GUARD, "tests/test_box.py": BOX},
        {"src/box.py": LIST, "tests/test_box.py": NO_SEEN},
        {"src/box.py": GUARD + "\n\nx = 1\n", "tests/test_box.py": NO_SEEN},
    ),
    "an option that the test sets": Change(
        {"src/run.py": OPTION, "tests/test_run.py": SHORT},
        {"src/run.py": NO_OPTION, "tests/test_run.py": NO_SHORT},
        {"src/run.py": OPTION + "\n\nx = 1\n", "tests/test_run.py": NO_SHORT},
    ),
}


@pytest.mark.parametrize("title", GONE)
def test_what_goes_with_code_informs(findings: Findings, title: str) -> None:
    assert findings(GONE[title].before, GONE[title].after) == []


@pytest.mark.parametrize("title", GONE)
def test_without_the_code_it_blocks(findings: Findings, title: str) -> None:
    assert findings(GONE[title].before, GONE[title].weaker)


def test_a_task_has_to_say_so(findings: Findings) -> None:
    change = GONE["a branch of the function"]
    assert findings(change.before, change.after, "Make send faster.\nKind: feature") == ["test-removed"]
    assert findings(change.before, change.after, "Remove test_status with the old form.\nKind: feature") == []


JUNIT = """\
public class ReaderTest extends Base {{
{body}
}}
"""
SINGLE = (
    '    @Test\n    public void reads{n}() throws Exception {{\n        convert(Reader.class, "in{n}.xml");\n    }}\n'
)
ROWS = """\
    @Parameters(name = "{{0}}")
    public static Collection<Object[]> data() {{
        return Arrays.asList(new Object[][] {{ {rows} }});
    }}

    public ReaderTest(String name, int number) {{
        super(Reader.class, input(number));
    }}

    @Test
    public void verifies() throws Exception {{
        {asserts};
    }}
"""


def _junit(rows: int, asserts: str = "super.verifyOutput()") -> dict[str, str]:
    table = ", ".join(f'{{ "case {n}", {n} }}' for n in range(rows))
    body = ROWS.format(rows=table, asserts=asserts)
    return {"src/test/java/ReaderTest.java": "@RunWith(Parameterized.class)\n" + JUNIT.format(body=body)}


SINGLES = {"src/test/java/ReaderTest.java": JUNIT.format(body="\n".join(SINGLE.format(n=n) for n in range(3)))}


def test_tests_that_became_rows_of_their_class(findings: Findings) -> None:
    assert findings(SINGLES, _junit(3)) == []


def test_fewer_rows_than_tests(findings: Findings) -> None:
    assert findings(SINGLES, _junit(2)) == ["test-removed"]


JS_CALLBACK = """\
test('adds', t => {
  app.listen(0, err => {
    t.error(err)
    get(app.url, (err, response) => {
      t.error(err)
      t.equal(response.status, 200)
    })
  })
})
"""
JS_AWAIT = """\
test('adds', async t => {
  await app.ready()
  const response = await app.inject('/')
  t.equal(response.status, 200)
})
"""
JS_HANDED_ON = (
    "test('adds', done => {\n  run((err, all) => {\n    if (err) return done(err)\n    t.equal(all, 2)\n  })\n})\n"
)
JS_SAID = JS_HANDED_ON.replace("if (err) return done(err)", "t.error(err)")
JS_SWALLOWED = JS_HANDED_ON.replace("    if (err) return done(err)\n", "")
GO = """\
package a

func TestLoad(t *testing.T) {
	x, err := Load(1)
	require.NoError(t, err)
	require.Equal(t, 2, x)
}
"""
GO_PLAIN = GO.replace("x, err :=", "x :=").replace("\trequire.NoError(t, err)\n", "")
GO_THROWN_AWAY = GO.replace("x, err :=", "x, _ :=").replace("\trequire.NoError(t, err)\n", "")


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        ("test/a.test.js", JS_CALLBACK, JS_AWAIT, []),
        ("test/a.test.js", JS_SAID, JS_HANDED_ON, []),
        ("test/a.test.js", JS_SAID, JS_SWALLOWED, ["assertion-removed"]),
        ("a_test.go", GO, GO_PLAIN, []),
        ("a_test.go", GO, GO_THROWN_AWAY, ["assertion-removed"]),
    ],
)
def test_an_error_that_the_test_ends_in_by_itself(
    findings: Findings, path: str, before: str, after: str, expected: list[str]
) -> None:
    assert findings({path: before}, {path: after}) == expected


WHOLE = """\
def test_whole(client):
    answer = client.convert("https://example.org/get?user=anna", to="2.1.0")
    assert answer.url == {"raw": "https://example.org/get?user=anna", "host": "example.org", "key": "user"}
"""
UNITS = """\
def test_parse():
    assert parse("https://example.org/get?user=anna") == {"host": "example.org", "raw": RAW, "key": "user"}


def test_unparse():
    assert unparse({"host": "example.org"}) == "https://example.org/get?user=anna"


def test_keys():
    assert keys("2.1.0") == ["raw", "host", "key"]
"""


def test_a_test_that_was_split_in_units(findings: Findings) -> None:
    path = "tests/test_url.py"
    assert findings({path: WHOLE}, {path: UNITS}) == []


def test_a_split_that_asserts_less(findings: Findings) -> None:
    path, values = (
        "tests/test_url.py",
        "x = ['raw', 'host', 'key', 'https://example.org/get?user=anna', 'example.org', 'user']",
    )
    assert findings({path: WHOLE}, {path: f"def test_url():\n    {values}\n    assert x\n"}) == ["test-removed"]


HELPERS = "def visit(urls):\n    assert urls\n    for url in urls:\n        open(url)\n"


def test_a_deleted_file_of_functions_that_no_test_calls(findings: Findings) -> None:
    assert findings({"test/benchmark.py": HELPERS, "a.txt": "a\n"}, {"a.txt": "b\n"}) == []


def test_a_helper_that_a_test_called(findings: Findings) -> None:
    calls = "def test_all():\n    visit(['a'])\n"
    before = {"tests/test_visit.py": HELPERS + "\n\n" + calls}
    assert findings(before, {"tests/test_visit.py": calls.replace("visit", "print")}) == ["test-removed"]


def test_a_test_below_a_condition_is_guarded_and_below_none_that_holds_it_is_off(findings: Findings) -> None:
    path, test = "tests/test_a.py", "def test_a():\n    assert add(1) == 2\n"
    inside = test.replace("\n", "\n    ").rstrip()
    assert findings({path: test}, {path: f"if lib.version >= '3':\n    {inside}\n"}) == []
    assert findings({path: test}, {path: f"if False:\n    {inside}\n"}) == ["test-switched-off"]


def test_a_part_of_a_longer_text_that_is_asked_for(findings: Findings) -> None:
    path, head = "tests/test_a.py", "def test_a():\n    out = run()\n"
    before = head + "    assert 'user' in out\n    assert 'use' in out\n    assert 'Usage' in out\n"
    assert findings({path: before}, {path: head + "    assert 'Usage: [user]' in out\n"}) == []
    assert findings({path: before}, {path: head + "    assert 'Usage: [name]' in out\n"}) == ["assertion-removed"]


def test_a_longer_text_that_must_not_be_there_is_less(findings: Findings) -> None:
    head = "def test_a():\n    out = run()\n"
    before = head + "    assert 'pass' not in out\n    assert 'word' not in out\n    assert 'key' not in out\n"
    after = head + "    assert 'password key' not in out\n"
    assert findings({"tests/test_a.py": before}, {"tests/test_a.py": after}) == ["assertion-removed"]


def test_tests_that_became_the_runs_of_one_with_a_parameter(findings: Findings) -> None:
    body = "    assert 'one' in run(rich)\n    assert 'two' in run(rich)\n    assert run(rich).code == 0\n"
    single = "def test_{name}():\n    rich = {value}\n" + body
    before = single.format(name="rich", value="True") + "\n\n" + single.format(name="plain", value="False")
    after = '@pytest.mark.parametrize("rich", [True, False])\ndef test_hidden(rich):\n' + body
    path, other = "tests/test_a.py", "tests/test_b.py"
    assert findings({path: before}, {other: after}) == []
    assert findings({path: before}, {other: after.replace("[True, False]", "[True]")}) == ["test-removed"]


def test_a_deleted_file_of_tests_with_the_file_that_it_took_in(findings: Findings) -> None:
    tests = "from docs_src.using import first as mod\n\n\ndef test_script():\n    assert 'Usage' in run(mod)\n"
    before = {"docs_src/using/first.py": "x = 1\n", "tests/test_first.py": tests, "a.txt": "a\n"}
    assert findings(before, {"a.txt": "a\n"}) == []
    assert findings(before, {"a.txt": "a\n", "docs_src/using/first.py": "x = 1\n"}) == ["test-removed"]


def test_the_name_of_a_type_of_go_is_no_value_that_anything_equals(findings: Findings) -> None:
    body = 'expect := map[string]{any}{{"a": 1}}\n\tassert.Equal(t, expect, run())'
    test = "package a\n\nfunc TestLog(t *testing.T) {{\n\t" + body + "\n}}\n"
    assert findings({"a_test.go": test.format(any="interface{}")}, {"a_test.go": test.format(any="any")}) == []


def test_the_value_for_a_bound(findings: Findings) -> None:
    test = "test('adds', t => {{\n  t.{asked}\n}})\n"
    before, after = test.format(asked="true(run().lookup >= 0)"), test.format(asked="is(run().lookup, undefined)")
    assert findings({"test/a.test.js": before}, {"test/a.test.js": after}) == []
    assert findings({"test/a.test.js": after}, {"test/a.test.js": before}) == ["assertion-weakened"]


@pytest.mark.parametrize(
    ("path", "test", "before", "after"),
    [
        ("a.test.js", "test('a', () => {{\n  {}\n}})\n", "assert.strictEqual(m.text(), 'a')", "assert(m.equals(a))"),
        ("a_test.go", "package a\n\nfunc TestA(t *testing.T) {{\n\t{}\n}}\n",
         "assert.Equal(t, a, run())", "assert.True(t, bytes.Equal(a, run()))"),
        ("a_test.go", "package a\n\nfunc TestA(t *testing.T) {{\n\t{}\n}}\n",
         "assert.Len(t, fields, 4)", "assert.Equal(t, len(fields), 4)"),
        ("test_a.py", "class TestA(Chai):\n    def test_a(self):\n        {}\n",
         "expect(api.now).args('tz').returns('now')", "self.expect(api.now).args('tz').returns('now')"),
    ],
)  # fmt: skip
def test_another_way_to_compare_values(findings: Findings, path: str, test: str, before: str, after: str) -> None:
    assert findings({path: test.format(before)}, {path: test.format(after)}) == []
    assert findings({path: test.format(after)}, {path: test.format("run()")}) == ["assertion-removed"]


def test_another_value_that_goes_in_has_another_result(findings: Findings) -> None:
    test = "def test_a():\n    calls = run(until={})\n    assert calls == [{}]\n"
    assert findings({"tests/test_a.py": test.format(3, "0, 3")}, {"tests/test_a.py": test.format(2, "0, 2")}) == []
    before, after = test.format(3, "0, 3"), test.format(3, "0, 2")
    assert findings({"tests/test_a.py": before}, {"tests/test_a.py": after}) == ["expected-changed"]


@pytest.mark.parametrize(("plugin", "blocks"), [("proguard-maven-plugin", False), ("maven-surefire-plugin", True)])
def test_a_plugin_of_maven_that_is_skipped(findings: Findings, plugin: str, *, blocks: bool) -> None:
    pom = "<project>\n<plugin>\n<artifactId>{}</artifactId>\n<configuration>\n{}</configuration>\n</plugin>\n"
    before, after = (pom.format(plugin, skip) for skip in ("", "<skip>true</skip>\n"))
    assert bool(findings({"pom.xml": before}, {"pom.xml": after})) is blocks


def test_a_folder_of_tests_under_another_name(found: Callable[..., list[Finding]]) -> None:
    test = "class Main {\n    @Test\n    void runs() {\n        assertEquals(1, run());\n    }\n}\n"
    old, new = "shrinker-test/src/main/java/Main.java", "test-shrinker/src/main/java/Main.java"
    assert found({old: test}, {new: test}, moved={new: old}) == []


def test_what_vendored_projects_run(findings: Findings) -> None:
    assert (
        findings({"vendor/github.com/a/b/.travis.yml": "script:\n  - go test ./...\n", "a.txt": "a"}, {"a.txt": "b"})
        == []
    )


def test_the_same_values_in_the_product(findings: Findings) -> None:
    before = {
        "src/a.py": "def name():\n    return 'one'\n",
        "tests/test_a.py": "def test_a():\n    assert name() == 'one'\n",
    }
    after = {path: text.replace("one", "two") for path, text in before.items()}
    kind = "Tidy up.\nKind: refactoring"
    assert findings(before, after, kind) == []
    other = {**after, "src/a.py": "def name():\n    return str('one')\n"}
    assert findings(before, other, kind) == ["expected-changed"]
