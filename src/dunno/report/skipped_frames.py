"""What skipping frames says: are the promises kept, and how slowly could one have imaged?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dunno.calibration.verdict import LARGEST_RATIO, LARGEST_SURPRISE, still_kept
from dunno.report import svg
from dunno.report.html_parts import filled, table
from dunno.runs import findings
from dunno.runs.numbers import count, percent
from dunno.runs.summary import Summary
from dunno.types import RunInfo
from dunno.types.special import wilson

LOWEST_SHOWN = 1e-4
"""Shares below this are drawn at it."""


def section(about: RunInfo, found: Summary) -> str:
    """The section, or nothing where no test was made."""
    tests = about.skip_tests
    if not tests:
        return ""
    return filled(
        "skipped_frames.html",
        total=escape(_total(tests[0])),
        others=_others(about),
        promises=_by_promise(tests[0]),
        sentence=escape(findings.imaging(tests[0], found)),
        imaging=_imaging(tests, found, about),
        imaging_table=_imaging_table(tests, found, about),
    )


def _others(about: RunInfo) -> str:
    """What was tested in other ways, of the other promises."""
    told = [each for each in findings.promises(about) if each.about != "links"]
    lines = (f"<li>{each.about}: {each.verdict}, because {escape(each.reason)}</li>" for each in told)
    return f"<p>Of the rest:</p><ul>{''.join(lines)}</ul>" if told else ""


def _by_promise(test: Mapping[str, Any]) -> str:
    """Links by how wrong they were promised to be, where they were told apart."""
    if not test["bins"]:
        return ""
    caption = (
        "Links by the promised probability of being wrong, and the share that is wrong, with 95 % intervals. On the dashed line "
        "promises are kept to the letter. The verdict is about all links together: one dot beside the band does not decide it."
    )
    drawn = f'<figure class="plot">{_promises(test)}\n<figcaption>{caption}</figcaption></figure>'
    return f"{drawn}\n{_promises_table(test)}"


def _total(test: Mapping[str, Any]) -> str:
    """What the verdict rests on, and how far off would still count."""
    promised, low_high = f"{test['promised']:,.0f}", " to ".join(map(count, still_kept(test["promised"])))
    return (
        f"{promised} of {count(int(test['links']))} links were promised to be wrong, and {test['composed']:,.0f} were. "
        f"From so many promised, {low_high} wrong ones would still count as kept: up to {LARGEST_RATIO:g} times as many or as few, "
        f"or what chance explains ({LARGEST_SURPRISE:g} standard deviations)."
    )


def _promises(test: Mapping[str, Any]) -> str:
    """Found against promised, on logarithmic axes, with the line on which both agree and the band that still counts as kept."""
    x = svg.Axis(LOWEST_SHOWN, 1.0, svg.LEFT, svg.LEFT + 380, log=True)
    y = svg.Axis(LOWEST_SHOWN, 1.0, svg.TOP + 300, svg.TOP, log=True)
    plot, least = svg.Plot(x, y), LOWEST_SHOWN
    low_end, high_end = least * LARGEST_RATIO, 1 / LARGEST_RATIO
    marks = [
        plot.area(
            (least, least, high_end, 1.0, 1.0, low_end), (least, low_end, 1.0, 1.0, high_end, least), "area kept"
        ),
        plot.line((least, 1.0), (least, 1.0), "ideal"),
        svg.text(x.end - 6, y.begin - 10, f"band: within {LARGEST_RATIO:g} times counts as kept", "end", "small"),
    ]
    for promised, found, n in test["bins"]:
        at, ends = max(promised, least), [max(end, least) for end in wilson(found, n)]
        marks += [plot.line((at, at), ends), svg.dot(x(at), y(max(found, least)))]
    told = f"{test['promised']:.0f} links were promised to be wrong with every second frame left out, {test['composed']:.0f} were."
    size, titles = (
        {"width": x.end + svg.RIGHT, "height": y.begin + 46},
        ("promised to be wrong", "wrong, as all frames show"),
    )
    return plot.chart(marks, told, titles, (svg.as_percent, svg.as_percent), (6, 5), **size)


def _promises_table(test: Mapping[str, Any]) -> str:
    rows = [(count(n), percent(promised), percent(found)) for promised, found, n in test["bins"]]
    return table("Promised against found", ("links", "promised to be wrong", "wrong, as all frames show"), rows)


def _shares(tests: Sequence[Mapping[str, Any]], found: Summary) -> list[tuple[int, float, float, float]]:
    """Step, share of wrong links, and its interval; first that of the movie as it is."""
    links = max(found.links, 1)
    now = found.expected_wrong_links / links
    rows = [(1, now, *wilson(min(now, 1.0), links))]
    for test in tests:
        n = max(int(test["links"]), 1)
        share = min(test["composed"] / n, 1.0)
        rows.append((int(test["step"]), share, *wilson(share, n)))
    return rows


def _imaging(tests: Sequence[Mapping[str, Any]], found: Summary, about: RunInfo) -> str:
    """The share of wrong links against the time between frames."""
    rows = _shares(tests, found)
    unit, minutes = _time(about)
    x, y = svg.across(0, (rows[-1][0] + 0.5) * unit), svg.upwards(0, max(row[3] for row in rows) * 1.1 or 1e-3)
    plot = svg.Plot(x, y)
    marks = [plot.line((step * unit, step * unit), (low, high)) for step, _, low, high in rows]
    marks += [svg.dot(x(step * unit), y(share)) for step, share, _, _ in rows]
    titles, told = (
        (f"time between frames ({minutes})", "links that are wrong"),
        "Share of wrong links against the time between frames.",
    )
    return plot.chart(marks, told, titles, (svg.whole, svg.as_percent))


def _imaging_table(tests: Sequence[Mapping[str, Any]], found: Summary, about: RunInfo) -> str:
    unit, minutes = _time(about)
    seen = {1: "", **{int(test["step"]): _divisions(test) for test in tests}}
    rows = [
        (f"{step * unit:g} {minutes}", percent(share), f"{percent(low)} – {percent(high)}", seen[step])
        for step, share, low, high in _shares(tests, found)
    ]
    head = ("time between frames", "share of links that is wrong", "95 % interval", "divisions that would be seen")
    return table("How slowly could one have imaged?", head, rows)


def _divisions(test: Mapping[str, Any]) -> str:
    if test["divisions"] is None or not test["divisions_between"]:
        return ""
    return percent(min(test["divisions"] / test["divisions_between"], 1.0))


def _time(about: RunInfo) -> tuple[float, str]:
    """The time between two frames, and its unit."""
    return (float(about.interval), "minutes") if about.interval else (float(about.step), "frames")
