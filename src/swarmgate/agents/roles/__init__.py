"""One role a file: brief -> tool loop -> typed reply; and what its verdicts are held against."""
