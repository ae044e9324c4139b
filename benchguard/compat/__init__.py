"""In the place of others: pygpubench's and Triton's benchmark functions, GPU MODE's output."""
