"""Contracts of the languages that tree-sitter reads: JavaScript, TypeScript, Go, Rust, Java."""
