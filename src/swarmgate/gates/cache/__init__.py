"""What gates said before, kept a file, under all that it depends on."""
