"""Whether a change left results as they were: hashes of outputs, made before it and compared after.

    DUNNO_DATA=... python -m benchmarks.same_bytes --baseline FILE [--make] [--quick] [--only WORDS] [--keep FOLDER]

With `--make` the hashes go into FILE; without it they are compared with those in it, and the exit code is 1 where one differs.
`--quick` takes HeLa 01 and iPSC-07 02 with three choices, `--only` the runs whose name holds one of some words (commas between).
Each run is `dunno track` in a process of its own; hashed are its tables, tracks.geff and calibration.json. The last line compares
seconds of processor. Hashes hold for one machine: floating point differs elsewhere.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

HASHED = ("edges.csv", "detections.csv", "tracks.csv", "tracks.geff", "calibration.json")

CHOICES = {
    "default": [],
    "gap2": ["--max-gap", "2"],
    "overlap-AS": ["--cost", "overlap", "--method", "AS"],
    "every10": ["--every", "10"],
    "links": ["--links"],
}
QUICK = ("HeLa-01", "iPSC-07-02"), ("default", "gap2", "overlap-AS")
TWICE = ("HeLa-01", "iPSC-07-02")
"""Movies that are also tracked by two workers, and resumed."""

SPOILED_SEED, EMBRYO_FRAMES = 0, 200


def main() -> None:
    """Make the hashes, or compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--baseline", type=Path, required=True)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    data, known = Path(os.environ["DUNNO_DATA"]), {}
    if not given.make or given.baseline.exists():
        known = json.loads(given.baseline.read_text())
    work = given.keep or Path(tempfile.mkdtemp(prefix="same-bytes-"))
    work.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, arguments in runs(data, given.baseline.resolve().parent, given.quick):
        if given.only and not any(word in name for word in given.only.split(",")):
            continue
        found[name] = tracked(name, arguments, work)
        print(f"{name:28s} {found[name]['seconds']:6.1f} s {verdict(found[name], known.get(name))}", flush=True)
        if given.make:
            given.baseline.write_text(json.dumps(known | found, indent=1) + "\n")
    if given.keep is None:
        shutil.rmtree(work)
    if not given.make:
        compare(found, known)


def runs(data: Path, place: Path, quick: bool) -> list[tuple[str, list[str]]]:
    """Each run's name and the command line's arguments."""
    listed = []
    for movie, words in movies(data, place).items():
        if quick and movie not in QUICK[0]:
            continue
        for choice, more in CHOICES.items():
            points = movie.startswith("embryo")
            if (quick and choice not in QUICK[1]) or (points and choice in ("overlap-AS", "links")):
                continue
            links = [str(place / f"links-{movie}.csv")] if choice == "links" else []
            listed.append((f"{movie} {choice}", [*words, *more, *links]))
        if movie in TWICE and not quick:
            listed.append((f"{movie} default 2 workers", [*words, "--workers", "2"]))
            listed.append((f"{movie} default resumed", [*words, "--resume"]))
    return listed


def movies(data: Path, place: Path) -> dict[str, list[str]]:
    """By name, what `dunno track` is told of each movie."""
    found = {
        "HeLa-01": [data / "Fluo-N2DL-HeLa/01", "--masks", data / "Fluo-N2DL-HeLa/01_ST/SEG"],
        "HeLa-02": [data / "Fluo-N2DL-HeLa/02", "--masks", data / "Fluo-N2DL-HeLa/02_ST/SEG"],
        "PSC-01": [data / "PhC-C2DL-PSC/01_ST/SEG"],
        **{f"iPSC-07-0{n}": [data / f"iPSC-07/0{n}_RES"] for n in (1, 2, 3)},
        "HeLa-02-spoiled": [spoiled(data, place)],
        "Cglut": [data / "Cglut-2min/01", "--masks", data / "Cglut-2min/01_GT/TRA"],
        "embryo": [embryo(data, place), "--scale", "1,1,1"],
    }
    return {name: list(map(str, words)) for name, words in found.items()}


