"""One self-contained page from all of its parts."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape

from dunno.report import forest, gallery, link_charts, repairs, skipped_frames, truthfulness, words
from dunno.report.html_parts import filled, read_part, table
from dunno.report.link_scenes import TwoViews
from dunno.report.repairs import MaskRepair, RepairScene
from dunno.report.review_address import ReviewAddress
from dunno.report.survey import Survey
from dunno.report.truthfulness import Truthfulness
from dunno.runs import findings
from dunno.runs.numbers import amount, count, percent
from dunno.runs.summary import Summary
from dunno.types import RunInfo


@dataclass(frozen=True, eq=False)
class PageContent:
    """What a page shows."""

    about: RunInfo  # Who made the tracking
    survey: Survey  # What was counted
    trees: Sequence[forest.Tree]  # The families that are drawn
    forest: str  # Their drawing
    scenes: Sequence[TwoViews] | None  # Pictures of the least certain links; `None` if the movie cannot be looked at
    about_pictures: str  # Why not, or what else is to be known about them
    truthfulness: Truthfulness | None  # The comparison with the truth, where it was given
    deciding: ReviewAddress  # Where links are decided on
    repairs: Sequence[MaskRepair] | None = None  # What became of masks; `None` where they were taken as they are
    repair_scenes: Sequence[RepairScene] | None = None  # Pictures of some of that; `None` where there are none


def page(content: PageContent) -> str:
    """The whole HTML file: what a reader asks first stands first, what was run stands last."""
    about = content.about
    state = about.verdict
    script, imperfect = read_part("page.js"), about.calibrated and _contradicted(content.truthfulness)
    sections = "\n".join(each for each in _sections(content) if each)
    whole = filled(
        "page.html",
        style=read_part("page.css"),
        script=script,
        script_hash=_hash("\n" + script),
        movie=escape(about.movie),
        made=escape(f"dunno {about.version}, cost {about.cost}, method {about.method}, seed {about.seed}"),
        state=state,
        but=", but not perfectly" if imperfect else "",
        state_name="good" if about.calibrated and not imperfect else "bad",
        promises=_promises(about),
        beside_truth=_beside_truth(content.truthfulness),
        contents=_contents(sections),
        sections=sections,
    )
    return whole.replace(" %", "\u00a0%").replace("&lt; 0", "&lt;\u00a00")  # numbers stay with their signs


def _sections(content: PageContent) -> Iterator[str]:
    about, survey = content.about, content.survey
    has_links = survey.summary.links > 0
    yield filled("glance.html", figures=_figures(content), told=_told(survey.summary), next=_next(survey))
    yield skipped_frames.section(about, survey.summary)
    yield _truth(content)
    yield _look(content) if has_links else "<p>There are no links to say anything about.</p>"
    yield repairs.section(content.repairs, content.repair_scenes)
    yield _forest(content)
    yield link_charts.section(survey, words.verdict(about)[0]) if has_links else ""
    yield filled(
        "run.html",
        run=words.what_was_run(about, survey.summary.frames),
        parameters=table("All parameters", ("parameter", "value"), words.parameters(about)),
    )


def _contents(sections: str) -> str:
    """Links to all parts, by their headings."""
    found = re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', sections)
    items = "".join(f'<li><a href="#{name}">{re.sub("<[^>]*>", "", title)}</a></li>' for name, title in found)
    return f'<nav aria-label="Contents"><ol class="contents">{items}</ol></nav>'


def _promises(about: RunInfo) -> str:
    """A line for each promise, where there are several; else what the one verdict means."""
    found = findings.promises(about)
    if len(found) < 2:
        return escape(words.verdict(about)[1])
    lines, said = list[str](), set[str]()
    for each in found:
        meaning = "" if each.verdict in said else f": {each.meaning}"
        reason = escape(each.reason[:1].upper() + each.reason[1:])
        lines.append(f"<li><strong>{each.about}: {each.verdict}</strong>{meaning}. {reason}.</li>")
        said.add(each.verdict)
    return f'</p><ul class="problems">{"".join(lines)}</ul><p>'


def _hash(script: str) -> str:
    """The browser runs this script and no other, whatever a movie is called."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"


