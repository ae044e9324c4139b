"""neutrino-bench completion: print a shell completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from .output import print_document


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the completion script for SHELL.

    \b
    bash:  neutrino-bench completion bash > ~/.local/share/bash-completion/completions/neutrino-bench
    zsh:   neutrino-bench completion zsh > "${fpath[1]}/_neutrino-bench"
    fish:  neutrino-bench completion fish > ~/.config/fish/completions/neutrino-bench.fish
    """
    maker = get_completion_class(shell)
    assert maker is not None, "click has all choices"
    print_document(maker(ctx.find_root().command, {}, "neutrino-bench", "_NEUTRINO_BENCH_COMPLETE").source())
    return 0
