"""What can go wrong, as one small tree.

```
DunnoError
├── InputError        a file, folder or argument of the user's is wrong; the command line exits with code 2
│   ├── MovieError    masks or images that cannot be read as a movie
│   ├── TruthError    annotations that contradict themselves or their masks
│   ├── ProblemError  an assignment problem that is malformed
│   ├── OutputError   results that cannot be written where they should go
│   └── DecisionError a person's decision that cannot be: it contradicts others, or names no cell
├── WorkerLost        a worker of a pool or cluster has gone; what was finished is kept
└── MissingExtra      an optional package is not installed; the message holds the `pip install` line

DunnoWarning          something worth knowing that does not stop the work
```

Every message says what came, what was expected and what to do. Errors take one message, so that they survive
the journey from a worker process.
"""


class DunnoError(Exception):
    """The root of all errors that dunno raises on purpose."""


class InputError(DunnoError):
    """What the user gave is wrong."""


class MovieError(InputError):
    """Masks or images cannot be read as a movie."""


class TruthError(InputError):
    """Annotations contradict themselves or their masks."""


class ProblemError(InputError, ValueError):
    """An assignment problem is malformed."""


class OutputError(InputError):
    """Results cannot be written where they should go."""


class DecisionError(InputError):
    """A person's decision cannot be: it contradicts others, or names no cell."""


class WorkerLost(DunnoError):
    """A worker of a pool or cluster has gone, and its work with it."""


class MissingExtra(DunnoError):
    """An optional package is not installed."""


def too_little(error: MemoryError) -> str:
    """What to say where the memory is not enough."""
    said = " ".join(str(error).split()) or "no more could be had"
    helps = "a smaller part (--region, --frames), a smaller gate (--max-distance), fewer --workers, more --memory"
    return f"the memory is not enough ({said}); what helps: {helps}"


class DunnoWarning(UserWarning):
    """Something the user should know; the work goes on."""
