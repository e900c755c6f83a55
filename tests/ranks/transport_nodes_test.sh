#!/usr/bin/env bash
# The transport's rank tests on emulated nodes, where ranks on different nodes have only TCP.
set -euo pipefail
nodes=$(dirname "$(readlink -f "$0")")/nodes
tests=$AFTERBAY_BUILD/tests/rank_tests

run() { # LAYOUT TEST
  echo "== $2 on nodes $1"
  timeout -k 5 90 "$nodes" "$1" "$tests" "--gtest_filter=$2"
}

run 3,3 TransportNodes.pairs_share_memory_within_a_node_only
run 2,2,2 TransportNodes.pairs_share_memory_within_a_node_only
run 2,2 TransportNodes.an_inline_server_on_every_rank
run 3,1 TransportNodes.forced_shared_memory_between_nodes_is_refused
run 1,1 TransportEnds.a_client_is_told_that_a_server_over_mpi_has_ended
run 1,1 TransportEnds.a_silent_server_over_mpi_ends_waits_at_the_deadline
