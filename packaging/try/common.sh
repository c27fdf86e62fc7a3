# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# What the trials in this folder share. They run as root in a pristine Debian 12 (debootstrap's minbase,
# with package sources), which they change as they like; each takes the package that it tries, and stops
# with one sentence at what does not work.
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0
export OMP_WAIT_POLICY=passive

say() { printf 'try: %s\n' "$*"; }
die() { printf 'try: FAILED: %s\n' "$*" >&2; exit 1; }

install_packages() {
  apt-get -qq update && apt-get -qq -y install --no-install-recommends "$@" > /tmp/apt.log 2>&1 ||
    { cat /tmp/apt.log >&2; die "apt-get cannot install $*"; }
}

# expect <words> <command...>: it succeeds, and its output holds the words.
expect() {
  local output
  output=$("${@:2}" 2>&1) || die "'${*:2}' ended with status $?: $output"
  [[ $output == *"$1"* ]] || die "'${*:2}' does not say '$1': $output"
  say "ok: ${*:2}"
}

# measure_hybrid <culprit> <folder of the examples' sources> <scratch folder>: a program of MPI and OpenMP
# built by gcc, with Open MPI: the report names the function that is to blame, and two ranks analyse.
measure_hybrid() {
  local culprit=$1 examples=$2 scratch=$3
  mkdir -p "$scratch"
  mpicc -g -O2 -fopenmp -o "$scratch/hybrid_chain" "$examples/hybrid_chain.c" || die "mpicc fails"
  export OMP_NUM_THREADS=2
  expect resolve_contacts "$culprit" run -o "$scratch/run" -- \
    mpirun -n 2 --bind-to none "$scratch/hybrid_chain"
  expect resolve_contacts "$culprit" report "$scratch/run"
  expect '' mpirun -n 2 "$culprit" analyze "$scratch/run" -o "$scratch/again"
  rm -rf "$scratch"
}
