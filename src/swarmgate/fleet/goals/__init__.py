"""Goals as they lie in a remote: names, standing, throwaway checkouts, leases and publication."""
