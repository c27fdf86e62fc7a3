#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# The steps of `./dev fresh`, inside the new root (fresh.sh): a Debian 12 with git, /srv/culprit.git with
# the commit to try, and an empty environment. What a step prints goes to a log and on to the caller; at
# the end one line a step, what failed of the tests once more, and the test runner's own summary last.
#   demo, test              the README's two commands, as root
#   user-demo, user-test    the same as a user without rights, in a clone of his own
set -uo pipefail

umount -l /old && rmdir /old
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
  "$@" git -c safe.directory='*' clone -q --branch fresh /srv/culprit.git "$clone"
}
as_visitor() {
  setpriv --reuid visitor --regid visitor --init-groups env -i HOME=/srv/visitor CCACHE_UMASK=000 \
    PATH=/usr/local/bin:/usr/bin:/bin TERM=dumb "$@"
}
# Root's clone becomes the visitor's when his first step comes.
owner=nobody
be() {
  [[ $owner != "$1" ]] || return 0
  owner=$1
  if [[ $1 == root ]]; then clone_as env; else chmod -R a+rwX /root/.cache/ccache; clone_as as_visitor; fi
}

step_demo() { cd "$clone" && ./dev demo; }
step_test() { cd "$clone" && ./dev test; }
step_user_demo() { cd "$clone" && as_visitor ./dev demo; }
step_user_test() { cd "$clone" && as_visitor ./dev test; }

lines=() status=0 tests=()
for step in "$@"; do
  function=step_${step//-/_}
  if ! declare -F "$function" >/dev/null; then
    lines+=("there is no step '$step'") status=1
    continue
  fi
  if [[ $step == user-* ]]; then be visitor; else be root; fi
  began=$SECONDS result=passed
  "$function" </dev/null 2>&1 | tee "$logs/$step.log"
  [[ ${PIPESTATUS[0]} == 0 ]] || { result=FAILED; status=1; }
  took=$((SECONDS - began))
  lines+=("$step $result in $((took / 60)) min $((took % 60)) s")
  [[ $step != *test ]] || tests+=("$logs/$step.log")
done

# What the runs of tests said of failures, again: it may lie thousands of lines above.
for log in "${tests[@]}"; do
  if grep -q '\*\*\*' "$log"; then
    printf '\n== failures in %s\n' "$(basename "$log" .log)"
    awk '/^(test [0-9]+|      Start)/ {block = ""} {block = block "\n" $0}
         /\*\*\*(Failed|Timeout|Exception|Not Run)/ {print substr(block, 1, 6000); block = ""}' "$log" | tail -n 300
    sed -n '/^The following tests FAILED/,$p' "$log"
  fi
done
printf '\n'
printf 'fresh: %s\n' "${lines[@]}"
for log in "${tests[@]}"; do grep -E '^[0-9]+% tests passed' "$log" | tail -n 1; done
exit "$status"
