"""The endpoints and Socket.IO events of ADR 0007, in the words of its reference, for programs that know those."""
