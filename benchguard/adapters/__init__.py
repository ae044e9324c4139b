"""Problems and calling conventions of others: pygpubench, Triton's do_bench, GPU MODE, KernelBench."""
