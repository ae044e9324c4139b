"""Time captures in clean processes: benchguard.replay("x.ncap") -> ReplayResult."""

from ..callable_package import make_callable

# A strict replay has the checks of a grade, which is a higher layer.
make_callable(__name__, "benchguard.grade.strict_replay")
