"""Detects tests that a change weakens: the parts of the gate test_integrity.

`reading` makes cases and assertions out of a file of tests (`python`, `ecmascript`, `golang`, `rust`, `java` know where
tests stand), `strength` says how much an assertion asks for, `matching` finds each test of before again, and `judge`
compares. `settings` and `hooks` look at what steers the runner, `special` at code of the product that knows its tests.
"""
