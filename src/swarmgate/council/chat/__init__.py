"""Swarm chats: agents that write to each other until they are done."""
