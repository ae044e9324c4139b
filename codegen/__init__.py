"""C header -> API model -> C source: docs/architecture.md, "The generated shim"."""
