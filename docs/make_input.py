"""Write the tables of docs/input.md from the rooms of readers and of sources of links: python docs/make_input.py."""

from pathlib import Path

from dunno.io.links import sources
from dunno.io.readers import readers
from dunno.rooms import summary

PAGE = Path(__file__).parent / "input.md"


def table(offered: list) -> str:
    """A row per form, with the command that reads an example of it."""
    rows = [f"| {summary(type(each))} | `{each.example}` |" for each in offered]
    return "\n".join(["| what you have | what you type |", "|---|---|", *rows])


def rendered(page: str) -> str:
    """The page with its tables made anew."""
    for name, offered in (("readers", readers()), ("links", sources())):
        begin, end = f"<!-- {name}: made by docs/make_input.py -->", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        after = rest.partition(end)[2]
        page = f"{before}{begin}\n\n{table(offered)}\n\n{end}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text()))
