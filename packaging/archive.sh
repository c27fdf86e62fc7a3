#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# archive.sh <build folder> [<folder to fill>]: packs what `cmake --install` installs, with the libraries
# that it needs, as <build>/package/culprit-<version>-linux-x86_64.tar.xz: unpack it anywhere, and run
# bin/culprit. With a second argument, fills that folder and packs nothing. Prints what it made.
#
# Of the machine it takes glibc (its own only where that is too old for bin/culprit), and in measured programs libgcc_s (part of every system that runs C++),
# the program's MPI and device runtimes. What bin/culprit itself needs lies in lib/bundled, and is found
# by a DT_RPATH, ahead of LD_LIBRARY_PATH: older libraries of loaded modules must not get in between.
# What goes into measured programs has no such path: there the program's own libraries come first.
set -euo pipefail

say() { printf 'archive: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
for tool in patchelf objdump readelf xz; do
  command -v "$tool" >/dev/null || die "$tool is missing: run ./dev deps"
done
[[ -x $build/bin/culprit ]] || die "there is no $build/bin/culprit: build culprit first"
read -r _ version _ < <("$build/bin/culprit" --version)
name=culprit-$version-linux-x86_64
stage=${2:-$build/package/$name}
rm -rf "$stage"
mkdir -p "$stage"
cmake --install "$build" --prefix "$stage" --strip >/dev/null

# glibc's own, which always come from the machine: they belong to its loader and its kernel.
glibc='^(linux-vdso|ld-linux-x86-64|lib(c|m|dl|pthread|rt|resolv|util|mvec|anl|nsl|BrokenLocale|thread_db))\.so'

# The libraries that a file needs, by "soname path".
needs() {
  local soname arrow path rest
  ldd "$1" | while read -r soname arrow path rest; do
    [[ $soname != /* && ! $soname =~ $glibc ]] || continue
    [[ $arrow == "=>" && -e $path ]] || die "$1 needs $soname, which is not on this machine"
    printf '%s %s\n' "$soname" "$path"
  done
}

# The licence of the package that a file is of, beside ours. Debian knows some files without /usr.
licence_of() {
  local file found
  file=$(realpath "$1")
  found=$(dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}" 2>/dev/null || true)
  licence_of_package "${found%%:*}" "$file"
}

licence_of_package() {
  [[ -n $1 && -e /usr/share/doc/$1/copyright ]] || { say "no licence is known of ${2:-$1}"; return; }
  cp -L "/usr/share/doc/$1/copyright" "$stage/share/doc/culprit/bundled/$1"
}

bundled=$stage/lib/bundled
mkdir -p "$bundled" "$stage/share/doc/culprit/bundled"
bundle() {
  local soname path
  needs "$1" | while read -r soname path; do
    [[ ! -e $bundled/$soname ]] || continue
    install -m 644 "$(realpath "$path")" "$bundled/$soname"
    licence_of "$path"
  done
}

bundle "$stage/bin/culprit"
# What is compiled in.
for package in libboost-dev libcapstone-dev libcli11-dev libeigen3-dev libkissfft-dev libprotozero-dev nlohmann-json3-dev; do
  licence_of_package "$package"
done
mv "$stage/bin/culprit" "$stage/bin/culprit.bin"
patchelf --force-rpath --set-rpath '$ORIGIN/../lib/bundled' "$stage/bin/culprit.bin"

# Counters: what a loaded module brings may know the machine's processor better than ours does.
if [[ -e $stage/lib/libculprit-papi.so ]]; then
  bundle "$stage/lib/libculprit-papi.so"
  patchelf --set-rpath '$ORIGIN/bundled' "$stage/lib/libculprit-papi.so"
  for library in "$bundled"/libpapi.so.*; do patchelf --set-rpath '$ORIGIN' "$library"; done
fi

# LLVM's OpenMP runtime, for --openmp libomp; cli/launch/openmp_runtime.cpp looks in lib.
openmp=$(find /usr/lib/llvm-*/lib -name libomp.so.5 2>/dev/null | sort -V | tail -1)
[[ -n $openmp ]] || die "there is no libomp.so.5: install libomp-19-dev (./dev deps)"
[[ -z $(needs "$openmp") ]] || say "libomp.so.5 needs more than glibc: $(needs "$openmp")"
install -m 644 "$(realpath "$openmp")" "$stage/lib/libomp.so.5"
licence_of "$openmp"

# For machines whose glibc is older than this one's: the loader and the C library that bin/culprit.bin
# was built with. Programs that are measured never see them.
glibc_folder=$stage/lib/bundled/glibc
mkdir -p "$glibc_folder"
for soname in ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2; do
  path=$(ldconfig -p | sed -n "s|^[[:space:]]*$soname (.*x86-64.*) => ||p" | head -1)
  [[ -n $path ]] || die "there is no $soname on this machine"
  install -m 755 "$(realpath "$path")" "$glibc_folder/$soname"
done
licence_of "$(ldconfig -p | sed -n 's|^[[:space:]]*libc.so.6 (.*x86-64.*) => ||p' | head -1)"

# --- What it needs of a machine ---

binaries() { find "$stage/bin" "$stage/lib" -path "$glibc_folder" -prune -o -type f \( -name '*.so*' -o -name '*.bin' \) -print; }
# Of the machine, what goes into programs; the program itself has a C library with it.
required=$(find "$stage/lib" -maxdepth 1 -type f -name 'libculprit*.so' | while read -r file; do objdump -T "$file"; done |
  grep -o 'GLIBC_[0-9][0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -1)
sed "s/@glibc@/$required/g" "$here/launcher.sh" > "$stage/bin/culprit"
chmod 755 "$stage/bin/culprit"

# Nothing else may be needed: MPI's own by the parts for it, libgcc_s by what goes into programs.
binaries | while read -r file; do
  readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r soname; do
    [[ ! $soname =~ $glibc && ! -e $bundled/$soname && $soname != libgcc_s.so.1 ]] || continue
    [[ $file == */libculprit-ranks-* ]] || die "${file#"$stage/"} needs $soname, which is not in the archive"
    printf '%s\n' "$soname" | grep -qE '^lib(mpi|mpich)\.so' ||
      die "${file#"$stage/"} needs $soname, which is no MPI"
  done
done

say "needs glibc $required and brings $(cd "$bundled" && printf '%s ' *)"
[[ -z ${2:-} ]] || exit 0
tar -C "$build/package" --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" |
  xz -T0 -9 > "$build/package/$name.tar.xz"
rm -rf "$stage"
say "$(du -h "$build/package/$name.tar.xz" | cut -f1) packed"
printf '%s\n' "$build/package/$name.tar.xz"
