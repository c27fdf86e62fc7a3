#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu-kit.sh <culprit-gpu-kit-rehearsal.tar.xz>: the GPU kit on simulated CUDA libraries, on a machine that
# has nothing; then the OpenCL checks on PoCL.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v xz > /dev/null || install_packages xz-utils
mkdir -p /opt/kit
tar -C /opt/kit -xJf "$1"
folder=$(echo /opt/kit/culprit-gpu-kit*)

"$folder/check.sh" /tmp/bare || die "checks failed on a bare machine: $(grep ^FAILED /tmp/bare/summary.txt)"
# What launches cost says nothing of a device here, and is not judged.
! grep '^skipped' /tmp/bare/summary.txt | grep -vE '^skipped (opencl|launch_rate|overhead)' ||
  die "more than OpenCL and the costs was skipped"

install_packages pocl-opencl-icd
"$folder/check.sh" /tmp/pocl || die "checks failed with PoCL: $(grep ^FAILED /tmp/pocl/summary.txt)"
grep '^ok opencl_late_launch' /tmp/pocl/summary.txt || die "OpenCL was not checked"
! grep '^skipped' /tmp/pocl/summary.txt | grep -vE '^skipped (launch_rate|overhead)' || die "a check was skipped"
say "the GPU kit works, as far as that shows without a GPU"
