"""What a project is made of, told by its paths: languages, tests, code, trees, modules. Nothing is parsed here."""
