#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# archive.sh <culprit-*.tar.xz>: the relocatable archive, first on a machine that has nothing, then with
# a compiler and Open MPI; from two places, and by a user without rights.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
archive=$1
place=/opt/somewhere
command -v xz > /dev/null || install_packages xz-utils
mkdir -p $place
tar -C $place -xJf "$archive"
folder=$(echo $place/culprit-*)

expect 'culprit ' "$folder/bin/culprit" --version
expect 'collector' "$folder/bin/culprit" doctor
expect 'Late sender' "$folder/bin/culprit" patterns
ln -sf "$folder/bin/culprit" /usr/local/bin/culprit
expect 'culprit ' culprit --version
rm /usr/local/bin/culprit
expect '.TH CULPRIT' cat "$folder/share/man/man1/culprit.1"

install_packages gcc libc6-dev openmpi-bin libopenmpi-dev
measure_hybrid "$folder/bin/culprit" "$folder/share/doc/culprit/examples" /tmp/first
mkdir /srv/elsewhere
mv "$folder" /srv/elsewhere/moved
chmod -R a-w /srv/elsewhere/moved
measure_hybrid /srv/elsewhere/moved/bin/culprit /srv/elsewhere/moved/share/doc/culprit/examples /tmp/second

useradd -m visitor 2> /dev/null || true
cp "$(dirname "${BASH_SOURCE[0]}")/common.sh" /tmp/common.sh
chmod a+r /tmp/common.sh
su visitor -c "bash -c '. /tmp/common.sh; cd; measure_hybrid /srv/elsewhere/moved/bin/culprit \
  /srv/elsewhere/moved/share/doc/culprit/examples /tmp/third'" || die "a user without rights cannot use it"
chmod -R u+w /srv/elsewhere/moved
rm -rf /srv/elsewhere
say "the archive works"
