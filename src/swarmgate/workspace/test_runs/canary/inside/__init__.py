"""Files copied into the Python processes of a project under test; they need only stdlib and its test runner."""
