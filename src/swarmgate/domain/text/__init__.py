"""Words that anybody may have written, made safe for pages, terminals, JSON and records."""
