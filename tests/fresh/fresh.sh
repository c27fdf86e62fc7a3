#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# What `./dev fresh` does: makes a Debian 12 that has nothing but git, clones HEAD into it and runs there
# what README.md tells users to run, first as root, then as a user without rights who finds the packages
# installed. Needs root and debootstrap. Everything happens in mount and process namespaces of its own,
# so nothing is left of it whatever ends it: mounts and processes go with the namespaces, the folder with
# this script, or with the next one if this one was killed.
#
#   fresh.sh --can           one line on why it is impossible here, status 1; nothing if it is possible
#   fresh.sh <step>...       see inside.sh for the steps
#
# Between runs two caches are kept, in ~/.cache/culprit-fresh: downloaded packages, and ccache's.
# Status: 0 all steps passed, 1 a step failed, 3 the root could not be made.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_tree=$(cd "$here/../.." && pwd)
cache=${CULPRIT_FRESH_CACHE:-$HOME/.cache/culprit-fresh}
place=${CULPRIT_FRESH_DIR:-/var/tmp}

say() { printf 'fresh: %s\n' "$*" >&2; }
cannot() { say "$*"; exit 3; }

# --- on the machine as it is ---

# The first Debian mirror that this machine's apt uses.
mirror() {
  { grep -hE '^(deb |URIs:)' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } \
    | grep -oE '(https?|file):[^ ]*/debian/?( |$)' | head -n 1 | tr -d ' '
}

why_impossible() {
  [[ $(id -u) == 0 ]] || { echo "a root of its own needs root's rights"; return; }
  unshare --mount --pid --fork true 2>/dev/null || { echo "no namespaces can be made here"; return; }
  [[ -n $(mirror) ]] || { echo "apt has no Debian mirror in its sources"; return; }
  command -v debootstrap >/dev/null && return
  { apt-get -q -y install debootstrap >/dev/null 2>&1 \
    || { apt-get -q update && apt-get -q -y install debootstrap; } >/dev/null 2>&1; } \
    || echo "debootstrap is not installed, and the package sources do not answer"
}

# Roots whose script is gone: killed with no chance to clean up.
remove_leftovers() {
  local folder
  for folder in "$place"/culprit-fresh.*; do
    [[ -e $folder/owner ]] || continue
    kill -0 "$(cat "$folder/owner")" 2>/dev/null || rm -rf --one-file-system "$folder"
  done
}

make_root() {
  mkdir -p "$cache/archives/partial" "$cache/ccache"
  debootstrap --variant=minbase --include=git,ca-certificates --cache-dir="$cache/archives" \
    bookworm "$work/root" "$(mirror)" >"$work/debootstrap.log" 2>&1 \
    || { tail -n 5 "$work/debootstrap.log" >&2; cannot "debootstrap could not make a Debian 12"; }
  # The machine's own package sources, as far as they are Debian's, and how they are reached.
  local file
  rm -f "$work/root/etc/apt/sources.list"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
    [[ ! -s $file ]] || cp "$file" "$work/root$file"
  done
  [[ -e $work/root/etc/apt/sources.list.d/debian.sources || -s $work/root/etc/apt/sources.list ]] \
    || echo "deb $(mirror) bookworm main" >"$work/root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::https?::Proxy' >"$work/root/etc/apt/apt.conf.d/90proxy" || true
  cp -L /etc/resolv.conf /etc/hosts /etc/hostname "$work/root/etc/"
  # Nobody's repository and everybody's: the visitor clones it, too.
  git -c safe.directory='*' clone -q --no-hardlinks --bare "file://$source_tree" \
    "$work/root/srv/culprit.git"
  # A detached HEAD has no branch to clone.
  git -c safe.directory='*' -C "$work/root/srv/culprit.git" update-ref refs/heads/fresh \
    "$(git -c safe.directory='*' -C "$source_tree" rev-parse HEAD)"
  chmod -R a+rX "$work/root/srv/culprit.git"
  cp "$here/inside.sh" "$work/root/srv/inside.sh"
}

# --- in namespaces of its own, the new root not yet entered ---

enter() {
  local root=$1
  mount --bind "$root" "$root"
  cd "$root"
  mount -t proc proc proc
  mount --rbind /sys sys
  mount --rbind /dev dev
  mount -t tmpfs -o mode=1777 tmpfs dev/shm
  mkdir -p old root/.cache/ccache srv/visitor/.cache/ccache
  mount --bind "$cache/archives" var/cache/apt/archives
  mount --bind "$cache/ccache" root/.cache/ccache
  mount --bind "$cache/ccache" srv/visitor/.cache/ccache
  # chroot alone would not do: in it nobody may make a user namespace, as some tests do.
  pivot_root . old
  exec chroot . /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    TERM=dumb /bin/bash /srv/inside.sh "${@:2}"
}

case ${1:-} in
  --can)
    why=$(why_impossible)
    [[ -z $why ]] || { printf '%s\n' "$why"; exit 1; }
    exit 0 ;;
  --enter) enter "${@:2}" ;;
esac

why=$(why_impossible)
[[ -z $why ]] || cannot "$why"
remove_leftovers
work=$(mktemp -d "$place/culprit-fresh.XXXXXX")
echo $$ >"$work/owner"
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP
began=$SECONDS
make_root
say "a Debian 12 with git and nothing else: made in $((SECONDS - began)) s"
status=0
# In the background, so that a signal is heard at once; the namespace's first process dies with unshare.
unshare --mount --propagation private --pid --fork --kill-child \
  /usr/bin/env bash "$here/fresh.sh" --enter "$work/root" "$@" &
wait $! || status=$?
exit "$status"
