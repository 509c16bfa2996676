"""Guards command-line coding agents in the repository: their files, instructions, and who could write those."""
