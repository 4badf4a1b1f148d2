"""`svir probe`: what a model server really does, found by asking it."""
