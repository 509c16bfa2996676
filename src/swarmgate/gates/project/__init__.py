"""The project's files: languages, tests, source trees and modules, recognised by their paths."""
