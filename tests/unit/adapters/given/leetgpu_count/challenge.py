# A challenge in LeetGPU's form, of our own writing: submissions add to counts that begin with zeros.
import ctypes

import torch
from core.challenge_base import ChallengeBase

BINS = 64


class Challenge(ChallengeBase):
    name = "Count"
    atol = 0.0
    rtol = 0.0
    num_gpus = 1
    access_tier = "free"

    def reference_impl(self, values, counts, n):
        assert values.shape == (n,)
        counts.copy_(torch.bincount(values, minlength=BINS))

    def get_solve_signature(self):
        return {
            "values": (ctypes.POINTER(ctypes.c_int), "in"),
            "counts": (ctypes.POINTER(ctypes.c_int), "out"),
            "n": (ctypes.c_int, "in"),
        }

    def test(self, values):
        counts = torch.zeros(BINS, dtype=torch.int32, device=self.device)
        return {"values": values, "counts": counts, "n": len(values)}

    def drawn(self, n):
        return torch.randint(0, BINS, (n,), dtype=torch.int32, device=self.device)

    def generate_functional_test(self):
        written_out = torch.arange(100, dtype=torch.int32, device=self.device) % BINS
        return [self.test(written_out), self.test(self.drawn(100))]

    def generate_performance_test(self):
        return self.test(self.drawn(4096))
