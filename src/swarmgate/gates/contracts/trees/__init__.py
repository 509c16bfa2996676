"""Public API of JavaScript, TypeScript, Go, Rust and Java files, read with tree-sitter."""