def _beside_truth(found: Truthfulness | None) -> str:
    """What an annotation says about the verdict, at once."""
    if found is None or not found.scores.n_links:
        return ""
    chance = "That is more than chance explains" if _contradicted(found) else "Chance explains that"
    return (
        f'<p><a href="#truth">Beside the truth</a>, they are off by {found.scores.ece:.3f} on average; those of a perfectly '
        f"calibrated tracker would be by less than {found.scores.ece_floor:.3f}, 95 times in 100. {chance}.</p>"
    )


def _contradicted(found: Truthfulness | None) -> bool:
    """Whether an annotation shows that the probabilities are not true."""
    return found is not None and found.scores.n_links > 0 and not found.is_honest


def _figures(content: PageContent) -> str:
    found, state = content.survey.summary, words.verdict(content.about)[0]
    wrong, low_high = found.expected_wrong_links, found.divisions_interval
    likely = f"{count(low_high[0])} – {count(low_high[1])}" if low_high else count(found.divisions)
    figures = (
        (
            f"{count(found.cells_at_start)} →\u00a0{count(found.cells_at_end)}",
            "cells, first and last frame",
            f"{count(found.frames)} frames",
        ),
        (likely, "divisions", f"95 %; {count(found.divisions)} in the tracks" if low_high else "in the tracks"),
        (count(found.tracks), "tracks", f"{count(found.whole_tracks)} of them whole"),
        (
            amount(wrong),
            "links expected to be wrong",
            f"{percent(wrong / found.links) if found.links else '–'} of {count(found.links)}; {state}",
        ),
        (percent(content.survey.share_sure), "of links above 99 %", f"{count(content.survey.n_sure)} links; {state}"),
    )
    items = (
        f'<div><dt>{name}</dt><dd><span class="figure">{value}</span><span class="beside">{beside}</span></dd></div>'
        for value, name, beside in figures
    )
    return f'<dl class="figures">{"".join(items)}</dl>'


def _told(found: Summary) -> str:
    """The same in sentences, as the screen said them."""
    told = findings.what_is_there(found).items()
    return "".join(f"<dt>{name.capitalize()}</dt><dd>{escape(text)}.</dd>" for name, text in told)


def _next(survey: Survey) -> str:
    """What to do with all this."""
    look = (
        '<a href="#look">Look at the least certain cells</a>, a picture each; <code>dunno review OUT</code> settles them in your '
        "browser, the most useful question first. "
    )
    measured = "<code>dunno measure OUT -o DIR</code> has cycles, families, rates and speeds, each with its interval."
    return f"<dt>Next</dt><dd>{look if survey.doubts else ''}{measured}</dd>"


def _look(content: PageContent) -> str:
    """The least certain links, with pictures."""
    survey = content.survey
    return filled(
        "look.html",
        state=words.verdict(content.about)[0],
        gallery=gallery.draw(survey.doubts, content.scenes, content.deciding),
        n_doubts=count(len(survey.doubts)),
        about_pictures=f'<p class="notice">{escape(content.about_pictures)}</p>' if content.about_pictures else "",
    )


def _forest(content: PageContent) -> str:
    families = content.survey.shown_families
    shown = [tree.family for tree in content.trees]
    if not shown:
        return "<p>There are no cells.</p>"
    left_out = families[len(shown) :]
    told = f"All {count(len(families))} families are shown."
    if left_out:
        others, every = (amount(sum(each.wrong for each in some)) for some in (left_out, families))
        told = (
            f"Shown are the {count(len(shown))} of {count(len(families))} families with the most links expected to be wrong; "
            f"the others have {others} of the {every} between them."
        )
    hidden = sum(tree.hidden for tree in content.trees)
    if hidden:
        told += f" {count(hidden)} later tracks of large families are not drawn; “+3” at the end of a line stands for three."
    return filled(
        "forest.html",
        state=words.verdict(content.about)[0],
        told=escape(told),
        forest=content.forest,
        table=forest.as_table(content.trees),
    )


def _truth(content: PageContent) -> str:
    found = content.truthfulness
    if found is None:
        return ""
    if not found.scores.n_links:
        sentence, curves = "No link takes part: there is nothing to compare.", ("", "")
    else:
        sentence = found.sentence()
        curves = truthfulness.draw_curve(found), truthfulness.draw_sparsification(found)
    return filled(
        "truth.html",
        sentence=escape(sentence),
        curve=curves[0],
        sparsification=curves[1],
        curve_table=truthfulness.as_table(found),
        scores=truthfulness.scores_table(found),
    )
