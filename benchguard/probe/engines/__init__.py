"""The probe engines of this project: a program that rewrites a kernel, and a reader of its traces."""
