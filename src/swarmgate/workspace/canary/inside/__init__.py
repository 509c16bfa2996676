"""What runs in the project's Pythons. Files are copied from here; standard library and the project's own runner only."""
