"""The functions that run on a machine of a Ray cluster. Arguments and results are bytes, and no exception leaves them.

Ray sends bytes as they are; it would pickle an exception, whose text may come from a submission.
"""

from __future__ import annotations

import asyncio

from ..ipc.json_text import json_line
from ..ipc.text import one_line
from .child import grade_in_child
from .node import report_node
from .order import Answer


def grade_on_node(order: bytes) -> bytes:
    """Grade an order (order.py)."""
    try:
        return asyncio.run(grade_in_child(order))
    except Exception as error:
        return json_line(Answer(trouble=one_line(f"{type(error).__name__}: {error}")))


def check_node(needs: bytes) -> bytes:
    """Check this machine (node.py). An answer that is not a report is the failure's text."""
    try:
        return report_node(needs)
    except Exception as error:
        return json_line(one_line(f"{type(error).__name__}: {error}"))
