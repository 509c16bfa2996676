"""Files by their paths: what may be opened, regular ones alone, replaced in one step."""
