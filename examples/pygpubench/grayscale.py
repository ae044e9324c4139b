"""A test of pygpubench's form: what makes a case, and the few lines that benchmark a kernel with it.

python grayscale.py [submission.kernel]      # neutrino-bench in pygpubench's place
"""

import sys

import torch

import benchguard as pygpubench

WEIGHTS = (0.2989, 0.5870, 0.1140)


def generate_test_case(*, size: int, seed: int):
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    picture = torch.rand(size, size, 3, device="cuda", dtype=torch.float32, generator=generator)
    expected = (picture * torch.tensor(WEIGHTS, device="cuda")).sum(dim=-1)
    return (torch.empty_like(expected), picture), (expected, 1e-5, 1e-6)


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "submission.kernel"
    result = pygpubench.do_bench_isolated(name, generate_test_case, {"size": 1024}, 100, 5)
    print(
        "right" if result.success else f"wrong: {result.errors} errors",
        pygpubench.basic_stats(result.time_us),
    )
