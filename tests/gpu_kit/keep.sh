#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# keep.sh <results.tar.gz> <label> <name>...: makes fixtures of experiments that the GPU kit brought back,
# in recorded/ beside this script, with what each says (docs/evidence/gpu-kit.md). Needs build/gpu-kit/bin/operations.
set -euo pipefail
(($# >= 3)) || { echo "usage: keep.sh <results.tar.gz> <label> <name>..." >&2; exit 2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
operations=$here/../../build/gpu-kit/bin/operations
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$here/recorded"
tar -C "$work" -xf "$1"
for name in "${@:3}"; do
  experiment=$work/results/raw/$name
  [[ -d $experiment/raw && -d $experiment/trace ]] || { echo "keep.sh: no experiment $name in $1" >&2; exit 1; }
  kept=$here/recorded/$2-$name
  "$operations" "$experiment" > "$kept.says"
  tar -C "$work/results/raw" --sort=name --owner=0 --group=0 --numeric-owner -S -cJf "$kept.tar.xz" "$name"
  printf '%s: %d KiB\n' "$kept.tar.xz" $(($(stat -c %s "$kept.tar.xz") / 1024 + 1))
done
