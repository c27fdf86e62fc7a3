#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# check.sh [<folder for results>]: tries culprit on this machine's GPU, with what lies beside this script.
# check.sh --list: the names of the checks, one a line.
# Needs bash, coreutils, tar, glibc and NVIDIA's driver. Takes at most 8 minutes and leaves in the folder
# (default: ./gpu-kit-results) summary.txt, with a line for each check,
#   ok|FAILED|skipped <name>: <figure>
# and all else in results.tar.gz, of at most 16 MiB. Ends with status 1 if any check failed.
# docs/evidence/gpu-kit.md says what each line means.
#
# No check ends another: each runs in a shell of its own, with a time limit, and hands on what later ones
# need in files; what it leaves running is ended. The summary and the archive come however checks end.
set -u

kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$kit/checks.sh" || { echo "check.sh: $kit/checks.sh is missing" >&2; exit 1; }

readonly all_seconds=440        # after which no further check begins
readonly archive_kib=${CULPRIT_KIT_ARCHIVE_KIB:-16384}
if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${checks[@]%% *}"
  exit 0
fi

results=${1:-$PWD/gpu-kit-results}
mkdir -p "$results" && [[ -w $results ]] || {
  results=$(mktemp -d "${TMPDIR:-/tmp}/gpu-kit-results.XXXXXX") || exit 1
  echo "check.sh: the results go to $results, since ${1:-gpu-kit-results} cannot be written" >&2
}
results=$(cd "$results" && pwd)
summary=$results/summary.txt
out=$results/results            # what becomes the archive
rm -rf "$out" "$summary" "$results/results.tar.gz"
mkdir -p "$out"/{logs,raw,reports}
work=$(mktemp -d "${TMPDIR:-/tmp}/culprit-gpu-kit.XXXXXX") || work=$results/work
mkdir -p "$work/kept"
export PATH=$kit/mpi/bin:$PATH
failed=0
current='' pid='' watch=''     # the check that runs
before=''                      # the processes that there were in front of it

line() { printf '%s\n' "$*" | tee -a "$summary"; }

# --- Running a check ---

# Ends all processes that bear this run's and this check's name in their environment, wherever they went.
# One that was just forked and still is the shell bears none: it goes with its process group, before.
# Others appear while the list is read, and one that becomes another program has no environment for a
# moment: the list is read again until nothing was ended, and nothing new is undecided.
end_processes() {
  local pass
  for ((pass = 0; pass < 100; ++pass)); do
    ! end_seen_processes "$1" || return 0
    sleep 0.02
  done
}

# One pass: true if no process bears the name, and each that is new shows its environment, or has ended.
end_seen_processes() {
  local proc entry environment unsettled=0
  for proc in /proc/[0-9]*; do
    [[ -O $proc && -r $proc/environ ]] || continue
    environment=()
    mapfile -d '' -t environment 2> /dev/null < "$proc/environ"
    ((${#environment[@]} > 0)) || [[ $before == *" $proc "* || ! -e $proc/exe ]] || unsettled=1
    for entry in "${environment[@]}"; do
      [[ $entry == "CULPRIT_KIT_RUN=$$.$1" ]] || continue
      unsettled=1
      kill -KILL "${proc##*/}" 2> /dev/null
    done
  done
  return "$unsettled"
}

# in_time <name> <seconds> <function> [<argument>...]: runs it as a check; its status, or 124 where time
# was up.
in_time() {
  local name=$1 status=0
  before=" $(printf '%s ' /proc/[0-9]*)"
  set -m  # a process group of its own
  (
    trap - EXIT INT TERM
    export CULPRIT_KIT_RUN=$$.$name CULPRIT_KIT_CHECK=$name
    exec > "$out/logs/$name.check.out" 2> "$out/logs/$name.check.err" < /dev/null
    "${@:3}"
  ) &
  pid=$!
  set +m
  sleep "$2" < /dev/null > /dev/null 2>&1 &
  watch=$!
  wait -n "$pid" "$watch" 2> /dev/null || status=$?
  if kill -KILL "$pid" 2> /dev/null; then status=124; fi
  kill -KILL -- "$watch" "-$pid" 2> /dev/null
  wait "$pid" "$watch" 2> /dev/null
  end_processes "$name"
  return "$status"
}

# check <name> <seconds> <what it needs: any or device> <function> [<argument>...]: the function says
# (say) its figure; 0 is ok, 77 skipped.
check() {
  local name=$1 seconds=${CULPRIT_KIT_SECONDS:-$2} status=0 word=FAILED figure=''
  if ((SECONDS > all_seconds)); then
    line "skipped $name: no time was left"
    return
  fi
  if [[ $3 == device && -n $(kept no_device) ]]; then
    line "skipped $name: $(kept no_device)"
    return
  fi
  rm -f "$work/figure"
  current=$name
  in_time "$name" "$seconds" "${@:4}" || status=$?
  current=''
  [[ ! -s $work/figure ]] || figure=$(tr '\n' ' ' < "$work/figure")
  figure=${figure% }
  case $status in
    0) word=ok ;;
    77) word=skipped ;;
    124) figure="${figure:+$figure; }not done after $seconds s" ;;
    *) figure=${figure:-status $status: see logs/$name.check.err} ;;
  esac
  [[ $word != FAILED ]] || failed=$((failed + 1))
  line "$word $name: ${figure:-done}"
}

# --- The end ---

# The archive of what there is; the largest files are left out until it is small enough.
archive() {
  local kib size path tried
  for ((tried = 0; tried < 200; ++tried)); do
    cp "$summary" "$out/summary.txt"
    tar -C "$results" -czf "$results/results.tar.gz" results 2> "$work/tar.err" ||
      tar -C "$results" -cf "$results/results.tar.gz" results 2> "$work/tar.err" || {
      line "no archive could be made, everything is in $out: $(head -n 1 "$work/tar.err")"
      return 1
    }
    read -r kib _ < <(du -k --apparent-size "$results/results.tar.gz")
    ((kib > archive_kib)) || break
    read -r size path < <(largest)
    [[ -n ${path:-} ]] || break
    line "left out ${path#"$out"/}: $(((size + 1023) / 1024)) KiB"
    rm -f "$path"
  done
  rm -rf "$out"
}

# The size and the path of the largest file that may be left out.
largest() {
  shopt -s globstar nullglob
  local all=("$out"/{raw,logs,reports}/**/* "$out"/{raw,logs,reports}/*) files=() each
  for each in "${all[@]}"; do [[ ! -f $each ]] || files+=("$each"); done
  ((${#files[@]} == 0)) || stat -c '%s %n' "${files[@]}" | sort -rn | head -n 1
}

finish() {
  trap '' INT TERM
  trap - EXIT
  if [[ -n $current ]]; then
    kill -KILL -- "$pid" "$watch" "-$pid" 2> /dev/null
    end_processes "$current"
    line "FAILED $current: interrupted"
    failed=$((failed + 1))
  fi
  line "$failed checks failed; results in $results, $SECONDS s"
  archive
  rm -rf "$work"
  exit $((failed > 0))
}
trap finish EXIT
trap 'exit 130' INT TERM

for row in "${checks[@]}"; do
  read -r -a words <<< "$row"
  check "${words[@]}"
done
