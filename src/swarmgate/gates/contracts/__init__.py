"""Compares the public API of source files before and after a change: what breaks, and which callers it affects.

`model` holds the words, `python`, `ecmascript`, `golang`, `rust` and `java` read a file's contract, `compare` and
`signatures` say what breaks, `impact` and the `*_uses` modules look for those who still use the broken form, `analysis`
is the whole over a change.
"""
