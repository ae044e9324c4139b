"""The module `problem` of Tensara's files. A class that derives from its Problem is a problem in Tensara's form.

Tensara's harness gives each submission outputs of zeros (torch.zeros_like), and submissions add to them.
"""

from __future__ import annotations

from .problem import Problem as _Problem
from .problem import TestCaseDict

__all__ = ["Problem", "TestCaseDict"]


class Problem(_Problem):
    """Tensara's base class."""

    zero_outputs = True
