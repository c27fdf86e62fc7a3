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
#   fresh.sh <step>...       in the order given; each is one of
#     demo, test             the README's two commands, as root
#     user-demo, user-test   the same as a user without rights, in a clone of his own
#     package                ./dev package: the archive and the Debian package
#     archive, deb           the two, each tried in a Debian that has nothing (packaging/try)
#     gpu-kit                the GPU kit's rehearsal, likewise; it is packed on this machine, as it needs nvcc
#
# Between runs two caches are kept, in ~/.cache/culprit-fresh: downloaded packages, and ccache's.
# Status: 0 all steps passed, 1 a step failed, 3 the root could not be made.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_tree=$(cd "$here/../.." && pwd)
cache=${CULPRIT_FRESH_CACHE:-${HOME:-/root}/.cache/culprit-fresh}
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

# make_root <folder>
make_root() {
  local root=$1
  mkdir -p "$cache/archives/partial" "$cache/ccache"
  debootstrap --variant=minbase --include=git,ca-certificates --cache-dir="$cache/archives" \
    bookworm "$root" "$(mirror)" >"$work/debootstrap.log" 2>&1 \
    || { tail -n 5 "$work/debootstrap.log" >&2; cannot "debootstrap could not make a Debian 12"; }
  # The machine's own package sources, as far as they are Debian's, and how they are reached.
  local file
  rm -f "$root/etc/apt/sources.list"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
    [[ ! -s $file ]] || cp "$file" "$root$file"
  done
  [[ -e $root/etc/apt/sources.list.d/debian.sources || -s $root/etc/apt/sources.list ]] \
    || echo "deb $(mirror) bookworm main" >"$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::https?::Proxy' >"$root/etc/apt/apt.conf.d/90proxy" || true
  cp -L /etc/resolv.conf /etc/hosts /etc/hostname "$root/etc/"
}

# The commit to try, for inside.sh.
add_repository() {
  local root=$1
  # Nobody's repository and everybody's: the visitor clones it, too.
  git -c safe.directory='*' clone -q --no-hardlinks --bare "file://$source_tree" \
    "$root/srv/culprit.git"
  # A detached HEAD has no branch to clone.
  git -c safe.directory='*' -C "$root/srv/culprit.git" update-ref refs/heads/fresh \
    "$(git -c safe.directory='*' -C "$source_tree" rev-parse HEAD)"
  chmod -R a+rX "$root/srv/culprit.git"
  cp "$here/inside.sh" "$root/srv/inside.sh"
}

# --- in namespaces of its own, the new root not yet entered ---

# enter <root> <command...>
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
  umount -l old
  exec chroot . /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    TERM=dumb /bin/bash "${@:2}"
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
namespace=
# unshare is deaf to gentler signals; with it goes the first process of its namespace, and all others.
clean_up() {
  if [[ -n $namespace ]]; then
    kill -KILL "$namespace" 2>/dev/null
    wait "$namespace" 2>/dev/null
  fi
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# In the background, so that a signal is heard at once.
run_in() {
  unshare --mount --propagation private --pid --fork --kill-child \
    /usr/bin/env bash "$here/fresh.sh" --enter "$@" &
  namespace=$!
  local result=0
  wait "$namespace" || result=$?
  namespace=
  return "$result"
}

lines=() status=0
# note <what> <result> <since>
note() {
  local took=$((SECONDS - $3))
  lines+=("$1 $2 in $((took / 60)) min $((took % 60)) s")
  say "${lines[-1]}"
}

main_root=$work/main
in_main_root() {
  if [[ ! -d $main_root ]]; then
    make_root "$main_root"
    add_repository "$main_root"
  fi
  run_in "$main_root" /srv/inside.sh "$1"
}

# try_package <step> <file>: in a root of its own.
try_package() {
  local root=$work/$1
  [[ -s ${2:-} ]] || { say "there is nothing to try: was it packed?"; return 1; }
  make_root "$root"
  cp -r "$source_tree/packaging/try" "$root/srv/try"
  cp "$2" "$root/srv/"
  local result=0
  run_in "$root" "/srv/try/$1.sh" "/srv/$(basename "$2")" || result=$?
  rm -rf --one-file-system "$root"
  return "$result"
}

packed() {
  find "$main_root"/srv/*/culprit/build/package -maxdepth 1 -name "$1" 2>/dev/null | head -n 1
}

one_step() {
  case $1 in
    archive) try_package archive "$(packed 'culprit-*.tar.xz')" ;;
    deb) try_package deb "$(packed 'culprit_*.deb')" ;;
    gpu-kit)
      "$source_tree/dev" gpu-kit --rehearsal >"$work/gpu-kit.log" 2>&1 || { tail -n 20 "$work/gpu-kit.log"; return 1; }
      try_package gpu-kit "$(tail -n 1 "$work/gpu-kit.log")" ;;
    *) in_main_root "$1" ;;
  esac
}

for step in "$@"; do
  began=$SECONDS result=passed
  one_step "$step" || { result=FAILED; status=1; }
  note "$step" "$result" "$began"
done

printf '\n'
printf 'fresh: %s\n' "${lines[@]}"
# The test runner's own summaries, at the very end.
for log in "$main_root"/var/log/fresh/*test.log; do
  [[ ! -e $log ]] || grep -E '^[0-9]+% tests passed' "$log" | tail -n 1
done
exit "$status"
