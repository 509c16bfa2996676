"""Councils of a server: what may be asked of them, and what is read of their records."""
