"""What a text, an event or a manifest says about who and what hangs together, and by which names: without a model."""
