"""The colony's true links, in somebody else's files."""

from dunno.types.links import Links

TRUE_LINKS = {(0, 1, 1, 1), (0, 2, 1, 3), (0, 3, 1, 2), (1, 1, 2, 1), (1, 3, 2, 4), (1, 2, 2, 2)}
"""Mother's frame and label, daughter's frame and label."""


def as_set(links: Links) -> set[tuple[int, ...]]:
    columns = (links.mother_frame, links.mother, links.frame, links.daughter)
    return set(zip(*(column.tolist() for column in columns), strict=True))
