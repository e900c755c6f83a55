// SPDX-License-Identifier: Apache-2.0
// Roll call: which ranks do not take part in a collective operation, found out by those that do.
#pragma once

#include <mpi.h>

#include <vector>

namespace afterbay::mpi {

/// While a rank waits in the operation it answers; when its time is over it asks, or hears what those that
/// asked have found, be it that others' time was over earlier; and leaves word that it was there. The first
/// two ranks ask, so that one of them may be missing. Small messages with the tags 32741 to 32743 on a
/// communicator that all ranks know, which may be the model's own; none are sent while nobody asks, and none
/// of another size are taken. Used by the MPI thread.
class RollCall {
 public:
  explicit RollCall(MPI_Comm comm);

  /// Answers whoever asks. Cheap: to be called at every look.
  void answer();
  /// The ranks that do not answer, in ascending order; empty where all do, or nobody could find out. Takes up
  /// to two seconds.
  std::vector<int> absent();

 private:
  void hear();
  void say_present();
  void ask();
  void tell();
  void send(int to, int tag, const std::vector<int>& contents) const;

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 0;
  std::vector<bool> here_;  ///< who has answered or left word; of those that ask
  std::vector<int> found_;  ///< of the others: what they were told
  bool told_ = false;
};

}  // namespace afterbay::mpi