def spoiled(data: Path, place: Path) -> Path:
    """HeLa 02 with heavy faults, as a stack."""
    path = place / f"hela-02-heavy-{SPOILED_SEED}.tif"
    if not path.exists():
        import tifffile

        from benchmarks.mask_sets import FAULTS
        from dunno import read
        from dunno.simulate import spoil

        movie, truth = read(data / "Fluo-N2DL-HeLa/02", truth=True)
        masks = spoil(movie, truth, FAULTS["heavy"], SPOILED_SEED).movie
        tifffile.imwrite(path, np.stack([np.asarray(masks.masks(t)) for t in range(len(masks))]).astype(np.uint16))
    return path


def embryo(data: Path, place: Path) -> Path:
    """The embryo's first frames."""
    path = place / "embryo.csv"
    if not path.exists():
        head, *rows = (data / "Celegans-embryo/points.csv").read_text().splitlines()
        column = head.split(",").index("frame")
        path.write_text("\n".join([head, *(row for row in rows if int(row.split(",")[column]) < EMBRYO_FRAMES)]) + "\n")
    return path


def tracked(name: str, arguments: list[str], work: Path) -> dict[str, Any]:
    """The hashes of one run, and what it took."""
    out = work / name.replace(" ", "-")
    shutil.rmtree(out, ignore_errors=True)
    if "--links" in arguments:
        make_links(Path(arguments[-1]), work / name.replace(" links", "-default"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "dunno", "track", *arguments, "-o", str(out), "--quiet"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if "--workers" not in arguments:
        command += ["--workers", "1"]
    if "--resume" in arguments:
        interrupt(command, out, environment)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return {"failed": done.stderr[-400:], "seconds": 0.0}
    hashes = {each: hashed(out / each) for each in HASHED if (out / each).exists()}
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**hashes, "seconds": round(seconds, 2)}


def interrupt(command: list[str], out: Path, environment: dict[str, str]) -> None:
    """Kill a run once it has finished its first block."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    blocks = out.with_name(out.name + ".partial") / "pairs"
    while process.poll() is None and not (blocks.exists() and any(blocks.glob("*.npz"))):
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    process.wait()
    shutil.rmtree(out, ignore_errors=True)


def make_links(path: Path, default: Path) -> None:
    """Every selected link of the default run but each seventh, which is somebody else's opinion then."""
    if not path.exists():
        head, *rows = (default / "edges.csv").read_text().splitlines()
        kept = [row for row in rows if row.split(",")[head.split(",").index("selected")].lower() in ("1", "true")]
        columns = [head.split(",").index(word) for word in ("mother_frame", "mother", "frame", "daughter")]
        lines = [",".join(row.split(",")[k] for k in columns) for n, row in enumerate(kept) if n % 7]
        path.write_text("\n".join(["mother_frame,mother,frame,daughter", *lines]) + "\n")


def hashed(path: Path) -> str:
    """Of a file, or of all files of a folder with their names."""
    digest = hashlib.sha256()
    for file in sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]:
        digest.update(str(file.relative_to(path)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def verdict(found: dict[str, Any], known: dict[str, Any] | None) -> str:
    """What differs, in words."""
    if "failed" in found:
        return "FAILED " + found["failed"]
    if known is None:
        return "new"
    wrong = [name for name in HASHED if found.get(name) != known.get(name)]
    return "DIFFERS: " + ", ".join(wrong) if wrong else "same"


def compare(found: dict[str, Any], known: dict[str, Any]) -> None:
    """Say how much time it took against the baseline, and fail where bytes differ."""
    both = [name for name in found if name in known and known[name]["seconds"]]
    now, then = (sum(each[name]["seconds"] for name in both) for each in (found, known))
    print(f"{now:.1f} s of processor, {then:.1f} s at the baseline: {now / max(then, 1e-9):.3f}")
    if any(verdict(found[name], known.get(name)) != "same" for name in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
