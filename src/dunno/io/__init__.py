"""Reading movies and writing trackings: the only room that opens image or track files."""

from dunno.io.links import Links, read_links
from dunno.io.reading import read

__all__ = ["Links", "read", "read_links"]
