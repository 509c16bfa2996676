"""Adapters that use command-line agent programs as models: plain output, events, or the Agent Client Protocol."""
