"""What runs in the project's Pythons: files to be copied. They use the standard library and the project's runner."""
