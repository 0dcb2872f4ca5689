#!/usr/bin/env bash
# Install what Forge needs, and nothing that is there already.
#
#   setup/install.sh round   Debian packages of the desktops, a virtual environment with the project
#   setup/install.sh apps    the same, plus every application, the live view and recordings
#   setup/install.sh test    the same, plus PostgreSQL, test tools, torch and transformers
#
# Reruns in about a second when all is there. Works as root, or as a user who may call sudo.
# FORGE_PYTHON chooses the interpreter (default: /usr/bin/python3, then python3).
# FORGE_TORCH_INDEX names a package index for torch, for instance one with CPU-only files.
set -euo pipefail
cd "$(dirname "$0")/.."
unset PYTHONDONTWRITEBYTECODE # Prefect starts several times slower without compiled files

what=${1:-round}
case $what in
  round) lists=(setup/apt-round.txt) extra="" ;;
  apps) lists=(setup/apt-round.txt setup/apt-apps.txt) extra="" ;;
  test) lists=(setup/apt-round.txt setup/apt-apps.txt setup/apt-test.txt) extra="[test,train]" ;;
  *)
    echo "setup/install.sh: '$what' is none of round, apps, test" >&2
    exit 2
    ;;
esac
say() { printf 'setup: %s\n' "$*"; }

# --- Debian packages
command -v apt-get >/dev/null || {
  echo "setup: no apt-get here; install these packages by hand: $(grep -hv '^#' "${lists[@]}" | xargs)" >&2
  exit 1
}
mapfile -t wanted < <(grep -hvE '^(#|$)' "${lists[@]}")
mapfile -t have < <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null | awk '$2 == "installed" {print $1}' || true)
mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) <(printf '%s\n' "${have[@]}" | sort -u))
if ((${#missing[@]})); then
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  run=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "setup: not root and no sudo; as root run: apt-get install ${missing[*]}" >&2
      exit 1
    }
    run=(sudo)
  fi
  "${run[@]}" apt-get update -qq
  # no services are started while packages are unpacked: the tests start their own
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/tmp/forge-apt.log 2>&1 || {
    tail -n 20 /tmp/forge-apt.log >&2
    exit 1
  }
else
  say "Debian packages are all there"
fi

# --- Python
python=${FORGE_PYTHON:-}
[ -n "$python" ] || python=$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || command -v python3)
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "setup: $python is older than Python 3.11; set FORGE_PYTHON to a newer one" >&2
  exit 1
}
stamp=.venv/.forge-$what
wanted_stamp=$({ "$python" -V; cat pyproject.toml; } | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null || true)" = "$wanted_stamp" ]; then
  say "Python packages are all there"
  exit 0
fi
[ -x .venv/bin/python ] || { say "creating .venv with $python" && "$python" -m venv .venv; }
if [ "$what" = test ] && ! .venv/bin/python -c 'import torch' 2>/dev/null; then
  torch=$(sed -nE 's/.*"(torch==[^"]+)".*/\1/p' pyproject.toml)
  say "installing $torch"
  .venv/bin/pip install -q ${FORGE_TORCH_INDEX:+--index-url "$FORGE_TORCH_INDEX"} "$torch"
fi
say "installing the project$extra into .venv"
.venv/bin/pip install -q -e ".$extra"
say "compiling"
.venv/bin/python -m compileall -q -j 0 .venv/lib >/dev/null 2>&1 || true
echo "$wanted_stamp" >"$stamp"
say "done"
