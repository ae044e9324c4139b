"""Users of sandboxes: two sandboxes of one machine never have the same user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchguard.ipc.users import SANDBOXES, WORKERS
from benchguard.quarantine.sandbox import identity

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root chooses other users")

FEW = range(SANDBOXES.stop - 3, SANDBOXES.stop)


@pytest.fixture(autouse=True)
def few_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A range of three users, and claims of this test alone."""
    claims = tmp_path / "users"
    monkeypatch.setattr(identity, "SANDBOXES", FEW)
    monkeypatch.setattr(identity, "CLAIMS", (str(claims),))
    monkeypatch.setattr(identity, "_free_users", lambda: list(FEW))
    yield claims


def test_users_claimed_at_once_all_different() -> None:
    with ExitStack() as stack:
        users = [stack.enter_context(identity.claimed_user()) for _ in FEW]
        assert sorted(map(int, filter(None, users))) == list(FEW)
        assert stack.enter_context(identity.claimed_user()) is None


def test_user_after_the_end_of_its_claim_free_again() -> None:
    with ExitStack() as stack:
        for _ in FEW[1:]:
            stack.enter_context(identity.claimed_user())
        with identity.claimed_user() as last:
            pass
        with identity.claimed_user() as again:
            assert again == last is not None


def test_claims_of_another_process_respected() -> None:
    ready, theirs = os.pipe()
    go_on, done = os.pipe()
    child = os.fork()
    if child == 0:
        with identity.claimed_user() as user:
            os.write(theirs, str(user).encode())
            os.read(go_on, 1)
        os._exit(0)
    taken = int(os.read(ready, 16))
    try:
        with ExitStack() as stack:
            users = [stack.enter_context(identity.claimed_user()) for _ in FEW]
            assert sorted(user for user in users if user is not None) == sorted(set(FEW) - {taken})
    finally:
        os.write(done, b"x")
        os.waitpid(child, 0)
        for each in (ready, theirs, go_on, done):
            os.close(each)


@pytest.mark.parametrize("kind", ["link", "of another user", "open to others"])
def test_claims_file_that_is_not_roots_own_not_used(few_users: Path, kind: str) -> None:
    if kind == "link":
        few_users.symlink_to(few_users.with_name("target"))
    else:
        few_users.touch(mode=0o600)
        if kind == "of another user":
            os.chown(few_users, FEW[0], FEW[0])
        else:
            few_users.chmod(0o666)
    assert identity._open_claims() is None
    with identity.claimed_user() as user:
        assert user in FEW
    assert not few_users.with_name("target").exists()


def test_workers_that_only_compute_have_no_users_of_sandboxes() -> None:
    assert not set(WORKERS) & set(SANDBOXES)
