"""Judge and time submissions: benchguard.grade("problem.py", "submission.cu") -> GradeResult."""

from ..callable_package import make_callable

make_callable(__name__)
