"""Checks the imports of JavaScript and TypeScript files: files, exports and packages."""
