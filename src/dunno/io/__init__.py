"""Reading movies and writing trackings: the only room that opens image or track files."""

from dunno.io.reading import read

__all__ = ["read"]
