// SPDX-License-Identifier: Apache-2.0
#include "mpi/parts.hpp"

#include <vector>

#include "mpi/check.hpp"

namespace afterbay::mpi {

Result<void> send_parts(std::span<const std::span<const std::byte>> parts, int to, int tag, MPI_Comm comm,
                        MPI_Request* request) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    lengths.push_back(static_cast<int>(part.size()));
    AFTERBAY_TRY(check(MPI_Get_address(part.data(), &places.emplace_back()), "MPI_Get_address"));
  }
  MPI_Datatype all = MPI_DATATYPE_NULL;
  AFTERBAY_TRY(check(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                                              MPI_BYTE, &all),
                     "MPI_Type_create_hindexed"));
  auto sent = check(MPI_Type_commit(&all), "MPI_Type_commit");
  if (sent) sent = check(MPI_Issend(MPI_BOTTOM, 1, all, to, tag, comm, request), "MPI_Issend");
  MPI_Type_free(&all);  // once the send is complete
  return sent;
}

}  // namespace afterbay::mpi
