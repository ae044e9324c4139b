"""Tasks of GPU MODE that cannot be graded here, found before any of their code runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

_AMD = re.compile(r"MI\d+", re.IGNORECASE)
_LISTS_MAX = 64
_LIST_BYTES_MAX = 1 << 20


def refusal(path: Path, document: Mapping[str, Any]) -> str:
    """Why the task in the task.yml at `path` cannot be graded; empty if it can."""
    gpus, source = _gpus(path, document)
    if gpus and all(_AMD.match(each) for each in gpus):
        return (
            f"{path}: the task is for AMD's {', '.join(gpus)} ({source}); grade tasks for NVIDIA GPUs, "
            "because the timed replay runs on CUDA"
        )
    if document.get("multi_gpu"):
        return f"{path}: the task runs on several GPUs (multi_gpu); grade tasks for one GPU"
    if document.get("lang", "py") != "py":
        return (
            f"{path}: the task is in CUDA C++ (lang: {document['lang']}), so its data are vectors of the host and "
            "every call copies them; grade a Python task, whose data are on the GPU"
        )
    return ""


def _gpus(path: Path, document: Mapping[str, Any]) -> tuple[list[str], str]:
    """The GPUs that the task is for, and the file that names them: task.yml, or a competition's list above it."""
    own = _names(document.get("gpus"))
    if own:
        return own, path.name
    for place in _lists(path):
        try:
            content = yaml.safe_load(place.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            continue
        for each in _entries(content):
            if (place.parent / str(each.get("directory", ""))).resolve() == path.parent:
                return _names(each.get("gpus")), place.name
    return [], ""


def _lists(path: Path) -> Iterator[Path]:
    """The competition lists beside the task's folder and one folder higher."""
    for folder in path.parent.parents[:2]:
        for each in sorted(folder.glob("*.yaml"))[:_LISTS_MAX]:
            if each.is_file() and each.stat().st_size <= _LIST_BYTES_MAX:
                yield each


def _entries(content: object) -> list[Mapping[str, Any]]:
    problems = content.get("problems") if isinstance(content, dict) else None
    return [each for each in problems if isinstance(each, dict)] if isinstance(problems, list) else []


def _names(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []
