"""Git's folder as the witness of the ledger: anchors that later lines cannot change."""
