"""Copies of repositories that work is done in: throwaway clones of a remote, clones of a folder, one commit alone."""
