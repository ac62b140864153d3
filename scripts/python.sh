#!/usr/bin/env bash
# Prints the Python to make an environment with: python3, unless that was compiled without optimisation, as pyenv does
# by default, and the system has an optimised one of at least the same version. It takes a fifth less time for the same.
set -euo pipefail
mine=python3 other=${SYSTEM_PYTHON:-/usr/bin/python3}

# The version and whether it was compiled by hand without optimisation; distributions have their own ways to optimise.
look='
import sys, sysconfig, ensurepip, venv
slow = sys.base_prefix != "/usr" and "--enable-optimizations" not in (sysconfig.get_config_var("CONFIG_ARGS") or "")
print(*sys.version_info[:2], "slow" if slow else "fast")'

told=$("$mine" -c "$look" 2>/dev/null || true)
theirs=$("$other" -c "$look" 2>/dev/null || true)
if [[ $told == *slow && $theirs == *fast && $(cut -d' ' -f2 <<<"$theirs") -ge $(cut -d' ' -f2 <<<"$told") ]]; then
    echo "taking $other: $mine was compiled without optimisation (PYTHON=$mine takes it all the same)" >&2
    echo "$other"
else
    echo "$mine"
fi
