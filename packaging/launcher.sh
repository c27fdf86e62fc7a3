#!/bin/sh
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# bin/culprit of the relocatable archive: looks whether this machine has what culprit needs, says in one
# sentence what is missing, and otherwise becomes culprit.bin beside it. @glibc@ is put in by archive.sh.
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=${self%/*}/$target ;;
  esac
done
here=${self%/*}
linker=/lib64/ld-linux-x86-64.so.2

refuse() {
  printf 'culprit: %s\n' "$*" >&2
  exit 1
}

[ -x "$linker" ] || refuse "this build needs Linux on x86-64 with the GNU C library (glibc @glibc@ or later)"
# The linker names what it does not find, without starting anything.
answer=$("$linker" --list "$here/../lib/libculprit.so" 2>&1)
own=$("$linker" --list "$here/culprit.bin" 2>&1)
bundled=$here/../lib/bundled
start=
case $own in
  # Older than what culprit was built with: it brings the C library that it needs, for itself alone.
  *"version \`GLIBC_"*) start="$bundled/glibc/$(basename "$linker")" ;;
  *) answer="$answer
$own" ;;
esac
case $answer in
  *"version \`GLIBC_"*)
    refuse "this build needs glibc @glibc@ or later, and this machine has $(getconf GNU_LIBC_VERSION 2>/dev/null ||
      echo an older one): build culprit here, or on a system as old as this one" ;;
  *"=> not found"* | *"error while loading"* | *"version \`"*)
    missing=$(printf '%s\n' "$answer" | sed -n -e 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' \
      -e 's/.*error while loading shared libraries: \([^:]*\):.*/\1/p' \
      -e "s/.*\(version .* not found\).*/\1/p" | sort -u | tr '\n' ' ')
    refuse "this machine lacks what this build needs: ${missing% }" ;;
esac
[ -z "$start" ] || here=$(cd "$here" && pwd) # the program learns from it where it is
[ -z "$start" ] || exec "$start" --library-path "$bundled:$bundled/glibc" "$here/culprit.bin" "$@"
exec "$here/culprit.bin" "$@"
