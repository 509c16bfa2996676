"""Imports of JavaScript and TypeScript files: whether files, exports and packages are there."""
