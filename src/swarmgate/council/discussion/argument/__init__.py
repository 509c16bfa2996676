"""The structure of a discussion: what its links count for, who agreed and how, its graph."""
