// SPDX-License-Identifier: Apache-2.0
#include "ranks/mpi_calls.hpp"

#include <mpi.h>

namespace afterbay::testing {

MpiCalls& mpi_calls() {
  static MpiCalls calls;
  return calls;
}

}  // namespace afterbay::testing

using afterbay::testing::mpi_calls;

// These calls of the whole program come here.
extern "C" {
int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++mpi_calls().sends;
  mpi_calls().destinations.set(static_cast<std::size_t>(to) % 64);
  return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* found, MPI_Message* message, MPI_Status* status) {
  ++mpi_calls().others;
  if (from != MPI_ANY_SOURCE) ++mpi_calls().probes_of_one;
  return PMPI_Improbe(from, tag, comm, found, message, status);
}
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  ++mpi_calls().others;
  return PMPI_Iprobe(from, tag, comm, found, status);
}
int MPI_Imrecv(void* bytes, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  ++mpi_calls().others;
  ++mpi_calls().receives;
  return PMPI_Imrecv(bytes, count, type, message, request);
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  ++mpi_calls().others;
  return PMPI_Test(request, done, status);
}
int MPI_Iallgather(const void* bytes, int count, MPI_Datatype type, void* all, int each,
                   MPI_Datatype type_all, MPI_Comm comm, MPI_Request* request) {
  ++mpi_calls().all_to_all;
  return PMPI_Iallgather(bytes, count, type, all, each, type_all, comm, request);
}
int MPI_Iallgatherv(const void* bytes, int count, MPI_Datatype type, void* all, const int each[],
                    const int begins[], MPI_Datatype type_all, MPI_Comm comm, MPI_Request* request) {
  ++mpi_calls().all_to_all;
  return PMPI_Iallgatherv(bytes, count, type, all, each, begins, type_all, comm, request);
}
}
