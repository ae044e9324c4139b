"""neutrino-bench completion: print a shell completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from .output import print_document

_WAY_IN_ZSH = "$zsh_eval_context[-1] == loadautofunc", "$funcstack[1] == _neutrino-bench"
"""The script of click 8.5.1 asks whether zsh loads it from `fpath`, which is true at the first Tab of a session only:
the second Tab completed nothing. The name of the running function tells at each Tab."""


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
    script = maker(ctx.find_root().command, {}, "neutrino-bench", "_NEUTRINO_BENCH_COMPLETE").source()
    print_document(script.replace(*_WAY_IN_ZSH))
    return 0
