"""Segments: what may be one object of a frame: a mask, a part of one, or two together."""
