"""Tests the imports gate on JavaScript, TypeScript, Go and Rust."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import GateResult

    Project = Any

PACKAGE = json.dumps({
    "name": "web", "dependencies": {"react": "18", "@scope/ui": "1"}, "devDependencies": {"@types/estree": "1"},
    "imports": {"#lib/*": "./src/lib/*.js"},
})  # fmt: skip


def _found(result: GateResult) -> list[tuple[str, str, int]]:
    return [(each.rule, each.path, each.line) for each in result.findings if each.new]


@pytest.fixture
def web(project: Project) -> Project:
    project.commit_files({
        "package.json": PACKAGE, "src/a.ts": "export const a = 1\nexport type T = string\nexport default 1\n",
        "src/lib/index.ts": "export * from './deep'\n", "src/lib/deep.tsx": "export function deep() {}\n",
        "src/page.vue": "<template/>\n", "src/data.json": "{}", "src/pic.svg": "<svg/>", "src/style.css": "",
        "src/common.cjs": "module.exports = {x: 1}\n",
        "src/documented.js": "/** @typedef {string} Doc */\nexport const d = 1\n",
        "src/native.ios.ts": "export const n = 1\n",
        "tsconfig.json": '{ // comment\n "compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["src/*"]},},}\n',
    })  # fmt: skip
    return project


def test_what_resolves_is_no_finding(web: Project) -> None:
    web.write(
        "src/use.ts",
        "import def, {a, type T} from './a'\nimport * as all from './a.js'\nimport {deep} from './lib'\n"
        "import page from './page.vue'\nimport data from './data.json'\nimport pic from './pic.svg?url'\n"
        "import './style.css'\n"
        "import {x, y} from './common.cjs'\nimport {n} from './native'\nimport {deep as d} from '@app/lib'\n"
        "import {a as b} from 'src/a'\nimport fs from 'fs'\nimport {readFile} from 'node:fs/promises'\n"
        "import React from 'react'\nimport ui from '@scope/ui/button'\nimport type {Node} from 'estree'\n"
        "import l from '#lib/deep'\nimport v from 'virtual:thing'\nimport web from 'web/sub'\nexport * from './lib'\n"
        "import type {Doc} from './documented.js'\nimport {useX} from '#imports'\n"
        "const c = require('./common.cjs'); const lazy = import('./a')\n",
    )
    result = web.gate("imports")
    assert result.findings == ()
    assert result.status is GateStatus.PASS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("import x from './nothing'", "unresolved-module"),
        ("import './a.css'", "unresolved-module"),
        ("export * from './nothing'", "unresolved-module"),
        ("const x = require('./nothing')", "unresolved-module"),
        ("const x = () => import('./nothing')", "unresolved-module"),
        ("import x = require('./nothing')", "unresolved-module"),
        ("import x from '@app/nothing'", "unresolved-module"),
        ("import x from '#other/x'", "unresolved-module"),
        ("import x from 'node:patch'", "unresolved-module"),
        ("import {aa} from './a'", "unresolved-name"),
        ("export {aa} from './a'", "unresolved-name"),
        ("import deep from './lib'", "unresolved-name"),
        ("import {shallow} from './lib'", "unresolved-name"),
        ("import x from 'reactt'", "invented-package"),
        ("import x from '@scoop/ui'", "invented-package"),
        ("const x = require('foo-bar/deep')", "invented-package"),
        ("import x from 'lodash'", "undeclared-dependency"),
    ],
)
def test_what_does_not_resolve(web: Project, line: str, rule: str) -> None:
    web.write("src/use.ts", f"{line}\n")
    result = web.gate("imports")
    assert [each.rule for each in result.findings] == [rule]
    assert result.status is GateStatus.FAIL


def test_a_slip_is_named(web: Project) -> None:
    web.write("src/use.js", "import x from 'raect'\n")
    (finding,) = web.gate("imports").findings
    assert "an invented package?" in finding.message
    assert finding.suggestion == "did you mean `react`?"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "try { require('foo-bar') } catch {}\n",
        "import('foo-bar').catch(() => null)\n",
        "if (process.env.X) require('./nothing')\n",
        "const x = require(name)\nimport(`./${name}.js`)\n",
        "declare module 'foo-bar' { import x from './nothing' }\n",
        "import x from './dist/bundle.js'\n",
        "// import x from 'foo-bar'\nconst s = \"import x from 'foo-bar'\"\n",
    ],
)
def test_guarded_and_dynamic_imports_are_no_alarm(web: Project, text: str) -> None:
    web.write("src/use.ts", text)
    assert web.gate("imports").findings == ()


def test_aliases_ambient_modules_workspaces_and_node_modules(web: Project) -> None:
    web.commit_files({
        "vite.config.ts": "export default { resolve: { alias: { 'short': '/src', '~icons': 'x' } } }\n",
        "src/env.d.ts": "declare module 'ambient-thing'\n", ".gitignore": "node_modules\n",
        "packages/kit/package.json": '{"name": "@web/kit"}',
        "package-lock.json": '{"packages": {"node_modules/deep-dep": {}}}',
    })  # fmt: skip
    (web.root / "node_modules/installed").mkdir(parents=True)
    web.write(
        "src/use.ts",
        "import a from 'short/a'\nimport b from '~icons/b'\nimport c from 'ambient-thing'\nimport d from '@web/kit'\n"
        "import e from 'installed'\nimport f from 'deep-dep'\n",
    )
    (finding,) = web.gate("imports").findings
    assert (finding.rule, finding.severity, finding.line) == ("undeclared-dependency", Severity.LOW, 6)


def test_scripts_of_a_single_file_component(web: Project) -> None:
    web.write(
        "src/new.vue", "<template><p/></template>\n<script setup lang='ts'>\nimport x from './nothing'\n</script>\n"
    )
    assert _found(web.gate("imports")) == [("unresolved-module", "src/new.vue", 3)]


def test_without_a_package_json_packages_are_not_judged(project: Project) -> None:
    project.write("x.js", "import a from 'foo-bar'\nimport b from './nothing'\n")
    assert _found(project.gate("imports")) == [("unresolved-module", "x.js", 2)]


def test_what_the_change_takes_away_breaks_its_importers(web: Project) -> None:
    web.commit_files({"src/b.ts": "import {a} from './a'\n", "src/c.ts": "import {a} from '@app/a'\n"})
    web.write("src/a.ts", "export const b = 1\n")
    result = web.gate("imports")
    assert _found(result) == [("unresolved-name", "src/b.ts", 1), ("unresolved-name", "src/c.ts", 1)]


def test_go(project: Project) -> None:
    project.commit_files({
        "go.mod": "module example.com/shop\n\ngo 1.22\n\n"
        "require (\n\tgithub.com/x/y v1.0.0\n\tgithub.com/z/w/v2 v2.0.0 // indirect\n)\n",
        "price/price.go": "package price\n",
    })  # fmt: skip
    project.write(
        "main.go",
        'package main\n\nimport (\n\t"fmt"\n\tp "example.com/shop/price"\n\t"github.com/x/y/deep"\n'
        '\t_ "github.com/z/w/v2"\n'
        '\t"example.com/shop/nothing"\n\t"github.com/foo/bar" // "c"\n\t"encodings/json"\n)\n\n'
        'var s = `import "github.com/q/q"`\n',
    )  # fmt: skip
    assert _found(project.gate("imports")) == [
        ("unresolved-module", "main.go", 8), ("invented-package", "main.go", 9), ("unresolved-module", "main.go", 10),
    ]  # fmt: skip


def test_rust(project: Project) -> None:
    project.commit_files({
        "Cargo.toml": '[package]\nname = "shop-core"\n[dependencies]\nserde = "1"\n'
        're = { package = "regex", version = "1" }\n'
        '[target."cfg(unix)".dependencies]\nnix-lib = "1"\n',
        "src/price.rs": "", "src/lib.rs": "mod price;\n",
    })  # fmt: skip
    project.write(
        "src/main.rs",
        "use std::fs;\nuse serde::Serialize;\nuse re::Regex;\nuse nix_lib::x;\nuse shop_core::y;\nuse price::z;\n"
        "use crate::q;\n"
        "mod inner { pub enum kind { A } }\nuse kind::A;\n// use foo_bar::x;\n"
        "use foo_bar::{a, b};\nextern crate baz_qux;\n",
    )
    assert _found(project.gate("imports")) == [
        ("invented-package", "src/main.rs", 11),
        ("invented-package", "src/main.rs", 12),
    ]


def test_declaring_a_lookalike_does_not_excuse_its_import(web: Project) -> None:
    package = json.loads(PACKAGE)
    package["dependencies"] |= {
        "lodahs": "4", "crossenv": "7", "left-padding-pro": "1", "express": "4", "@scope/other": "workspace:*",
    }  # fmt: skip
    web.write("package.json", json.dumps(package, indent=1))
    web.write("src/x.ts", "import 'lodahs'\nimport 'crossenv'\nimport 'left-padding-pro'\nimport 'express'\n")
    found = [each for each in web.gate("imports").findings if each.rule != "unused-dependency"]
    assert [(each.rule, each.severity.value) for each in found] == [
        ("lookalike-dependency", "medium"), ("lookalike-dependency", "medium"), ("unseen-dependency", "low"),
    ]  # fmt: skip
    assert "`lodash`" in found[0].message
    assert "`cross-env`" in found[1].message


@pytest.mark.parametrize(
    ("path", "last", "missing"),
    [
        ("src/hooks.d.ts", "", []),
        ("src/hooks.d.ts", "export default interface Main {}\n", []),
        ("src/hooks.d.ts", "export {}\n", ["Done"]),
        ("src/hooks.d.ts", "export default A\n", ["Done"]),
        ("src/hooks.ts", "", ["Done"]),
    ],
)
def test_what_a_file_of_declarations_exports(web: Project, path: str, last: str, missing: list[str]) -> None:
    web.write(path, f"export interface A {{ done: Done }}\ninterface Done {{ (): void }}\n{last}")
    web.write("src/x.ts", "import { A, Done } from './hooks'\n\nexport const x: [A?, Done?] = []\n")
    found = [each for each in web.gate("imports").findings if each.rule == "unresolved-name"]
    assert [name for name in ("A", "Done") if any(f"`{name}`" in each.message for each in found)] == missing
