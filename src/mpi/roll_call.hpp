// SPDX-License-Identifier: Apache-2.0
// Roll call: which ranks do not take part in a collective operation, found out by those that do.
#pragma once

#include <mpi.h>

#include <vector>

namespace afterbay::mpi {

/// A rank answers questions while it waits in the operation. When its own deadline has passed, it leaves word
/// that it was there, and asks (the first two ranks, so that one of them may be missing) or is told what
/// those that asked have found, also by ranks whose deadline passed earlier.
///
/// The messages go over the model's communicator: the library has none of its own yet, because making one is
/// the operation that some ranks did not come to, and MPI makes none for a part of the ranks within a
/// deadline (design/0024-roll-call.md). None are sent before a deadline has passed. Until then messages of
/// the model are never taken, nor changed: a question is recognized by its tag (the highest that MPI allows)
/// and its length, which is odd, before it is received. Used by the MPI thread.
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
