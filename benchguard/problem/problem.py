"""What a benchmark asks of a kernel, as its author writes it. Tensara's problems are accepted as they are:

    class Softmax(Problem):
        parameters = [
            {"name": "x", "type": "float", "pointer": True, "const": True},
            {"name": "y", "type": "float", "pointer": True, "const": False},
            {"name": "rows", "type": "size_t", "pointer": False, "const": False},
            ...
        ]
        def __init__(self): super().__init__("softmax")
        def reference_solution(self, x): ...
        def generate_test_cases(self): ...

docs/problems.md is the guide. Everything below the methods that Tensara has is optional.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from .arrays import NUMPY_DTYPES, torch_dtype
from .c_types import C_TYPES, ctypes_of
from .seeding import seed_of
from .tolerances import Written
from .verify import verify_by_tolerance

TestCaseDict: TypeAlias = "dict[str, Any]"
"""{"name": ..., "create_inputs": callable -> tuple of arrays and numbers, and what else the problem wants to find
in it again}."""


class Problem(ABC):
    """A kernel is called with the inputs, the outputs and the extra parameters, in this order."""

    parameters: Sequence[Mapping[str, Any]] | None = None
    """{"name", "type", "pointer", "const"} for each argument of the call. Without it get_function_signature is asked
    (Tensara's seed form), and inputs are named as reference_solution names them."""

    outputs: Sequence[str] | None = None
    """Their names, where `parameters` does not say them; default: output, or output0, output1, ..."""

    inplace: Sequence[str] = ()
    """Inputs that are written: they are checked as outputs. reference_solution returns their new values, in this
    order, before its other outputs; or it writes to what it was given (copies) and returns None."""

    constants: Sequence[str] = ()
    """Inputs that legitimately stay the same from call to call. A submission may keep what it made of them."""

    distributions: Sequence[str] | None = None
    """Of problem/distributions.py, those under which its inputs still are inputs; ("own",) forbids all but its own.
    A problem with a `draw` may have names of its own. None: all."""

    tolerances: Written | Mapping[str, Written] | None = None
    """(atol, rtol) for all outputs, or by name of an output or of a dtype. None: problem/tolerances.py's."""

    reference_dtype: Literal["float64", "native"] = "float64"
    """What reference_solution is given for inputs that are floats: float64, or what the kernel gets."""

    own_verdict: bool | None = None
    """Whether verify_result alone decides. None: if there is one, and no `tolerances`."""

    def __init__(self, name: str, time_limit: int = 100) -> None:
        self.name = name
        self.time_limit = time_limit

    @abstractmethod
    def reference_solution(self, *args: Any, **kwargs: Any) -> Any:
        """The output, or a tuple of them, for what create_inputs gave."""

    @abstractmethod
    def generate_test_cases(self, *args: Any) -> list[TestCaseDict]:
        """All test cases. In the seed form it takes a dtype."""

    def generate_sample(self, *args: Any) -> Any:  # noqa: ARG002
        """A small test case, for people; None: there is none."""
        return None

    def verify_result(
        self, expected_output: Any, actual_output: Any, *_dtype: Any
    ) -> tuple[bool, dict[str, Any]]:
        """Whether it is right and, if not, why: max_difference, mean_difference, sample_differences."""
        return verify_by_tolerance(expected_output, actual_output, self.tolerances)

    def get_function_signature(self) -> dict[str, Any]:
        """{"argtypes": [...], "restype": None}, of ctypes."""
        if not self.parameters:
            raise NotImplementedError("define `parameters`, or get_function_signature")
        argtypes = [ctypes_of(C_TYPES[each["type"]], bool(each.get("pointer"))) for each in self.parameters]
        return {"argtypes": argtypes, "restype": None}

    def get_extra_params(self, test_case: TestCaseDict) -> list[Any]:  # noqa: ARG002
        """What the kernel is given after the outputs."""
        return []

    def get_flops(self, test_case: TestCaseDict) -> int | None:  # noqa: ARG002
        """Floating point operations of one call; None: not told."""
        return None

    def supports_flops(self) -> bool:
        return type(self).get_flops is not Problem.get_flops

    def get_bytes(self, test_case: TestCaseDict) -> int | None:  # noqa: ARG002
        """Bytes that any implementation has to move between memory and chip; None: not told."""
        return None

    def get_outputs(self, test_case: TestCaseDict) -> Sequence[tuple[Sequence[int], str]] | None:  # noqa: ARG002
        """(shape, dtype) of each output that is not in place. None: reference_solution is run to see."""
        return None

    def get_tolerances(self, test_case: TestCaseDict) -> Any:  # noqa: ARG002
        """As `tolerances`, for one test case: sums over more terms may be further off."""
        return self.tolerances

    def draw(self, test_case: TestCaseDict, seed: int, distribution: str) -> Sequence[Any] | None:  # noqa: ARG002
        """Inputs, as create_inputs gives them, for a problem that makes its own. None: create_inputs' are taken."""
        return None

    def param_dtype(self, key: str | int) -> Any:
        """torch's, or numpy's, of a parameter by its name or place."""
        for place, each in enumerate(self.parameters or ()):
            if key in (place, each["name"]):
                return self.library_dtype(C_TYPES[each["type"]].dtype)
        raise KeyError(f"no parameter {key!r}")

    def library_dtype(self, dtype: Any) -> Any:
        """Of the library that the problem is written in."""
        return torch_dtype(dtype) if self.uses_torch() else NUMPY_DTYPES[dtype].type

    @classmethod
    def uses_torch(cls) -> bool:
        """Whether its module imports torch, under that name."""
        return "torch" in vars(sys.modules[cls.__module__])

    @staticmethod
    def get_seed(seed_str: str) -> int:
        """A seed that follows from a text. While secret inputs are made it follows from a secret, too."""
        return seed_of(seed_str)
