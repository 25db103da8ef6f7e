"""What skipping frames says: are the promises kept, and how slowly could one have imaged?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from dunno.report import svg
from dunno.report.html_tables import table
from dunno.report.numbers import amount, count, percent
from dunno.runs.imaging import imaging_sentence
from dunno.types import RunInfo
from dunno.types.special import wilson

LOWEST_SHOWN = 1e-4
"""Shares below this are drawn at it."""


def section(about: RunInfo, links: int, expected_wrong: float) -> str:
    """The section, or nothing where no test was made."""
    tests = about.skip_tests
    if not tests or not tests[0]["bins"]:
        return ""
    shown = Template(files("dunno.report").joinpath("skipped_frames.html").read_text(encoding="utf-8"))
    return shown.substitute(
        promises=_promises(tests[0]),
        promises_table=_promises_table(tests[0]),
        sentence=escape(imaging_sentence(tests[0], links, expected_wrong)),
        imaging=_imaging(tests, links, expected_wrong, about),
        imaging_table=_imaging_table(tests, links, expected_wrong, about),
    )


def _promises(test: Mapping[str, Any]) -> str:
    """Found against promised, on logarithmic axes, with the line on which both agree."""
    x = svg.Axis(LOWEST_SHOWN, 1.0, svg.LEFT, svg.LEFT + 380, log=True)
    y = svg.Axis(LOWEST_SHOWN, 1.0, svg.TOP + 300, svg.TOP, log=True)
    body = [
        svg.y_axis(y, x.begin, x.end, "wrong, by what all frames say", svg.as_percent),
        svg.line([(x(LOWEST_SHOWN), y(LOWEST_SHOWN)), (x(1.0), y(1.0))], "ideal"),
    ]
    for promised, found, n in test["bins"]:
        low, high = wilson(found, n)
        at = x(max(promised, LOWEST_SHOWN))
        body.append(svg.line([(at, y(max(low, LOWEST_SHOWN))), (at, y(max(high, LOWEST_SHOWN)))], "line"))
        body.append(svg.dot(at, y(max(found, LOWEST_SHOWN))))
    body.append(svg.x_axis(x, y.begin, "promised to be wrong", svg.as_percent, 6))
    told = f"{test['promised']:.0f} links were promised to be wrong with every second frame left out, {test['composed']:.0f} were."
    return svg.chart(body, told, x.end + svg.RIGHT, y.begin + 46)


def _promises_table(test: Mapping[str, Any]) -> str:
    rows = [(count(n), percent(promised), percent(found)) for promised, found, n in test["bins"]]
    return table("Promised against found", ("links", "promised to be wrong", "wrong, by what all frames say"), rows)


def _shares(tests: Sequence[Mapping[str, Any]], links: int, wrong: float) -> list[tuple[int, float, float, float]]:
    """Step, share of wrong links, and its interval; first that of the movie as it is."""
    rows = [(1, wrong / max(links, 1), *wilson(min(wrong / max(links, 1), 1.0), max(links, 1)))]
    for test in tests:
        n = max(int(test["links"]), 1)
        share = min(test["composed"] / n, 1.0)
        rows.append((int(test["step"]), share, *wilson(share, n)))
    return rows


def _imaging(tests: Sequence[Mapping[str, Any]], links: int, wrong: float, about: RunInfo) -> str:
    """The share of wrong links against the time between frames."""
    rows = _shares(tests, links, wrong)
    unit, minutes = _time(about)
    x = svg.across(0, (rows[-1][0] + 0.5) * unit)
    y = svg.upwards(0, max(row[3] for row in rows) * 1.1 or 1e-3)
    body = [svg.y_axis(y, x.begin, x.end, "links that are wrong", svg.as_percent)]
    body += [svg.line([(x(step * unit), y(low)), (x(step * unit), y(high))], "line") for step, _, low, high in rows]
    body += [svg.dot(x(step * unit), y(share)) for step, share, _, _ in rows]
    body.append(svg.x_axis(x, y.begin, f"time between frames ({minutes})", svg.whole, 8))
    return svg.chart(body, "Share of wrong links against the time between frames.")


def _imaging_table(tests: Sequence[Mapping[str, Any]], links: int, wrong: float, about: RunInfo) -> str:
    unit, minutes = _time(about)
    seen = {1: "", **{int(test["step"]): _divisions(test) for test in tests}}
    rows = [
        (
            f"{step * unit:g} {minutes}",
            percent(share),
            f"{percent(low)} – {percent(high)}",
            amount(share * links / step),
            seen[step],
        )
        for step, share, low, high in _shares(tests, links, wrong)
    ]
    head = ("time between frames", "wrong links", "95 % interval", "wrong links in all", "divisions that would be seen")
    return table("How slowly could one have imaged?", head, rows)


def _divisions(test: Mapping[str, Any]) -> str:
    if test["divisions"] is None or not test["divisions_between"]:
        return ""
    return percent(min(test["divisions"] / test["divisions_between"], 1.0))


def _time(about: RunInfo) -> tuple[float, str]:
    """The time between two frames, and its unit."""
    return (float(about.interval), "minutes") if about.interval else (float(about.step), "frames")
