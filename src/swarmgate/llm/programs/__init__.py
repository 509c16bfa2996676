"""Agent programs of the command line as models: plain, by their events, and by the Agent Client Protocol."""
