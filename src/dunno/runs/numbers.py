"""Numbers as people read them."""

from __future__ import annotations

import math

ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def count(value: int) -> str:
    """A whole number.

    Example:
        >>> count(25378)
        '25,378'
    """
    return f"{value:,}"


def amount(value: float) -> str:
    """A quantity, with as many decimals as matter.

    Example:
        >>> [amount(value) for value in (0, 0.0123, 0.5, 6.89, 12.345, 1234.5, 1e-7)]
        ['0', '0.012', '0.5', '6.9', '12', '1,234', '< 0.001']
    """
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "–"
    if abs(value) < 0.001:
        return "< 0.001"
    decimals = 0 if abs(value) >= 10 else 1 if abs(value) >= 0.1 else 3
    return f"{value:,.{decimals}f}"


def percent(share: float) -> str:
    """A share or a probability; never rounded to a certainty that it is not.

    Example:
        >>> [percent(share) for share in (0, 0.0004, 0.004, 0.62, 0.9951, 0.99995, 1)]
        ['0 %', '< 0.1 %', '0.4 %', '62 %', '99.5 %', '> 99.9 %', '100 %']
    """
    if not math.isfinite(share):
        return "–"
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    if share < 0.001:
        return "< 0.1 %"
    if share > 0.999:
        return "> 99.9 %"
    decimals = 1 if share < 0.0995 or share > 0.9 else 0
    return f"{100 * share:.{decimals}f} %"


def ordinal(number: int) -> str:
    """A number as a place in a row.

    Example:
        >>> ordinal(2), ordinal(10), ordinal(11), ordinal(23)
        ('2nd', '10th', '11th', '23rd')
    """
    teens = 10 < number % 100 < 14
    return f"{number}{'th' if teens else ORDINALS.get(number % 10, 'th')}"
