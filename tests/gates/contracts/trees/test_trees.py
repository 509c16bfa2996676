"""Tests the breaking API changes of JavaScript, TypeScript, Go, Rust and Java."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from swarmgate.gates.contracts.compare import Dialect, compare
from swarmgate.gates.contracts.trees import ecmascript, golang, java, rust

if TYPE_CHECKING:
    from collections.abc import Callable

    from swarmgate.gates.contracts.model import Surface

READERS: dict[str, tuple[Callable[[str, bytes], Surface], Dialect]] = {
    "ts": (ecmascript.read, Dialect()),
    "tsx": (ecmascript.read, Dialect()),
    "js": (ecmascript.read, Dialect()),
    "go": (golang.read, Dialect(exact=True)),
    "rs": (rust.read, Dialect(exact=True)),
    "java": (java.read, Dialect(exact=True)),
}


def rules(suffix: str, old: str, new: str) -> list[str]:
    read, dialect = READERS[suffix]
    was, now = (read(f"lib/m.{suffix}", text.encode()) for text in (old, new))
    found = compare(was, now, dialect, lambda *_: False)
    return sorted(each.rule.removeprefix("contract-") for each in found if each.public)


GO = "package p\n"
BREAKS = [
    ("ts", "export function f() {}", "function f() {}", ["removed"]),
    ("ts", "export function f(a: string) {}", "export function f() {}", ["parameter-removed"]),
    ("ts", "export function f() {}", "export function f(a: string) {}", ["parameter-added-required"]),
    ("ts", "export function f(a: string, b: number) {}", "export function f(b: number, a: string) {}",
     ["parameter-moved"]),
    ("ts", "export function f(a?: string) {}", "export function f(a: string) {}", ["parameter-required"]),
    ("ts", "export function f(a: string) {}", "export function f(a: number) {}", ["parameter-type-changed"]),
    ("ts", "export function f(): string {}", "export function f(): number {}", ["return-changed"]),
    ("ts", "export const f = (a) => a", "export const f = () => 1", ["parameter-removed"]),
    ("js", "exports.f = (a) => a", "exports.f = (a, b) => b.c", ["parameter-added-required"]),
    ("js", "exports.f = (a) => a", "exports.f = (a, b) => b(a)", ["parameter-added-required"]),
    ("js", "exports.f = (a) => a", "exports.f = (a, b) => { const { c } = b; return c }",
     ["parameter-added-required"]),
    ("js", "exports.f = (a) => a", "exports.f = (a, b) => a * b", ["parameter-added-required"]),
    ("js", "exports.f = (a) => a", "exports.f = (a, b) => `${b}, ${a}`", ["parameter-added-required"]),
    ("js", "exports.f = (a) => a", "exports.f = (a, b) => { for (const c of b) a(c) }",
     ["parameter-added-required"]),
    ("ts", "export default function f(a) {}", "export default function f() {}", ["parameter-removed"]),
    ("ts", "export default class C {}", "export class C {}", ["removed"]),
    ("ts", "function f() {}\nexport { f as g }", "function f() {}\nexport { f }", ["removed"]),
    ("ts", "export { a, b } from './x'", "export { a } from './x'", ["removed"]),
    ("ts", "export class C { m() {} }", "export class C { }", ["removed"]),
    ("ts", "export class C { m() {} }", "export class C { private m() {} }", ["visibility-reduced"]),
    ("ts", "export class C { constructor() {} }", "export class C { constructor(a: string) {} }",
     ["parameter-added-required"]),
    ("ts", "export class C { static m() {} }", "export class C { m() {} }", ["binding-changed"]),
    ("ts", "export class C extends D {}", "export class C {}", ["base-removed"]),
    ("ts", "export interface I { a: string }", "export interface I { }", ["removed"]),
    ("ts", "export interface I { }", "export interface I { a: string }", ["field-required"]),
    ("ts", "export interface I { a?: string }", "export interface I { a: string }", ["field-required"]),
    ("ts", "export interface I { a: string }", "export interface I { a?: string }", ["field-required"]),
    ("ts", "export interface I { a: string }", "export interface I { a: number }", ["type-changed"]),
    ("ts", "export type T = { a: string; b: string }", "export type T = { a: string }", ["removed"]),
    ("ts", "export type T = 'a' | 'b'", "export type T = 'a'", ["type-changed"]),
    ("ts", "export enum E { A, B }", "export enum E { A }", ["removed"]),
    ("ts", "export class C {}", "export function C() {}", ["kind-changed"]),
    ("tsx", "export function B({ a, b }) { return <i/> }", "export function B({ a }) { return <i/> }",
     ["parameter-removed"]),
    ("js", "module.exports = { a, b }", "module.exports = { a }", ["removed"]),
    ("js", "function a(x) {}\nmodule.exports = { a }", "function a() {}\nmodule.exports = { a }",
     ["parameter-removed"]),
    ("js", "exports.f = function (a) {}", "exports.f = function (a, b) {}", ["parameter-added-required"]),
    ("js", "module.exports = class { m() {} }", "module.exports = class { }", ["removed"]),
    ("js", "function A() {}\nA.prototype.m = function () {}\nmodule.exports = A", "function A() {}\nmodule.exports = A",
     ["removed"]),
    ("go", GO + "func F() {}", GO, ["removed"]),
    ("go", GO + "func F(a int) {}", GO + "func F(a string) {}", ["parameter-type-changed"]),
    ("go", GO + "func F(a, b int) {}", GO + "func F(b, a int) {}", ["parameter-moved"]),
    ("go", GO + "func F() {}", GO + "func F(a int) {}", ["parameter-added-required"]),
    ("go", GO + "func F() error { return nil }", GO + "func F() (int, error) { return 0, nil }", ["return-changed"]),
    ("go", GO + "type S struct { A int; B int }", GO + "type S struct { A int }", ["removed"]),
    ("go", GO + "type S struct { A int }", GO + "type S struct { A string }", ["type-changed"]),
    ("go", GO + "type S struct {}\nfunc (s S) M() {}", GO + "type S struct {}", ["removed"]),
    ("go", GO + "type I interface { M() }", GO + "type I interface { M(); N() }", ["field-required"]),
    ("go", GO + "type I interface { M() }", GO + "type I interface { }", ["removed"]),
    ("go", GO + "type T int", GO + "type T string", ["type-changed"]),
    ("go", GO + "type S struct {}", GO + "type S interface {}", ["kind-changed"]),
    ("go", GO + "const (\n A = iota\n B\n)", GO + "const (\n A = iota\n)", ["removed"]),
    ("rs", "pub fn f() {}", "fn f() {}", ["visibility-reduced"]),
    ("rs", "pub fn f() {}", "pub(crate) fn f() {}", ["visibility-reduced"]),
    ("rs", "pub fn f(a: u8) {}", "pub fn f(a: u16) {}", ["parameter-type-changed"]),
    ("rs", "pub fn f() {}", "pub fn f(a: u8) {}", ["parameter-added-required"]),
    ("rs", "pub fn f() -> u8 { 1 }", "pub fn f() -> u16 { 1 }", ["return-changed"]),
    ("rs", "pub fn f() {}", "pub async fn f() {}", ["async-changed"]),
    ("rs", "pub fn f() {}", "pub unsafe fn f() {}", ["binding-changed"]),
    ("rs", "pub struct S { pub a: u8 }", "pub struct S { a: u8 }", ["visibility-reduced"]),
    ("rs", "pub struct S { pub a: u8 }", "pub struct S { }", ["removed"]),
    ("rs", "pub struct S(pub u8);", "pub struct S(pub u16);", ["type-changed"]),
    ("rs", "pub enum E { A, B }", "pub enum E { A }", ["removed"]),
    ("rs", "pub enum E { A(u8) }", "pub enum E { A(u16) }", ["type-changed"]),
    ("rs", "pub trait T { }", "pub trait T { fn m(&self); }", ["field-required"]),
    ("rs", "pub trait T { fn m(&self); }", "pub trait T { }", ["removed"]),
    ("rs", "pub struct S;\nimpl S { pub fn n(&self) {} }", "pub struct S;\nimpl S { pub fn n(&mut self) {} }",
     ["parameter-type-changed"]),
    ("rs", "pub mod m { pub fn f() {} }", "pub mod m { }", ["removed"]),
    ("rs", "pub use a::B;", "", ["removed"]),
    ("java", "public class C { public void m() {} }", "public class C { }", ["removed"]),
    ("java", "public class C { public void m() {} }", "public class C { void m() {} }", ["visibility-reduced"]),
    ("java", "public class C { public void m() {} }", "public class C { protected void m() {} }",
     ["visibility-reduced"]),
    ("java", "public class C { public void m(int a) {} }", "public class C { public void m(long a) {} }",
     ["parameter-type-changed"]),
    ("java", "public class C { public int m() { return 1; } }", "public class C { public long m() { return 1; } }",
     ["return-changed"]),
    ("java", "public class C { public void m() {} public void m(int a) {} }", "public class C { public void m() {} }",
     ["overload-removed"]),
    ("java", "public class C { }", "public class C { public C(int a) {} }", ["parameter-added-required"]),
    ("java", "public class C { public int A; }", "public class C { }", ["removed"]),
    ("java", "public class C { public int A; }", "public class C { public final int A = 1; }", ["readonly"]),
    ("java", "public class C extends D { }", "public class C { }", ["base-removed"]),
    ("java", "public class C { }", "public final class C { }", ["final-added"]),
    ("java", "public class C { }", "public abstract class C { }", ["abstract-added"]),
    ("java", "public interface I { }", "public interface I { void m(); }", ["field-required"]),
    ("java", "public enum E { A, B }", "public enum E { A }", ["removed"]),
    ("java", "public record R(int a) { }", "public record R(int a, int b) { }", ["parameter-added-required"]),
]  # fmt: skip
KEEPS = [
    ("ts", "export function f(a: string) {}", "export function f(b: string, c = 1, d?: number) {}"),
    ("ts", "export function f(a: string) {}", "export function f(a: string | number) {}"),
    ("ts", "export function f(): string | null {}", "export function f(): string {}"),
    ("ts", "export function f(a: Opts) {}", "export function f(a: OtherOpts) {}"),
    ("ts", "export function f(a) { return 1 }", "/** Doc. */\nexport const f = (a) => { return 2 }"),
    ("ts", "export function f(): Promise<void> {}", "export async function f(): Promise<void> {}"),
    ("ts", "export interface I { a: string }", "export interface I { a: string; b?: number }"),
    ("ts", "export type T = 'a'", "export type T = 'a' | 'b'"),
    ("ts", "export class C { private m() {} #x = 1 }", "export class C { }"),
    ("ts", "export function f() {}", "import { f } from './g'\nexport { f }"),
    ("ts", "function f() {}", ""),
    ("js", "exports.f = function (a) {}", "exports.f = function (a, opts) { opts = opts || {} }"),
    ("js", "exports.f = function (a) {}", "exports.f = function (a, strict) { if (strict === true) return a }"),
    ("js", "exports.f = function (a) {}", "exports.f = (a, opts) => Object.assign({}, opts)"),
    ("js", "exports.f = function (a) {}", "exports.f = (a, opts) => ({ ...opts, a })"),
    ("js", "exports.f = function (a) {}", "exports.f = (a, opts) => send(a, opts)"),
    ("js", "exports.f = function (a) {}", "exports.f = (a, opts) => opts?.b"),
    ("js", "module.exports = { a: function (x) {} }", "module.exports = { a(x) {}, b: 1 }"),
    ("go", GO + "func f() {}", GO),
    ("go", "package main\nfunc F() {}", "package main\n"),
    ("go", GO + "func F(a interface{}) {}", GO + "func F(b any) {}"),
    ("go", GO + "type S struct { A int }", GO + "type S struct { A int; B int; c int }"),
    ("go", GO + "type I interface { M(); x() }", GO + "type I interface { M(); N(); x() }"),
    ("rs", "fn f(a: u8) {}", "fn f() {}"),
    ("rs", "pub fn f<'a>(x: &'a str) -> &'a str { x }", "pub fn f(y: &str) -> &str { y }"),
    ("rs", "pub trait T { fn m(&self); }", "pub trait T { fn m(&self); fn n(&self) {} }"),
    ("rs", "pub fn f() {}", "pub use other::f;"),
    ("rs", "#[cfg(test)]\nmod tests { pub fn f() {} }", ""),
    ("java", "class C { void m() {} }", "class C { }"),
    ("java", "public class C { public void m(int a) {} }", "public class C { public void m(final int b) {} }"),
    ("java", "public class C { public void m() {} }", "public class C { public void m() {} public void m(int a) {} }"),
    ("java", "public class C extends B { @Override public void m() {} }", "public class C extends B { }"),
    ("java", "public interface I { void m(); }", "public interface I { void m(); default void n() {} }"),
    ("java", "public class C { private int a; }", "public class C { }"),
]


@pytest.mark.parametrize(("suffix", "old", "new", "expected"), BREAKS)
def test_what_breaks(suffix: str, old: str, new: str, expected: list[str]) -> None:
    assert rules(suffix, old, new) == expected


@pytest.mark.parametrize(("suffix", "old", "new"), KEEPS)
def test_what_does_not(suffix: str, old: str, new: str) -> None:
    assert rules(suffix, old, new) == []


@pytest.mark.parametrize(("suffix", "text"), [(case[0], text) for case in BREAKS for text in case[1:3]])
def test_nothing_breaks_where_nothing_changed(suffix: str, text: str) -> None:
    assert rules(suffix, text, text) == []
