import numpy as np

from benchguard import Problem


class Softmax(Problem):
    def __init__(self):
        super().__init__(name="softmax")

    parameters = [
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "rows", "type": "size_t", "pointer": False, "const": False},
        {"name": "columns", "type": "size_t", "pointer": False, "const": False},
    ]

    def reference_solution(self, x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def generate_test_cases(self):
        return [
            {
                "name": name,
                "m": m,
                "n": n,
                "create_inputs": lambda m=m, n=n: (np.random.randn(m, n).astype(np.float32),),
            }
            for name, m, n in (("small", 64, 512), ("large", 4096, 8192))
        ]

    def verify_result(self, expected, actual):
        return bool(np.allclose(expected, actual, atol=1e-6, rtol=1e-4)), {}

    def get_flops(self, tc):
        return 5 * tc["m"] * tc["n"]

    def get_bytes(self, tc):
        return 8 * tc["m"] * tc["n"]

    def get_extra_params(self, tc):
        return [tc["m"], tc["n"]]
