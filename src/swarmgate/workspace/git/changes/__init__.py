"""What changed between trees, shown by file, brought back, and taken back."""
