#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The completion script, called as bash calls it.
set -eu
afterbay=$AFTERBAY_BUILD/apps/afterbay/afterbay
"$afterbay" completion bash > completion.bash
source ./completion.bash
compopt() { :; }  # only works while a completion runs

expect() {  # expect "typed words" "completions"
  read -r -a COMP_WORDS <<< "$1"
  case $1 in *" ") COMP_WORDS+=("") ;; esac
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _afterbay || true  # an empty result is not an error
  [ "${COMPREPLY[*]-}" = "$2" ] || { echo "$1 -> ${COMPREPLY[*]-}, expected $2" >&2; exit 1; }
}

expect "afterbay che" "check"
expect "afterbay check --sh" "--show"
expect "afterbay check --afterbay.memory.s" \
  "--afterbay.memory.server= --afterbay.memory.small_block= --afterbay.memory.small_share= --afterbay.memory.statistics="
expect "afterbay settings --mark" "--markdown"
expect "afterbay plan sto" "storage"
expect "afterbay plan storage --ti" "--time"
expect "afterbay nothing --" ""

if "$afterbay" completion tcsh 2> message; then echo "tcsh was accepted" >&2; exit 1; fi
grep -q "tcsh" message
