#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# pack.sh <build folder> device|rehearsal: packs the GPU kit, which must be built, as
# <build>/package/culprit-gpu-kit[-rehearsal].tar.xz: culprit's relocatable archive, MPICH, the programs,
# CUPTI's library if a toolkit is here, and check.sh. Of the machine that it is unpacked on it needs
# glibc, bash, coreutils, and NVIDIA's driver. Prints what it made.
set -euo pipefail
export LC_ALL=C

say() { printf 'gpu-kit: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

readonly most_mib=60
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
variant=$2
name=culprit-gpu-kit
[[ $variant == device ]] || name=$name-$variant
stage=$build/package/$name
built=$build/gpu-kit
[[ -d $built/$variant/bin ]] || die "there is no $built/$variant: build the target gpu_kit first"

rm -rf "$stage"
mkdir -p "$stage"/{bin,lib,mpi/bin,mpi/lib,cuda/lib64,opencl/lib,licenses}
"$root/packaging/archive.sh" "$build" "$stage/culprit"

# The libraries that a file needs beside glibc's, at any depth, by "soname path".
needs() {
  ldd "$1" | while read -r soname arrow path _; do
    [[ $arrow == "=>" && $path == /* ]] || continue
    [[ ! $soname =~ ^(linux-vdso|ld-linux-x86-64|lib(c|m|dl|pthread|rt|resolv|util))\.so ]] || continue
    printf '%s %s\n' "$soname" "$path"
  done
}

# Debian knows some files without /usr.
licence_of() {
  local file found
  file=$(realpath "$1")
  found=$(dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}" 2>/dev/null || true)
  found=${found%%:*}
  [[ -n $found && -e /usr/share/doc/$found/copyright ]] || { say "no licence is known of $file"; return; }
  cp -L "/usr/share/doc/$found/copyright" "$stage/licenses/$found"
}

# MPICH: its launcher finds the proxy beside itself, and its libraries by relative paths.
mpi_libraries=$(
  for program in mpiexec.hydra hydra_pmi_proxy; do needs "$(command -v $program)"; done
  needs "$built/$variant/bin/cuda_shared_device" | grep -v '^libcudart'
)
for program in mpiexec.hydra hydra_pmi_proxy; do
  install -m 755 "$(command -v $program)" "$stage/mpi/bin/$program"
  patchelf --set-rpath '$ORIGIN/../lib' "$stage/mpi/bin/$program"
  licence_of "$(command -v $program)"
done
sort -u <<< "$mpi_libraries" | while read -r soname path; do
  install -m 644 "$(realpath "$path")" "$stage/mpi/lib/$soname"
  patchelf --set-rpath '$ORIGIN' "$stage/mpi/lib/$soname"
  licence_of "$path"
done

# The programs. Their symbols stay: culprit names functions by them.
install -m 755 "$built/$variant"/bin/* "$built/bin/operations" "$stage/bin/"
strip "$stage/bin/operations"
patchelf --force-rpath --set-rpath '$ORIGIN/../culprit/lib/bundled' "$stage/bin/operations"
patchelf --set-rpath '$ORIGIN/../mpi/lib:$ORIGIN/../lib' "$stage/bin/cuda_shared_device"
install -m 644 "$built/lib/libcupti_alone.so" "$stage/lib/"
strip "$stage/lib/libcupti_alone.so"
if [[ $variant == rehearsal ]]; then
  for program in "$built/$variant"/bin/*; do
    [[ $program == */cuda_shared_device ]] ||
      patchelf --set-rpath '$ORIGIN/../lib' "$stage/bin/${program##*/}"
  done
  install -m 644 "$built/rehearsal/lib/libcudart.so.13" "$stage/lib/"
  cupti=$build/tests/fake_cupti/libcupti.so.13
else
  cuda=$(dirname "$(dirname "$(realpath "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")
  cupti=$(find "$cuda/" -name libcupti.so.13 2>/dev/null | head -1)
fi
if [[ -n $cupti && -e $cupti ]]; then
  install -m 644 "$(realpath "$cupti")" "$stage/cuda/lib64/libcupti.so.13"
else
  say "no libcupti.so.13 here: check.sh will look for one of a toolkit on its machine"
fi

# OpenCL: the loader, for machines whose driver comes without one or with an old one.
for program in opencl_late_launch opencl_oversync; do
  [[ -x $build/examples/$program ]] || { say "no $program: install ocl-icd-opencl-dev"; continue; }
  install -m 755 "$build/examples/$program" "$stage/bin/"
  patchelf --set-rpath '$ORIGIN/../opencl/lib' "$stage/bin/$program"
  loader=$(needs "$build/examples/$program" | sed -n 's/^libOpenCL.so.1 //p')
  install -m 644 "$(realpath "$loader")" "$stage/opencl/lib/libOpenCL.so.1"
  licence_of "$loader"
  needs "$build/examples/$program" | { grep -v '^libOpenCL' || true; } | while read -r soname path; do
    install -m 644 "$(realpath "$path")" "$stage/opencl/lib/$soname"
    licence_of "$path"
  done
done

install -m 755 "$here/check.sh" "$stage/check.sh"
install -m 644 "$here/checks.sh" "$stage/checks.sh"
install -m 644 "$root/docs/evidence/gpu-kit.md" "$stage/README.md"
tar -C "$build/package" --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" |
  xz -T0 -6 > "$build/package/$name.tar.xz"
rm -rf "$stage"
kib=$(du -k "$build/package/$name.tar.xz" | cut -f1)
((kib <= most_mib * 1024)) || die "the kit has $kib KiB, at most $most_mib MiB"
say "$kib KiB packed, at most $most_mib MiB"
printf '%s\n' "$build/package/$name.tar.xz"
