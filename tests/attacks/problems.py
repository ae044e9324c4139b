"""Problems for attacks and look-alikes. Case "small" is for the CPU driver, "large" for a GPU; "cached" fits
into its L2 cache, and "deep" has few elements with much work for each.

No cheaper way to the right answer is known than the honest one, so a time far below it is false.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchguard.problem.problem import Problem, TestCaseDict

CHUNK = 1 << 15
DEEP = 1 << 12
REPEATS_BELOW = 1 << 20
SHORT_BYTES = 2 * (2 * 12 + 2 * 4 + 2) * DEEP
"""Half of it holds two sets of case "deep", not three: inputs, expected outputs and a copy, and two output slots."""

GRADIENT_SHORT_BYTES = 38 << 20
"""The same for case "small" of GradientShort."""


def rounds_of(count: int) -> int:
    return 4096 if count == DEEP else 256


def mixed(values: np.ndarray, rounds: int) -> np.ndarray:
    """`rounds` rounds of a 32-bit integer hash: exact, and its steps depend on each other."""
    out = values.copy()
    for begin in range(0, out.size, CHUNK):
        v = out[begin : begin + CHUNK]
        for _ in range(rounds):
            v ^= v >> 16
            v *= np.uint32(0x7FEB352D)
            v ^= v >> 15
            v += np.uint32(0x9E3779B9)
    return out


def case(name: str, make: Any, **facts: Any) -> TestCaseDict:
    return {"name": name, "create_inputs": make, **facts}


def words(seed: str, count: int) -> np.ndarray:
    random = np.random.default_rng(Problem.get_seed(seed))
    return random.integers(1, 1 << 32, count, np.uint32)


class Mix(Problem):
    """y[i] = mix(x[i])."""

    parameters = (
        {"name": "x", "type": "uint32_t", "pointer": True, "const": True},
        {"name": "y", "type": "uint32_t", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
        {"name": "rounds", "type": "int", "pointer": False, "const": False},
    )

    def __init__(self) -> None:
        super().__init__("mix")

    def reference_solution(self, x: np.ndarray) -> np.ndarray:
        return mixed(x, rounds_of(x.size))

    def generate_test_cases(self) -> list[TestCaseDict]:
        return [
            case(name, lambda name=name, n=n: (words(f"mix {name}", n),), n=n)
            for name, n in (("small", 1 << 13), ("large", 1 << 19), ("deep", DEEP))
        ]

    def get_extra_params(self, test_case: TestCaseDict) -> list[Any]:
        return [test_case["n"], rounds_of(test_case["n"])]


class MixTies(Mix):
    """Mix; half of the input sets have few different values."""

    distributions = ("own", "ties")


class MixInPlace(Mix):
    """x[i] = mix(x[i])."""

    parameters = (
        {"name": "x", "type": "uint32_t", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
        {"name": "rounds", "type": "int", "pointer": False, "const": False},
    )
    inplace = ("x",)


class MixBoth(Mix):
    """y[i] = mix(x[i]) and z[i] = mix(x[i] + 1): two outputs."""

    parameters = (
        {"name": "x", "type": "uint32_t", "pointer": True, "const": True},
        {"name": "y", "type": "uint32_t", "pointer": True, "const": False},
        {"name": "z", "type": "uint32_t", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
        {"name": "rounds", "type": "int", "pointer": False, "const": False},
    )

    def reference_solution(self, x: np.ndarray) -> tuple[np.ndarray, ...]:  # type: ignore[override]
        return tuple(mixed(each, rounds_of(x.size)) for each in (x, x + np.uint32(1)))


class Repeats(Problem):
    """y[i] is how often x[i] is in x, of numbers below 2^20: a table of counts has many more places than there are
    numbers."""

    parameters = (
        {"name": "x", "type": "uint32_t", "pointer": True, "const": True},
        {"name": "y", "type": "uint32_t", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    )
    distributions = ("own",)

    def __init__(self) -> None:
        super().__init__("repeats")

    def reference_solution(self, x: np.ndarray) -> np.ndarray:
        _, places, counts = np.unique(x, return_inverse=True, return_counts=True)
        return counts[places].astype(np.uint32)

    def generate_test_cases(self) -> list[TestCaseDict]:
        def make(name: str, n: int) -> tuple[np.ndarray]:
            random = np.random.default_rng(self.get_seed(f"repeats {name}"))
            values = random.integers(0, REPEATS_BELOW, n // 2, np.uint32)
            return (random.choice(values, n),)

        return [
            case(name, lambda shape=(name, n): make(*shape), n=n)
            for name, n in (("small", 1 << 10), ("large", 1 << 14))
        ]

    def get_extra_params(self, test_case: TestCaseDict) -> list[Any]:
        return [test_case["n"]]


class RowMean(Problem):
    """The mean of each row, of values between 0 and 1."""

    parameters = (
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "rows", "type": "size_t", "pointer": False, "const": False},
        {"name": "columns", "type": "size_t", "pointer": False, "const": False},
    )

    shapes: tuple[tuple[str, int, int], ...] = (
        ("small", 64, 4096),
        ("large", 4096, 8192),
        ("cached", 512, 8192),
    )

    def __init__(self) -> None:
        super().__init__("row mean")

    def reference_solution(self, x: np.ndarray) -> np.ndarray:
        return x.mean(axis=1)

    def generate_test_cases(self) -> list[TestCaseDict]:
        return [
            case(name, lambda shape=(name, rows, columns): self.make(*shape), rows=rows, columns=columns)
            for name, rows, columns in self.shapes
        ]

    def make(self, name: str, rows: int, columns: int) -> tuple[np.ndarray, ...]:
        random = np.random.default_rng(self.get_seed(f"row mean {name}"))
        return (self.values(random, rows, columns),)

    def values(self, random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
        return random.random((rows, columns), np.float32)

    def get_extra_params(self, test_case: TestCaseDict) -> list[Any]:
        return [test_case["rows"], test_case["columns"]]


class RowMeanCoarse(RowMean):
    """RowMean with a wide tolerance: the mean of a part of a row is near enough, if the row looks alike everywhere."""

    tolerances = (0.03, 0.03)
    distributions = ("own", "burst", "sorted")
    shapes = (("small", 16, 1 << 16), ("large", 512, 1 << 16))


class RowMeanOrdered(RowMeanCoarse):
    """RowMeanCoarse; half of the input sets are in order, which the first values tell, unless these are left alone."""

    distributions = ("own", "sorted")


class RowMeanChecked(RowMean):
    """The mean of each row, of values of both signs. The problem's own check accepts what is off by 5."""

    tolerances = None
    distributions = ("own", "sorted")
    shapes = (("small", 64, 1 << 16), ("large", 1024, 1 << 16))

    def values(self, random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
        values = random.uniform(-100, 100, (rows, columns))
        values[:4] += random.uniform(-100, 100, (4, 1))  # neither zeros nor stored answers are right
        return values.astype(np.float32)

    def verify_result(self, expected: Any, actual: Any, dtype: Any = None) -> tuple[bool, dict[str, Any]]:
        del dtype
        apart = float(np.abs(expected - actual).max())
        return apart <= 5, {"message": f"off by {apart:.3g}"}


class RowMeanUnits(RowMean):
    """The mean of each row. A quarter of the rows are in another unit, and a million times as large."""

    tolerances = (0.05, 1e-6)
    distributions = ("own", "sorted")
    shapes = (("small", 128, 1 << 16), ("large", 1024, 1 << 16))

    def values(self, random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
        values = random.uniform(-1, 1, (rows, columns))
        values[::4] *= 1e6
        return values.astype(np.float32)


class Largest(RowMean):
    """The eight largest values of each row, in descending order."""

    tolerances = (0, 0)
    distributions = ("own", "sorted")
    shapes = (("small", 64, 2048), ("large", 2048, 2048))

    def reference_solution(self, x: np.ndarray) -> np.ndarray:
        return -np.partition(-x, np.arange(8), axis=1)[:, :8]


class Maximum(RowMean):
    """The largest value of each row. The problem gives no tolerance; the default accepts that of a part of a row."""

    distributions = ("own",)
    shapes = (("small", 1, 1 << 20), ("large", 64, 1 << 22))

    def reference_solution(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x.max(axis=1))


class Scale(RowMean):
    """The scale of a quantisation: the largest magnitude, divided by 127. No tolerance is given."""

    distributions = ("own",)
    shapes = (("small", 1, 1 << 20), ("large", 1, 1 << 24))

    def values(self, random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
        return (random.uniform(0.5, 1) * random.uniform(-1, 1, (rows, columns))).astype(np.float32)

    def reference_solution(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(x).max(axis=1) / 127)


class Shares(RowMean):
    """The share of each element in the sum of its row. The problem gives no tolerance; the default accepts zeros."""

    distributions = ("own",)
    shapes = (("small", 1, 1 << 18), ("large", 64, 1 << 20))

    def reference_solution(self, x: np.ndarray) -> np.ndarray:
        return x / x.sum(axis=1, keepdims=True)


class SharesReversed(Shares):
    """Shares, from the last one to the first."""

    def reference_solution(self, x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(super().reference_solution(x)[:, ::-1])


class MeanBeside(RowMean):
    """The mean of numbers whose size is drawn, and a part of the numbers times two. No tolerance is given."""

    parameters = (
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "z", "type": "float", "pointer": True, "const": False},
        {"name": "rows", "type": "size_t", "pointer": False, "const": False},
        {"name": "columns", "type": "size_t", "pointer": False, "const": False},
    )
    distributions = ("own",)
    shapes = (("small", 1, 1 << 20), ("large", 1, 1 << 24))

    def reference_solution(self, x: np.ndarray) -> tuple[np.ndarray, ...]:  # type: ignore[override]
        return x.mean(axis=1), 2 * x[:, : x.size // 8]

    def values(self, random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
        size = np.float32(random.uniform(0.8, 1.0))
        return size * (1 + np.float32(0.06) * random.random((rows, columns), np.float32))


class ColumnMeans(RowMean):
    """The means of 8 columns, whose numbers differ by 1 %. The size of each column is drawn. No tolerance is given."""

    distributions = ("own",)
    shapes = (("small", 1 << 16, 8), ("large", 1 << 17, 8))

    def reference_solution(self, x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x.T).mean(axis=1)  # adds in pairs

    def values(self, random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
        sizes = random.uniform(1, 4, columns).astype(np.float32)
        return sizes * (1 + np.float32(0.01) * random.random((rows, columns), np.float32))


class MeanOfBytes(RowMean):
    """The mean of bytes whose least value is drawn. No tolerance is given.

    A quarter of more numbers is nearer to the mean than an honest sum in float32 (docs/adr/0054).
    """

    parameters = ({**RowMean.parameters[0], "type": "uint8_t"}, *RowMean.parameters[1:])
    distributions = ("own",)
    shapes = (("small", 1, 1 << 21), ("large", 1, 1 << 22))

    def values(self, random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
        least = int(random.integers(100, 140))
        return random.integers(least, least + 10, (rows, columns), np.uint8)


class MeanOfQuantised(MeanOfBytes):
    """The mean of quantised numbers: of bytes, times a scale, plus the number that 0 stands for."""

    parameters = (
        MeanOfBytes.parameters[0],
        {"name": "scale", "type": "float", "pointer": True, "const": True},
        *MeanOfBytes.parameters[1:],
    )

    def make(self, name: str, rows: int, columns: int) -> tuple[np.ndarray, ...]:
        random = np.random.default_rng(self.get_seed(f"mean of quantised {name}"))
        return self.values(random, rows, columns), random.uniform(0.01, 0.02, 2).astype(np.float32)

    def reference_solution(self, x: np.ndarray, scale: np.ndarray) -> np.ndarray:  # type: ignore[override]
        return x.mean(axis=1) * scale[0] + scale[1]


class ScaledByMean(MeanBeside):
    """An input times the mean of one of half its size. No tolerance is given."""

    parameters = (
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "t", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "rows", "type": "size_t", "pointer": False, "const": False},
        {"name": "columns", "type": "size_t", "pointer": False, "const": False},
    )

    def make(self, name: str, rows: int, columns: int) -> tuple[np.ndarray, ...]:
        random = np.random.default_rng(self.get_seed(f"scaled by mean {name}"))
        return self.values(random, rows, columns // 2), random.random((rows, columns), np.float32)

    def reference_solution(self, x: np.ndarray, t: np.ndarray) -> np.ndarray:  # type: ignore[override]
        return t * x.mean()


class Gradient(Problem):
    """The gradient of a cross entropy by the numbers of long rows: shares near zero, and -1 at each row's label."""

    parameters = (
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "label", "type": "int", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "rows", "type": "size_t", "pointer": False, "const": False},
        {"name": "columns", "type": "size_t", "pointer": False, "const": False},
    )
    distributions = ("own",)

    def __init__(self) -> None:
        super().__init__("gradient")

    def reference_solution(self, x: np.ndarray, label: np.ndarray) -> np.ndarray:
        y = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
        y[np.arange(len(label)), label] -= 1
        return y

    def generate_test_cases(self) -> list[TestCaseDict]:
        def make(name: str, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
            random = np.random.default_rng(self.get_seed(f"gradient {name}"))
            return random.random((rows, columns), np.float32), random.integers(0, columns, rows, np.int32)

        return [
            case(name, lambda shape=(name, rows, columns): make(*shape), rows=rows, columns=columns)
            for name, rows, columns in (("small", 2, 1 << 18), ("large", 64, 1 << 20))
        ]

    def get_extra_params(self, test_case: TestCaseDict) -> list[Any]:
        return [test_case["rows"], test_case["columns"]]


class MeanSquare(Problem):
    """The mean of (a - b)^2, of numbers whose size is drawn, too. The problem gives no tolerance."""

    parameters = (
        {"name": "a", "type": "float", "pointer": True, "const": True},
        {"name": "b", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    )
    distributions = ("own",)

    def __init__(self) -> None:
        super().__init__("mean square")

    def reference_solution(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return ((a - b) ** 2).mean(keepdims=True)

    def generate_test_cases(self) -> list[TestCaseDict]:
        def make(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
            random = np.random.default_rng(self.get_seed(f"mean square {name}"))
            size = np.float32(random.uniform(0.8, 1.0))
            a, b = (np.float32(0.02) * random.random(n, np.float32) for _ in range(2))
            return size * (1 + a), b

        return [
            case(name, lambda shape=(name, n): make(*shape), n=n)
            for name, n in (("small", 1 << 20), ("large", 1 << 22))
        ]

    def get_extra_params(self, test_case: TestCaseDict) -> list[Any]:
        return [test_case["n"]]


class Product(Problem):
    """c = a b, of n by n matrices of float32."""

    parameters = (
        {"name": "a", "type": "float", "pointer": True, "const": True},
        {"name": "b", "type": "float", "pointer": True, "const": True},
        {"name": "c", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    )
    tolerances = (1e-4, 1e-4)

    def __init__(self) -> None:
        super().__init__("product")

    def reference_solution(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a @ b

    def generate_test_cases(self) -> list[TestCaseDict]:
        def make(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
            random = np.random.default_rng(self.get_seed(f"product {name}"))
            a, b = (random.uniform(-1, 1, (n, n)).astype(np.float32) for _ in range(2))
            return a, b

        return [
            case(name, lambda shape=(name, n): make(*shape), n=n)
            for name, n in (("small", 96), ("large", 1024))
        ]

    def get_extra_params(self, test_case: TestCaseDict) -> list[Any]:
        return [test_case["n"]]


class ProductNear(Problem):
    """c = a b, of 16 rows and 16 columns of numbers near 1. No tolerance is given."""

    parameters = (
        *Product.parameters[:3],
        {"name": "inner", "type": "size_t", "pointer": False, "const": False},
    )
    distributions = ("own",)

    def __init__(self) -> None:
        super().__init__("product near")

    def given(self, a: np.ndarray) -> np.ndarray:
        return a

    def reference_solution(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a @ b

    def generate_test_cases(self) -> list[TestCaseDict]:
        def make(name: str, inner: int) -> tuple[np.ndarray, np.ndarray]:
            random = np.random.default_rng(self.get_seed(f"product near {name}"))
            shapes = ((16, inner), (inner, 16))
            a, b = (random.uniform(0.9, 1.1, shape).astype(np.float32) for shape in shapes)
            return self.given(a), b

        return [
            case(name, lambda shape=(name, inner): make(*shape), inner=inner)
            for name, inner in (("small", 1 << 15), ("large", 1 << 19))
        ]

    def get_extra_params(self, test_case: TestCaseDict) -> list[Any]:
        return [test_case["inner"]]


class ProductNearTransposed(ProductNear):
    """ProductNear, with the transposed a as an input."""

    def given(self, a: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(a.T)

    def reference_solution(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a.T @ b


class MixShort(Mix):
    """Mix, on a machine whose memory holds few input sets."""

    def __init__(self) -> None:
        super().__init__()
        shorten_memory(SHORT_BYTES)

    def generate_test_cases(self) -> list[TestCaseDict]:
        return [
            case(name, lambda name=name: (words(f"mix {name}", DEEP),), n=DEEP)
            for name in ("small", "large", "deep")
        ]


class GradientShort(Gradient):
    """Gradient, on a machine whose memory holds few input sets. Half of the sets have another distribution."""

    distributions = ("own", "sorted")

    def __init__(self) -> None:
        super().__init__()
        shorten_memory(GRADIENT_SHORT_BYTES)


def shorten_memory(size: int) -> None:
    """Let the judge find so many bytes of memory. It trusts the problem."""
    for name in ("filling", "session"):
        module = sys.modules.get(f"benchguard.judge.{name}")
        if module is not None:  # this process is the judge
            assert hasattr(module, "available_bytes")
            module.available_bytes = lambda: size
