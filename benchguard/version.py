"""The version of neutrino-bench, for modules that benchguard itself imports."""

__version__ = "0.1.0"
