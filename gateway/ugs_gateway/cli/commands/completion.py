"""ugs completion: print a script that lets bash, zsh or fish complete commands, options, ids, types and keys.

examples:
  ugs completion bash >> ~/.bashrc
  ugs completion zsh > ~/.zfunc/_ugs
  ugs completion fish > ~/.config/fish/completions/ugs.fish
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ugs_gateway.cli.output.streams import write_out

BASH = """_ugs() {
    local IFS=$'\\n' word="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=($(ugs complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    # A colon breaks a word for bash, so what stands before it must go from the answers, too.
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then COMPREPLY=("${COMPREPLY[@]#"${word%:*}:"}"); fi
}
complete -o default -F _ugs ugs
"""

ZSH = """#compdef ugs
_ugs() {
    local -a found
    found=("${(@f)$(ugs complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    [[ -n $found ]] && compadd -S '' -- $found || _files
}
# Loaded by itself from a folder of functions, this file is the first call; read as a script, it only registers.
if [[ $funcstack[1] == _ugs ]]; then _ugs "$@"; else compdef _ugs ugs; fi
"""

FISH = """function __ugs_complete
    set -l words (commandline -opc) (commandline -ct)
    ugs complete -- $words[2..-1] 2>/dev/null
end
complete -c ugs -f -a '(__ugs_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
PUTS_DATA = False


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("shell", choices=list(SCRIPTS), help="the shell that shall complete")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    write_out(SCRIPTS[options.shell], end="")
    return 0
