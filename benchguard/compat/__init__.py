"""Compatibility: pygpubench's names (`import benchguard as pygpubench`), Triton's do_bench, GPU MODE's output."""
