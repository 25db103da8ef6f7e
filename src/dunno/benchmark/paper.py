"""The paper's claims, and ours beyond it, each as a number that should be above zero. The criterion is in `claims.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dunno.benchmark.claims import OURS, Claim
from dunno.benchmark.scenes import Scene, Value, mean

PAPERS = ("SM", "FP", "FP+A", "AS")
CLASSIFYING, BAYESIAN = ("SM", "FP"), ("FP+A", "AS")
TS, SELF = "temperature", "self"
LEARNT = "transformer"


def over(methods: Sequence[str], value: Callable[[Scene, str, str], float]) -> Value:
    """The mean of a number over some methods."""
    return lambda scene, cost: mean(value(scene, cost, method) for method in methods)


def drop_by_scaling(column: str) -> Callable[[Scene, str, str], float]:
    """How much lower a column is with temperature scaling than without."""
    return lambda scene, cost, method: -gain_by_scaling(column)(scene, cost, method)


def gain_by_scaling(column: str) -> Callable[[Scene, str, str], float]:
    """How much higher a column is with temperature scaling than without."""
    return lambda scene, cost, method: scene.value(column, cost, method, TS) - scene.value(column, cost, method, "none")


def overconfidence(scene: Scene, cost: str, method: str) -> float:
    """Mean confidence minus accuracy, as tracked."""
    return scene.value("confidence", cost, method) - scene.value("accuracy", cost, method)


def logarithm(value: float) -> float:
    """Of a positive number, else NaN."""
    return math.log(value) if value > 0 else float("nan")


def log_temperature(scene: Scene, cost: str, method: str) -> float:
    """The logarithm of T; NaN where it ran into a bound."""
    return logarithm(scene.value("temperature", cost, method, TS))


def log_motion(scene: Scene, cost: str) -> float:
    """The logarithm of the mean squared displacement per dimension."""
    squared = scene.value("mean_squared_displacement", cost, "SM", TS)
    return logarithm(squared / scene.value("dimensions", cost, "SM", TS))


def as_tracked(column: str) -> Callable[[Scene, str, str], float]:
    """A column without scaling."""
    return lambda scene, cost, method: scene.value(column, cost, method)


def scaled(column: str) -> Callable[[Scene, str, str], float]:
    """A column with temperature scaling."""
    return lambda scene, cost, method: scene.value(column, cost, method, TS)


def minus(one: Value, other: Value) -> Value:
    """The difference of two numbers."""
    return lambda scene, cost: one(scene, cost) - other(scene, cost)


def both_gains(scene: Scene, cost: str, method: str) -> float:
    """What scaling adds to the sparsification gain, mean of both criteria."""
    return mean(gain_by_scaling(column)(scene, cost, method) for column in ("gain_edge", "gain_entropy"))


def overlap_against_others(scene: Scene, cost: str) -> float:
    """What scaling adds to SM's and FP's sparsification gain for overlap, minus the mean of the other costs."""
    if cost != "overlap":
        return float("nan")
    gain = over(CLASSIFYING, both_gains)
    return gain(scene, cost) - mean(gain(scene, other) for other in scene.costs if other not in ("overlap", LEARNT))


def most_dropout_against_least(scene: Scene, cost: str, method: str) -> float:
    """ECE at the highest dropout rate minus that at the lowest, as tracked."""
    found = scene.by_dropout("ece", cost, method)
    return found[max(found)] - found[min(found)] if len(found) > 1 else float("nan")


def not_learnt(cost: str) -> bool:
    """All costs but the transformer's."""
    return cost != LEARNT


def only(name: str) -> Callable[[str], bool]:
    """One cost only."""
    return lambda cost: cost == name


def lower_by_scaling(method: str) -> Claim:
    """Temperature scaling lowers a method's ECE."""
    return Claim(
        f"TS helps {method}",
        f"Temperature scaling lowers the calibration error of {method}.",
        "paper, section 4.1",
        f"ECE of {method} minus that of {method}+TS",
        over((method,), drop_by_scaling("ece")),
    )


def lower_without_truth(method: str) -> Claim:
    """A temperature fitted by skipping frames lowers a method's ECE."""
    return Claim(
        f"self helps {method}",
        f"A temperature fitted without truth, by skipping frames, lowers the calibration error of {method}.",
        OURS,
        f"ECE of {method} minus that of {method} self",
        lambda scene, cost: scene.value("ece", cost, method) - scene.value("ece", cost, method, SELF),
    )


