# A challenge in LeetGPU's form, of our own writing.
import ctypes

import torch
from core.challenge_base import ChallengeBase, FullTensor, OutTensor, RandTensor


class Challenge(ChallengeBase):
    name = "Scale"
    atol = 1e-05
    rtol = 1e-05
    num_gpus = 1
    access_tier = "free"

    def reference_impl(self, x, weights, out, seen, factor, n):
        assert x.shape == (n,)
        out.copy_(x * weights * factor)
        seen += 1

    def get_solve_signature(self):
        return {
            "x": (ctypes.POINTER(ctypes.c_float), "in"),
            "weights": (ctypes.POINTER(ctypes.c_float), "in"),
            "out": (ctypes.POINTER(ctypes.c_float), "out"),
            "seen": (ctypes.POINTER(ctypes.c_int), "inout"),
            "factor": (ctypes.c_float, "in"),
            "n": (ctypes.c_size_t, "in"),
        }

    def test(self, n, factor, x):
        return {
            "x": x,
            "weights": FullTensor((n,), 3.0),
            "out": OutTensor((n,)),
            "seen": torch.arange(4, dtype=torch.int32, device=self.device),
            "factor": factor,
            "n": n,
        }

    def generate_functional_test(self):
        return [
            self.test(3, 2.0, torch.tensor([1.0, 2.0, 3.0], device=self.device)),
            self.test(40, 0.5, RandTensor((40,), -1, 1)),
        ]

    def generate_performance_test(self):
        return self.test(1000, 1.5, torch.empty(1000, device=self.device).uniform_(-1, 1))
