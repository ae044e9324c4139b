"""Compare the results of two drivers: python tests/corpus/compare.py ONE.json OTHER.json

Outputs of exact kernels must have the same bits. Other outputs have passed their bounds; the number of those that are
bit-equal is printed. Exits with 1 on a forbidden difference.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Document = dict[str, Any]


@dataclass
class Comparison:
    problems: list[str] = field(default_factory=list)
    exact: int = 0
    bounded: int = 0
    bounded_but_equal: int = 0

    def __str__(self) -> str:
        summary = f"{self.exact} exact outputs compared, {self.bounded} within bounds"
        summary += f", {self.bounded_but_equal} of those equal to the bit"
        return "\n".join([*self.problems, f"{summary}; {len(self.problems)} problems"])


def compare(one: Document, other: Document) -> Comparison:
    comparison = Comparison()
    theirs = {_key(result): result for result in other["results"]}
    for result in one["results"]:
        where = _key(result)
        match = theirs.pop(where, None)
        if match is None:
            comparison.problems.append(f"{where}: only {one['device']} ran it")
            continue
        for device, each in ((one["device"], result), (other["device"], match)):
            if each["problem"]:
                comparison.problems.append(f"{where} on {device}: {each['problem']}")
        if not (result["problem"] or match["problem"]):
            comparison.problems += _outputs(comparison, where, result["outputs"], match["outputs"])
    comparison.problems += [f"{where}: only {other['device']} ran it" for where in theirs]
    return comparison


def _key(result: Document) -> str:
    return f"{result['family']} {result['image']} {result['case']}"


def _outputs(found: Comparison, where: str, ours: list[Document], theirs: list[Document]) -> Iterator[str]:
    if len(ours) != len(theirs):
        yield f"{where}: {len(ours)} outputs here, {len(theirs)} there"
        return
    for place, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        same = a["sha256"] == b["sha256"]
        if a["exact"]:
            found.exact += 1
            if not same:
                yield f"{where}: output {place} is exact, and differs"
        else:
            found.bounded += 1
            found.bounded_but_equal += same


def main(paths: list[str]) -> int:
    if len(paths) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    comparison = compare(*(json.loads(Path(path).read_text()) for path in paths))
    print(comparison)
    return int(bool(comparison.problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
