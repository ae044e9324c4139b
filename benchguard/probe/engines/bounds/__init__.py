"""The engine `bounds`: accesses of a running program's kernels to memory that it does not have."""
