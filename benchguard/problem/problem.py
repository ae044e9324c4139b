"""The base class for problems. Tensara's problems work unchanged:

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

docs/problems.md is the guide. Methods after those of Tensara are optional.
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
"""{"name": ..., "create_inputs": callable -> tuple of arrays and numbers}, and entries for the problem's own use."""


class Problem(ABC):
    """A problem. Kernels are called with the inputs, the outputs and the extra parameters, in this order."""

    parameters: Sequence[Mapping[str, Any]] | None = None
    """{"name", "type", "pointer", "const"} for each argument of the call.

    Without it, get_function_signature is called (Tensara's seed form), and inputs have the names of
    reference_solution's parameters.
    """

    outputs: Sequence[str] | None = None
    """Names of outputs, if `parameters` lacks them; default: output, or output0, output1, ..."""

    inplace: Sequence[str] = ()
    """Inputs that the kernel updates in place, and that are checked as outputs.

    reference_solution returns their new values, in this order, before its other outputs; or it updates its arguments,
    which are copies, and returns None.
    """

    constants: Sequence[str] = ()
    """Inputs that are equal in all calls. A submission may cache results computed from them."""

    distributions: Sequence[str] | None = None
    """Names from problem/distributions.py that give valid inputs; ("own",) allows only the problem's own values.

    A problem with a `draw` method may define other names. None: all.
    """

    tolerances: Written | Mapping[str, Written] | None = None
    """(atol, rtol) for all outputs, or by name of an output or of a dtype. None: those of problem/tolerances.py."""

    reference_dtype: Literal["float64", "native"] = "float64"
    """The dtype of float inputs to reference_solution: float64, or the kernel's own."""

    own_verdict: bool | None = None
    """Whether only verify_result decides. None: it does if it is defined and `tolerances` is not."""

    zero_outputs: bool = False
    """Whether each call begins with zeros in the outputs, to which submissions may add. False: noise."""

    def __init__(self, name: str, time_limit: int = 100) -> None:
        self.name = name
        self.time_limit = time_limit

    @abstractmethod
    def reference_solution(self, *args: Any, **kwargs: Any) -> Any:
        """The output, or a tuple of outputs, for the result of create_inputs."""

    @abstractmethod
    def generate_test_cases(self, *args: Any) -> list[TestCaseDict]:
        """All test cases. In the seed form it takes a dtype."""

    def generate_sample(self, *args: Any) -> Any:  # noqa: ARG002
        """A small test case for debugging; None if the problem has none."""
        return None

    def verify_result(
        self, expected_output: Any, actual_output: Any, *_dtype: Any
    ) -> tuple[bool, dict[str, Any]]:
        """Whether the output is right, and details if not: max_difference, mean_difference, sample_differences."""
        return verify_by_tolerance(expected_output, actual_output, self.tolerances)

    def get_function_signature(self) -> dict[str, Any]:
        """{"argtypes": [...], "restype": None}, with types of ctypes."""
        if not self.parameters:
            raise NotImplementedError("define `parameters`, or get_function_signature")
        argtypes = [ctypes_of(C_TYPES[each["type"]], bool(each.get("pointer"))) for each in self.parameters]
        return {"argtypes": argtypes, "restype": None}

    def get_extra_params(self, test_case: TestCaseDict) -> list[Any]:  # noqa: ARG002
        """Arguments of the kernel after the outputs."""
        return []

    def get_flops(self, test_case: TestCaseDict) -> int | None:  # noqa: ARG002
        """Floating point operations of one call; None: unknown."""
        return None

    def supports_flops(self) -> bool:
        return type(self).get_flops is not Problem.get_flops

    def get_bytes(self, test_case: TestCaseDict) -> int | None:  # noqa: ARG002
        """Bytes that all implementations must move between memory and chip; None: unknown."""
        return None

    def get_outputs(self, test_case: TestCaseDict) -> Sequence[tuple[Sequence[int], str]] | None:  # noqa: ARG002
        """(shape, dtype) of each output that is not in place. None: run reference_solution to find out."""
        return None

    def get_tolerances(self, test_case: TestCaseDict) -> Any:  # noqa: ARG002
        """Like `tolerances`, for one test case: sums of more terms may have larger errors."""
        return self.tolerances

    def draw(self, test_case: TestCaseDict, seed: int, distribution: str) -> Sequence[Any] | None:  # noqa: ARG002
        """Inputs in the form of create_inputs, for a problem with its own distributions. None: use create_inputs."""
        return None

    def param_dtype(self, key: str | int) -> Any:
        """The dtype of a parameter, given by name or place, in torch or numpy."""
        for place, each in enumerate(self.parameters or ()):
            if key in (place, each["name"]):
                return self.library_dtype(C_TYPES[each["type"]].dtype)
        raise KeyError(f"no parameter {key!r}")

    def library_dtype(self, dtype: Any) -> Any:
        """A dtype in the problem's library, torch or numpy."""
        return torch_dtype(dtype) if self.uses_torch() else NUMPY_DTYPES[dtype].type

    @classmethod
    def uses_torch(cls) -> bool:
        """Whether the problem's module imports torch as `torch`."""
        return "torch" in vars(sys.modules[cls.__module__])

    @staticmethod
    def get_seed(seed_str: str) -> int:
        """A seed derived from a text, and while secret inputs are made from a secret too."""
        return seed_of(seed_str)
