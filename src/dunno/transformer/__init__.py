"""Trackastra's network, as `dunno.costs.transformer` asks it: a model's folder, what it sees of a cell, its logits.

torch and trackastra are imported inside functions only.
"""
