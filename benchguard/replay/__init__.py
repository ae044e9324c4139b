"""Time captures in clean processes: benchguard.replay("x.ncap") -> ReplayResult."""

from ..callable_package import make_callable

make_callable(__name__)
