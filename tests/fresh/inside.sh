#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# inside.sh <step>: one step of `./dev fresh` inside its root (fresh.sh): a Debian 12 with git,
# /srv/culprit.git with the commit to try, and an empty environment. The steps share the root, and what
# root has installed. What a step prints goes to /var/log/fresh and on to the caller; of a run of tests,
# what failed is printed once more at the end.
set -uo pipefail

# One path for all clones: ccache knows what root has built when the visitor builds it.
clone=/srv/visitor/culprit
logs=/var/log/fresh
mkdir -p "$logs"
id visitor >/dev/null 2>&1 || useradd --shell /bin/bash --no-create-home --home-dir /srv/visitor visitor
chown visitor: /srv/visitor /srv/visitor/.cache
export CCACHE_UMASK=000
chmod -R a+rwX /root/.cache/ccache

clone_as() {
  rm -rf "$clone"
  "$@" git clone -q --branch fresh /srv/culprit.git "$clone"
}
as_visitor() {
  setpriv --reuid visitor --regid visitor --init-groups env -i HOME=/srv/visitor CCACHE_UMASK=000 \
    PATH=/usr/local/bin:/usr/bin:/bin TERM=dumb "$@"
}
# The clone is root's or the visitor's; it changes hands by being made again. So does what it is cloned
# from: git reads nobody else's repositories.
be() {
  [[ $(stat -c %U "$clone" 2>/dev/null) != "$1" ]] || return 0
  chown -R "$1": /srv/culprit.git
  if [[ $1 == root ]]; then clone_as env; else chmod -R a+rwX /root/.cache/ccache; clone_as as_visitor; fi
}

# The visitor finds the packages installed, also where no step of root's has come before.
step_demo() { cd "$clone" && ./dev demo; }
step_test() { cd "$clone" && ./dev test; }
step_user_demo() { cd "$clone" && ./dev deps && as_visitor ./dev demo; }
step_package() { cd "$clone" && ./dev package; }
step_user_test() { cd "$clone" && ./dev deps && as_visitor ./dev test; }

step=$1
function=step_${step//-/_}
declare -F "$function" >/dev/null || { printf "fresh: there is no step '%s'\n" "$step" >&2; exit 2; }
if [[ $step == user-* ]]; then be visitor; else be root; fi
log=$logs/$step.log
"$function" </dev/null 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

# What the run of tests said of failures, again: it may lie thousands of lines above.
if [[ $step == *test ]] && grep -q '\*\*\*' "$log"; then
  printf '\n== failures in %s\n' "$step"
  awk '/^(test [0-9]+|      Start)/ {block = ""} {block = block "\n" $0}
       /\*\*\*(Failed|Timeout|Exception|Not Run)/ {print substr(block, 1, 6000); block = ""}' "$log" | tail -n 300
  sed -n '/^The following tests FAILED/,$p' "$log"
fi
exit "$status"
