"""The file tools of agents: guarded reading, editing and searching of the work tree."""
