"""What a model can: asked by probes, stated by its endpoint, turned into settings where the user leaves them open."""
