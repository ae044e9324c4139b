"""Code images: their entries, their kernels, and the code of a kernel as text. No code of an image runs."""
