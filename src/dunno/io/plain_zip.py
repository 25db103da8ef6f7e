"""Zip archives whose members are not compressed, written and read in one piece.

`zipfile` does this for any archive; for one with dozens of small members it takes longer than everything in them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END_RECORD = struct.Struct("<4s4H2LH")
ZIP_VERSION, NEW_YEAR_1980 = 20, (1 << 5) | 1
ZIP64_FROM = (1 << 32) - 1
"""From here on an archive needs the fields that its format got later."""

Buffer = bytes | bytearray | memoryview


class Member(NamedTuple):
    """Where a member's header begins, how long its content is, and the content's checksum."""

    header: int
    size: int
    checksum: int


def pack(members: Mapping[str, Sequence[Buffer]]) -> list[Buffer] | None:
    """An archive of members, each given in pieces, as the pieces to write; `None` if it is too large for this."""
    pieces: list[Buffer] = []
    central: list[bytes] = []
    place = 0
    for name, content in members.items():
        checksum, size = 0, 0
        for each in content:
            checksum, size = zlib.crc32(each, checksum), size + len(each)
        written = name.encode()
        if place + size + LOCAL.size + len(written) >= ZIP64_FROM:
            return None
        about = (ZIP_VERSION, 0, 0, 0, NEW_YEAR_1980, checksum, size, size, len(written), 0)
        pieces += [LOCAL.pack(b"PK\3\4", *about), written, *content]
        central += [CENTRAL.pack(b"PK\1\2", ZIP_VERSION, *about, 0, 0, 0, 0, place), written]
        place += LOCAL.size + len(written) + size
    listing = b"".join(central)
    n = len(members)
    if n >= 1 << 16 or place + len(listing) >= ZIP64_FROM:
        return None
    return [*pieces, listing, END_RECORD.pack(b"PK\5\6", 0, 0, n, n, len(listing), place, 0)]


def members_of(content: Buffer) -> dict[str, Member] | None:
    """The members of an archive by name; `None` if it is none, or not a plain one."""
    if len(content) < END_RECORD.size:
        return None
    mark, *_, n, size, place, comment = END_RECORD.unpack_from(content, len(content) - END_RECORD.size)
    if mark != b"PK\5\6" or comment or place + size + END_RECORD.size != len(content):
        return None
    found: dict[str, Member] = {}
    for _ in range(n):
        mark, _, _, flags, method, _, _, checksum, size, _, name, extra, note, *_, header = CENTRAL.unpack_from(
            content, place
        )
        if mark != b"PK\1\2" or flags & ~0x800 or method or ZIP64_FROM in (size, header):
            return None
        begin = place + CENTRAL.size
        found[bytes(content[begin : begin + name]).decode()] = Member(header, size, checksum)
        place = begin + name + extra + note
    return found


def content_of(name: str, member: Member, archive: memoryview) -> memoryview:
    """A member's content; one that has changed since it was written is refused."""
    mark, *_, name_size, extra = LOCAL.unpack_from(archive, member.header)
    begin = member.header + LOCAL.size + name_size + extra
    content = archive[begin : begin + member.size]
    if mark != b"PK\3\4" or len(content) != member.size or zlib.crc32(content) != member.checksum:
        raise ValueError(f"Bad CRC-32 for file {name!r}")
    return content
