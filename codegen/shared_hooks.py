"""HIP functions that have the hooks of their CUDA functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from .errors import CodegenError
from .model import THREAD_SUFFIXES, Api
from .pairs import PAIRS, Pair, Pairs, arguments_of
from .semantics import Interception, SharedHook


def share_hooks(
    pairs: Pairs,
    api: Api,
    interceptions: Mapping[str, Interception],
    cuda: Api,
    cuda_interceptions: Mapping[str, Interception],
) -> dict[str, Interception]:
    """The interceptions of HIP's `api`, with the hooks of CUDA's functions where the table says so.

    Raises CodegenError where the table contradicts itself or a header.
    """
    shared = dict(interceptions)
    strict = pairs.release == api.release
    for name, pair in _rows(pairs, interceptions, cuda_interceptions):
        forms = [
            form for form in (name, *(name + suffix for suffix in THREAD_SUFFIXES)) if form in api.by_name
        ]
        if not forms and strict and api.version >= pair.since:
            raise _error(f"hooks: {name}: {api.vendor.header} {api.release} declares no such function")
        for form in forms:
            shared[form] = _shared(pair, pairs, shared.get(form), api, form, cuda, cuda_interceptions)
    return {function.name: shared[function.name] for function in api.functions if function.name in shared}


def _rows(
    pairs: Pairs, interceptions: Mapping[str, Interception], cuda_interceptions: Mapping[str, Interception]
) -> Iterator[tuple[str, Pair]]:
    for name, pair in pairs.hooks.items():
        if name in interceptions and interceptions[name].hooks:
            raise _error(f"hooks: {name} has {interceptions[name].hooks[0]} already; keep one")
        if pair.to not in cuda_interceptions or not cuda_interceptions[pair.to].hooks:
            raise _error(f"hooks: {name}: {pair.to} has no hook")
        yield name, pair
    origins: dict[str, str] = {}
    for cuda_name, pair in pairs.driver.items():
        hooks = cuda_interceptions[cuda_name].hooks if cuda_name in cuda_interceptions else ()
        own = pair.to in pairs.hooks or (pair.to in interceptions and interceptions[pair.to].hooks)
        if not pair.is_plain or not hooks or own:
            continue
        if pair.to in origins:
            raise _error(f"driver: {pair.to} is {origins[pair.to]} and {cuda_name}; give it a row in [hooks]")
        origins[pair.to] = cuda_name
        yield pair.to, Pair(cuda_name)


def _shared(
    pair: Pair,
    pairs: Pairs,
    interception: Interception | None,
    api: Api,
    name: str,
    cuda: Api,
    cuda_interceptions: Mapping[str, Interception],
) -> Interception:
    function, target = api.by_name[name], cuda.by_name[pair.to]
    theirs = cuda_interceptions[pair.to]
    if interception is None:
        if theirs.post or theirs.wrap:
            raise _error(f"{name} has a hook but is in no group; add it to [groups]")
        interception = Interception(function, None, ())
    if interception.refused and theirs.wrap:
        raise _error(f"{name} is in [refused], and {theirs.wrap} refuses calls itself; keep one")
    arguments = tuple(arguments_of(pair, function, target, pairs))
    shared = SharedHook(target, arguments, pair.to in pairs.answers)
    return replace(
        interception,
        post=theirs.post,
        wrap=theirs.wrap,
        wrap_when_recording=theirs.wrap_when_recording,
        tracking=theirs.tracking,
        shared=shared,
    )


def _error(message: str) -> CodegenError:
    return CodegenError(f"{PAIRS.name}: {message}")