def sparsified_by_self(scene: Scene, cost: str, method: str) -> float:
    """What self-calibration adds to the sparsification gain, mean of both criteria."""
    return mean(
        scene.value(column, cost, method, SELF) - scene.value(column, cost, method)
        for column in ("gain_edge", "gain_entropy")
    )


def slower(method: str) -> Claim:
    """A method takes longer than SM."""
    return Claim(
        f"{method} takes longer",
        f"{method} costs more computing time than SM.",
        "paper, conclusion and run-time figure",
        f"log of the CPU time of {method} over that of SM",
        lambda scene, cost: logarithm(scene.value("overhead", cost, method)),
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "overconfident",
        "As they come, trackers are overconfident.",
        "paper, introduction",
        "mean confidence minus accuracy of SM",
        over(("SM",), overconfidence),
    ),
    Claim(
        "overconfident when frames are rare",
        "Overconfidence grows as temporal resolution falls.",
        "paper, introduction",
        "overconfidence of SM at a step minus that at the first step",
        over(("SM",), overconfidence),
        against_first=True,
    ),
    Claim(
        "ECE rises",
        "Without scaling, calibration error rises as temporal resolution falls (all costs but the transformer).",
        "paper, section 4.1",
        "mean ECE of SM, FP, FP+A and AS at a step minus that at the first step",
        over(PAPERS, as_tracked("ece")),
        against_first=True,
        applies=not_learnt,
    ),
    Claim(
        "the transformer's ECE falls",
        "The transformer with SM and FP is the exception: its error falls as temporal resolution does.",
        "paper, section 4.1",
        "mean ECE of SM and FP at the first step minus that at a step, transformer cost",
        lambda scene, cost: -over(CLASSIFYING, as_tracked("ece"))(scene, cost),
        against_first=True,
        applies=only(LEARNT),
    ),
    *(lower_by_scaling(method) for method in PAPERS),
    Claim(
        "TS helps most when frames are rare",
        "Temperature scaling helps most at the lowest temporal resolutions.",
        "paper, section 4.1",
        "the fall of ECE by scaling (mean of SM, FP, FP+A, AS) at a step minus that at the first step",
        over(PAPERS, drop_by_scaling("ece")),
        against_first=True,
    ),
    Claim(
        "AS+TS is best",
        "Of the scaled methods, AS+TS is particularly well calibrated.",
        "paper, section 4.1",
        "mean ECE of SM+TS, FP+TS and FP+A+TS minus that of AS+TS",
        minus(over(("SM", "FP", "FP+A"), scaled("ece")), over(("AS",), scaled("ece"))),
    ),
    Claim(
        "T rises",
        "The fitted temperature rises as temporal resolution falls.",
        "paper, section 4.1",
        "mean log T of SM, FP, FP+A and AS at a step minus that at the first step",
        over(PAPERS, log_temperature),
        against_first=True,
    ),
    Claim(
        "T follows the motion",
        "For the distance cost, T grows with the mean squared displacement.",
        "paper, section 4.1 and appendix",
        "log T − ½ log MSD/d at a step minus that at the first step, SM+TS, distance: T grows faster than the root of the MSD",
        lambda scene, cost: log_temperature(scene, cost, "SM") - log_motion(scene, cost) / 2,
        against_first=True,
        applies=only("distance"),
    ),
    Claim(
        "T is the motion's variance",
        "For the distance cost, T is the mean squared displacement per dimension, one to one.",
        "paper, appendix",
        "log2 of T over MSD/d, SM+TS, distance; within a factor of two",
        lambda scene, cost: (log_temperature(scene, cost, "SM") - log_motion(scene, cost)) / math.log(2),
        margin=1.0,
        applies=only("distance"),
    ),
    Claim(
        "useful as it comes",
        "Even without scaling, the entropy of plain SM tells right from wrong links.",
        "paper, section 4.2 and conclusion",
        "sparsification gain by entropy, SM",
        over(("SM",), as_tracked("gain_entropy")),
    ),
    Claim(
        "TS improves sparsification",
        "Temperature scaling mostly improves sparsification.",
        "paper, section 4.2",
        "gain with scaling minus without, mean of both criteria and SM, FP, FP+A, AS",
        over(PAPERS, both_gains),
    ),
    Claim(
        "TS makes edges of FP+A and AS useful",
        "For FP+A and AS, sparsification by the link's probability needs temperature scaling.",
        "paper, section 4.2",
        "gain by edge with scaling minus without, mean of FP+A and AS",
        over(BAYESIAN, gain_by_scaling("gain_edge")),
    ),
    Claim(
        "TS adds little to entropy of FP+A and AS",
        "For FP+A and AS, sparsification by entropy gains little from temperature scaling.",
        "paper, section 4.2",
        "gain by entropy with scaling minus without, mean of FP+A and AS; within ± 0.01",
        over(BAYESIAN, gain_by_scaling("gain_entropy")),
        margin=0.01,
    ),
    Claim(
        "TS matters for overlap",
        "For SM and FP, temperature scaling matters to sparsification for the overlap cost more than for the others.",
        "paper, section 4.2",
        "gain with scaling minus without, overlap minus the mean of distance and activity",
        overlap_against_others,
    ),
    Claim(
        "entropy needs TS less",
        "Entropy relies less on temperature scaling than the link's probability does.",
        "paper, section 4.2",
        "what scaling adds to the gain by edge minus what it adds to that by entropy, mean of SM, FP, FP+A, AS",
        minus(over(PAPERS, gain_by_scaling("gain_edge")), over(PAPERS, gain_by_scaling("gain_entropy"))),
    ),
    Claim(
        "FP+A and AS sparsify better",
        "Without scaling, FP+A and AS sparsify better than SM and FP.",
        "paper, conclusion",
        "gain by entropy, mean of FP+A and AS minus that of SM and FP",
        minus(over(BAYESIAN, as_tracked("gain_entropy")), over(CLASSIFYING, as_tracked("gain_entropy"))),
    ),
    Claim(
        "FP+A and AS need TS less",
        "FP+A and AS rely less on temperature scaling for calibration than SM and FP.",
        "paper, conclusion",
        "the fall of ECE by scaling, mean of SM and FP minus that of FP+A and AS",
        minus(over(CLASSIFYING, drop_by_scaling("ece")), over(BAYESIAN, drop_by_scaling("ece"))),
    ),
    *(slower(method) for method in ("FP", "FP+A", "AS")),
    Claim(
        "dropout rate does not matter",
        "The transformer's dropout rate shows no clear trend in calibration.",
        "paper, appendix",
        "ECE at the highest rate minus that at the lowest, mean of FP and FP+A; within ± 0.02",
        over(("FP", "FP+A"), most_dropout_against_least),
        margin=0.02,
        applies=only(LEARNT),
    ),
    *(lower_without_truth(method) for method in PAPERS),
    Claim(
        "self against TS",
        "Fitted without truth, a temperature is as good as one fitted with truth on another sequence or half.",
        OURS,
        "ECE with TS minus that of self, mean of SM, FP, FP+A and AS; within ± 0.02",
        over(PAPERS, lambda scene, cost, m: scene.value("ece", cost, m, TS) - scene.value("ece", cost, m, SELF)),
        margin=0.02,
    ),
    Claim(
        "self improves sparsification",
        "A temperature fitted without truth improves sparsification.",
        OURS,
        "gain with self minus without, mean of both criteria and SM, FP, FP+A, AS",
        over(PAPERS, sparsified_by_self),
    ),
    Claim(
        "JP self against SM+TS",
        "JP, calibrated on the movie itself without truth, has a lower calibration error than SM+TS, which has seen truth.",
        OURS,
        "ECE of SM+TS minus that of JP self",
        lambda scene, cost: scene.value("ece", cost, "SM", TS) - scene.value("ece", cost, "JP", "self"),
    ),
    Claim(
        "JP self against SM",
        "JP self decides more daughters right than the cheapest assignment, which SM reports.",
        OURS,
        "daughters decided right, JP self minus SM",
        lambda scene, cost: (
            scene.value("daughter_accuracy", cost, "JP", "self") - scene.value("daughter_accuracy", cost, "SM")
        ),
    ),
    Claim(
        "JP with truth against SM+TS",
        "JP's model fitted with truth has a lower calibration error than SM+TS fitted on the same truth.",
        OURS,
        "ECE of SM+TS minus that of JP events",
        lambda scene, cost: scene.value("ece", cost, "SM", TS) - scene.value("ece", cost, "JP", "events"),
    ),
)
