// SPDX-License-Identifier: Apache-2.0
// Roll call: the participating ranks of a collective operation determine which ranks do not
// participate.
#pragma once

#include <mpi.h>

#include <vector>

namespace afterbay::mpi {

/// A rank answers questions while it waits in the operation. When its own deadline has passed, it
/// leaves a message that it was present. The first two ranks then ask all others (two, so that one
/// of them may be missing); the other ranks receive their result, also ranks whose deadline passed
/// earlier.
///
/// The messages use the model's communicator: the library has no communicator of its own yet,
/// because creating one is the operation in which some ranks are missing, and MPI cannot create one
/// for a subset of ranks within a deadline (design/0024-roll-call.md). No messages are sent before
/// a deadline has passed. The model's own messages are never received or changed: a question is
/// recognized before it is received by its tag (the highest that MPI allows) and its odd length.
/// Used by the MPI thread.
class RollCall {
 public:
  explicit RollCall(MPI_Comm comm);

  /// Answers questions. Cheap: to be called at every look.
  void answer();
  /// The ranks that do not answer, in ascending order; empty if all do, or if it could not be
  /// determined. Takes up to two seconds.
  std::vector<int> absent();

 private:
  void hear();
  void say_present();
  void ask();
  void tell();
  /// The messages, as offsets of their tags from the highest tag.
  enum Subject : int { question, presence, finding };
  void send(int to, Subject subject, const std::vector<int>& contents) const;
  bool receive(Subject subject, int& source, std::vector<int>& contents) const;

  MPI_Comm comm_;
  int highest_tag_ = 32'767;  ///< the minimum that MPI guarantees
  int rank_ = 0;
  int size_ = 0;
  std::vector<bool> here_;  ///< on the ranks that ask: which ranks answered or left a message
  std::vector<int> found_;  ///< on the others: the result that they received
  bool told_ = false;
};

}  // namespace afterbay::mpi
