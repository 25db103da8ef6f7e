from html.parser import HTMLParser

from dunno.benchmark.claims import judge
from dunno.benchmark.figures import Drawn
from dunno.benchmark.page import page
from dunno.benchmark.paper import CLAIMS
from dunno.benchmark.rows import Row
from dunno.benchmark.run import Outcome
from dunno.benchmark.units import Setup


class Tags(HTMLParser):
    """Sees that every tag is closed, and collects links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.links: list[str] = []
        self.alternatives: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links += [value for name in ("src", "href") if (value := found.get(name))]
        if tag == "img":
            self.alternatives.append(found.get("alt") or "")
        if tag not in ("meta", "img"):
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag


def make(rows: list[Row], **more: list[str]) -> str:
    drawn = [Drawn("ece", "Errors <&> steps", "Rises from 1 < 2.")]
    return page(Outcome(rows, **more), Setup(), drawn, judge(CLAIMS, rows))  # type: ignore[arg-type]


def test_the_page_is_well_formed_needs_no_network_and_says_every_verdict() -> None:
    rows = [Row("a", "02", 1, "distance", "SM", "none", n_links=30, ece=0.1, confidence=0.9, accuracy=0.8)]
    text = make(rows)
    tags = Tags(text)
    assert tags.opened == []
    assert tags.links == ["results.csv", "figures/ece.svg"]
    assert tags.alternatives == ["Errors <&> steps"]
    assert "<figcaption>Rises from 1 &lt; 2.</figcaption>" in text
    assert text.count("undecided here</td>") == len(CLAIMS)
    assert f"{sum(claim.source != 'ours' for claim in CLAIMS)} undecided here." in text


def test_names_from_outside_are_escaped() -> None:
    text = make([Row("<script>", "02", 1, "distance", "SM", "none", reason="no")], left_out=["<b>bold</b>"])
    assert "<script>" not in text
    assert "&lt;script&gt; (02)" in text
    assert "<b>" not in text
    assert "1 of 1 rows have a reason instead of numbers" in text
