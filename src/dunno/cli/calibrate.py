"""`dunno calibrate`: fit a calibration on an annotated movie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from dunno.cli.console import say, show, table
from dunno.cli.movie_options import with_options
from dunno.cli.tracker_options import TrackerOptions
from dunno.errors import InputError


def calibrate(
    choices: TrackerOptions,
    output: Annotated[Path, Option("--output", "-o", help="Calibration file to write (.json).")],
    temperature: Annotated[
        bool, Option("--temperature", help="With method JP: fit the paper's temperature instead of the model.")
    ] = False,
    include_no_mother: Annotated[
        bool,
        Option("--include-no-mother", help="When fitting a temperature, include cells that truly have no mother."),
    ] = False,
    tune: Annotated[bool, Option("--tune", help="Also find the best strength of the perturbation.")] = False,
    from_review: Annotated[
        Path | None,
        Option(
            metavar="OUT",
            help="Fit on the answers of a review (`dunno review OUT`) instead of a movie with truth.",
        ),
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an earlier file.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
    as_json: Annotated[bool, Option("--json", help="Print the calibration as JSON.")] = False,
) -> None:
    """Fit a calibration on a movie with truth, or on the answers of a review."""
    from dunno.calibration import TemperatureScaling, fit_event_costs
    from dunno.calibration.with_truth import tune_perturbation
    from dunno.io import read
    from dunno.io.writing import check_output

    check_output(output, overwrite)
    if from_review is not None:
        _check_choices(choices, tune or include_no_mother)
        _calibrate_on_review(from_review, choices.masks, output, temperature, overwrite, quiet, as_json)
        return
    if choices.no_divisions:
        raise InputError(
            "--no-divisions is for dunno track, whose own calibration knows of it; here the truth says who divides"
        )
    if choices.movie is None:
        raise InputError("give a MOVIE with truth, or the output of a review: --from-review OUT")
    movie, truth = read(choices.movie, truth=True, **choices.reading())
    movie, truth = movie.every(choices.every), truth.every(choices.every)
    tracker = choices.make_tracker(calibration=None)
    if tune:
        tried = tune_perturbation(tracker, movie, truth)
        if not quiet:
            _show_tuning(tried)
        best = min(tried, key=lambda each: each.loss).perturbation
        tracker = choices.make_tracker(calibration=None, perturbation=best)
    tracking = tracker.track(movie)
    fitted: Any
    if tracker.method.joint and not temperature:
        fitted = fit_event_costs(tracking, truth)
    else:
        fitted = TemperatureScaling.fit(tracking, truth, include_no_mother=include_no_mother)
    fitted.save(output, overwrite)
    if as_json:
        say(json.dumps(json.loads(output.read_text()), indent=2))
    elif not quiet:
        _show(fitted, output)


command = with_options(calibrate, TrackerOptions, movie_may_be_left_out=True)


def _check_choices(choices: TrackerOptions, others: bool) -> None:
    """What OUT was made with is known: nothing of it can be chosen again."""
    plain = TrackerOptions(choices.movie, masks=choices.masks)
    if others or choices.movie is not None or choices != plain:
        raise InputError(
            "--from-review takes the movie, the cost and all else from OUT; leave out MOVIE and those options "
            "(--masks says where the masks are now, if they have moved)"
        )


def _calibrate_on_review(
    folder: Path,
    masks: Path | None,
    output: Path,
    temperature: bool,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    from dunno.review import Review
    from dunno.review.learning import learn

    with Review.open(folder, masks=masks, read_only=True) as review:
        learnt = learn(review, temperature=temperature)
    learnt.calibration.save(output, overwrite)
    if as_json:
        say(json.dumps(json.loads(output.read_text()), indent=2))
    elif not quiet:
        _show_learnt(learnt, output)


def _show_learnt(learnt: Any, output: Path) -> None:
    rows = [
        (name.replace("_", " "), f"{value:.4g}", f"{low:.4g} – {high:.4g}" if low == low else "")
        for name, (value, low, high) in learnt.values.items()  # the softening has no interval
    ]
    kind = learnt.calibration.describe()["kind"]
    show(table(f"{kind}, fitted on a review", ("", "fitted", "95 % interval"), rows))
    left_out = "".join(f", {count} {why}" for why, count in learnt.left_out.items() if count)
    say(f"{learnt.answers} answers, worth {learnt.effective:.0f} drawn at random{left_out}")
    if not learnt.enough:
        say("that is few: the intervals are wide, and the fit leans on what the output was made with")
    say(f"written to {output}; use it with: dunno track MOVIE -o OUT --calibration {output}")


def _show(fitted: Any, output: Path) -> None:
    title = f"{fitted.describe()['kind']}, fitted on {fitted.fitted_for['movie']}"
    show(table(title, (), _rows(fitted), show_header=False))
    say(f"written to {output}; use it with: dunno track MOVIE -o OUT --calibration {output}")


def _rows(fitted: Any) -> list[tuple[str, str]]:
    """What to tell about a calibration of any kind."""
    rows = [(name.replace("_", " "), value) for name, value in fitted.rows()]
    before, after = fitted.losses
    return [*rows, ("−log P(truth)", f"{before:.4f} before, {after:.4f} after")]


def _show_tuning(tried: Any) -> None:
    best = min(tried, key=lambda each: each.loss)
    rows = [(str(each.perturbation), f"{each.loss:.4f}" + (" ←" if each is best else "  ")) for each in tried]
    show(table("held-out −log P(true mother)", ("perturbation", "loss"), rows, left=("perturbation",)))
