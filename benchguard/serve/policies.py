"""The policies of a service's programs: the service's own, or one that a program's variables ask for by its SHA-256."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from ..audit.cordon import Cordon
from ..errors import BenchguardError, UsageError
from ..policy import NAMES, Policy, compile_policy, load_policy
from ..shim.surface import Surface
from .messages import RequestError

FOLDER = "policies"
"""Below the folder of the logs: a file SHA256.toml for each policy that `env --policy FILE` stored."""
CORDONS_MAX = 64


def store(folder: Path, policy: Policy) -> None:
    """Put a policy where the service of this folder finds it. Raises UsageError."""
    path = folder / FOLDER / f"{policy.sha256}.toml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(policy.text.encode())
        unfinished.replace(path)
    except OSError as error:
        raise UsageError(
            f"cannot store the policy in {path.parent}: {error.strerror}; run as the service's user, or give the "
            "policy to `neutrino-bench serve`"
        ) from error


@dataclass
class Policies:
    """`own` is the policy that all programs of the service obey."""

    folder: Path
    own: Cordon | None
    _cordons: dict[tuple[str, int], Cordon] = field(default_factory=dict)

    def cordon(self, wanted: str, surface: Surface) -> Cordon | None:
        """The policy of a program that asks for `wanted`, a SHA-256 or an empty text. Raises RequestError."""
        if not wanted or (self.own is not None and self.own.sha256 == wanted):
            return self.own
        if self.own is not None:
            raise RequestError(
                f"the program asks for another policy than {self.own.name}, which all programs of the service obey; "
                "leave out --policy of `neutrino-bench env`"
            )
        key = wanted, id(surface)
        if key not in self._cordons:
            if len(self._cordons) >= CORDONS_MAX:
                self._cordons.clear()
            self._cordons[key] = self._compiled(wanted, surface)
        return self._cordons[key]

    def _compiled(self, wanted: str, surface: Surface) -> Cordon:
        try:
            for name in NAMES:
                if (policy := load_policy(name)).sha256 == wanted:
                    return compile_policy(policy, surface)
            path = self.folder / FOLDER / f"{wanted}.toml"
            if stat.S_ISREG(path.lstat().st_mode) and (policy := load_policy(str(path))).sha256 == wanted:
                return compile_policy(policy, surface)
        except OSError:
            pass
        except BenchguardError as error:
            raise RequestError(f"the program's policy is invalid: {error}") from error
        raise RequestError(
            "the service does not have the policy that the program asks for; run `neutrino-bench env --policy` with "
            "--log and the folder of this service"
        )
