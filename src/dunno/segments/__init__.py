"""Segments as hypotheses: what each mask holds, and how objects go on, with probabilities."""
