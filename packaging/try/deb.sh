#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# deb.sh <culprit_*.deb>: the Debian package as apt installs it, with what it recommends; then a program
# is measured, and the package removed without a trace.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
package=$(realpath "$1")
apt-get -qq update
apt-get -qq -y install "$package" > /tmp/apt.log 2>&1 || { cat /tmp/apt.log >&2; die "apt cannot install it"; }

expect 'culprit ' culprit --version
expect 'Ready to measure' culprit doctor
[[ -e /usr/lib/libculprit.so ]] || die "there is no /usr/lib/libculprit.so"
files=$(dpkg -L culprit)
for file in /usr/share/man/man1/culprit.1 /usr/share/man/man1/culprit-run.1 /usr/share/bash-completion/completions/culprit \
  /usr/include/culprit.h /usr/share/doc/culprit/copyright; do
  [[ $files == *"$file"* ]] || die "the package lacks $file"
done

install_packages gcc libc6-dev libopenmpi-dev openmpi-bin man-db bash-completion
expect 'CULPRIT(1)' man culprit
expect 'CULPRIT-RUN(1)' man culprit-run
expect 'analyze' bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader culprit
  COMP_WORDS=(culprit a) COMP_CWORD=1; _culprit; echo "${COMPREPLY[@]}"'
measure_hybrid culprit /usr/share/doc/culprit/examples /tmp/first

apt-get -qq -y remove culprit > /tmp/apt.log 2>&1 || die "apt cannot remove it"
[[ -z $(find /usr -name '*culprit*') ]] || die "it left $(find /usr -name '*culprit*' | tr '\n' ' ')"
say "the Debian package works"
