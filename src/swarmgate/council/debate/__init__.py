"""The debate pattern: participants argue one question in rounds and vote, and the architect synthesizes the result."""
