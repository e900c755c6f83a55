// SPDX-License-Identifier: Apache-2.0
// Roll call: which ranks do not take part in a collective operation, found out by those that do.
#pragma once

#include <mpi.h>

#include <vector>

namespace afterbay::mpi {

/// While a rank waits in the operation it answers; when its time is over it asks, or hears what those that
/// asked have found, be it that others' time was over earlier; and leaves word that it was there. The first
/// two ranks ask, so that one of them may be missing. There is no communicator of the library's own yet,
/// since making one is what some ranks did not come to: messages go over the model's. None are sent before a
/// deadline has passed. Their tags are the three highest that MPI allows, and each begins with a mark; a
/// model that used these tags for messages of the very length would lose them. Used by the MPI thread.
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
  /// The messages, as distances of their tags from the highest tag.
  enum Subject : int { question, presence, finding };
  void send(int to, Subject subject, const std::vector<int>& contents) const;
  bool receive(Subject subject, int& source, std::vector<int>& contents) const;

  MPI_Comm comm_;
  int highest_tag_ = 32'767;  ///< the least that MPI guarantees
  int rank_ = 0;
  int size_ = 0;
  std::vector<bool> here_;  ///< who has answered or left word; of those that ask
  std::vector<int> found_;  ///< of the others: what they were told
  bool told_ = false;
};

}  // namespace afterbay::mpi
