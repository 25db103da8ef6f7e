"""What stands where on the site. A page that is not there is left out; one that is not named here comes at the end."""

from __future__ import annotations

from pathlib import Path

SECTIONS: dict[str, list[str]] = {
    "Begin": ["index.md", "install.md", "tutorial.md", "gallery.md", "faq.md"],
    "How to": [
        "input.md",
        "calibrate.md",
        "masks.md",
        "gaps.md",
        "times.md",
        "review.md",
        "napari.md",
        "tools.md",
        "fiji.md",
        "biology.md",
        "report.md",
        "scale.md",
        "transformer.md",
        "extending.md",
    ],
    "Explanation": [
        "meaning.md",
        "skipping.md",
        "joint-posterior.md",
        "evidence.md",
        "calibration.md",
        "evaluation.md",
        "methods.md",
        "limits.md",
    ],
    "Reference": [
        "reference/commands.md",
        "reference/parameters.md",
        "reference/python.md",
        "settings.md",
        "files.md",
        "geff.md",
        "cells.md",
        "glossary.md",
    ],
    "Benchmark": ["benchmark/README.md", "benchmark/joint-posterior.md"],
    "For developers": ["architecture.md", "decisions.md", "assignment.md", "contributing.md", "changelog.md"],
}
"""Pages by section, as paths in docs/."""

ROOT_PAGES = ("GLOSSARY", "CHANGELOG", "CONTRIBUTING", "ARCHITECTURE")
"""Pages that lie at the repository's root."""

COMMANDS, PARAMETERS = "reference/commands.md", "reference/parameters.md"
"""The pages that are made from the program itself."""


def navigation(docs: Path) -> list[dict[str, list[str]]]:
    """Sections with the pages that exist; pages that no section names come under "More"."""
    made = {COMMANDS, PARAMETERS, *(f"{name.lower()}.md" for name in ROOT_PAGES)}
    there = made | {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    named = {page for pages in SECTIONS.values() for page in pages}
    sections = {title: [page for page in pages if page in there] for title, pages in SECTIONS.items()}
    sections["More"] = sorted(there - named)
    return [{title: pages} for title, pages in sections.items() if pages]
