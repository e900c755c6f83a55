// SPDX-License-Identifier: Apache-2.0
// Uses of a server's state that clang's analysis accepts and refuses. thread_roles_test.py compiles
// this file: a warning is expected on each line that ends with a comment `refused: TEXT`, whose
// message contains TEXT; and on no other line. The file is part of no program.
#include "server/server.hpp"

namespace afterbay::server {

// A member function, so that its lambdas may use private members.
void Server::hand_over(OutputFile& file) {
  // A worker reads what is constant, and posts what concerns the state.
  workers_.submit([this, &file, id = file.id, number = file.pending] {
    (void)shutdown_.check_time(file.path);
    port_->wake();
    executor_.post([this, id, number]()
                       AFTERBAY_REQUIRES(ingest_thread) { deadlines_.add_activity(id + number); });
  });

  // State of the server.
  workers_.submit([this] { deadlines_.add_activity(1); });          // refused: 'deadlines_'
  workers_.submit([this] { tickets_.clear(); });                    // refused: 'tickets_'
  workers_.submit([this] { telemetry_.show_progress(); });          // refused: 'show_progress'
  workers_.submit([this, &file] { publish(file); });                // refused: 'publish'
  workers_.submit([this] { (void)port_->pump(); });                 // refused: 'pump'
  workers_.submit_first([this] { preparations_.holds_answer(); });  // refused: 'preparations_'
  files_.submit(file, [this] { strings_.written(1); });             // refused: 'strings_'

  // State of a file.
  workers_.submit([&file] { --file.pending; });                                // refused: 'pending'
  workers_.submit([&file] { file.closed.clear(); });                           // refused: 'closed'
  workers_.submit([&file] { OutputFiles::task_done(file); });                  // refused: 'task_done'
  workers_.submit([&file] { return file.parts.missing > 0; });                 // refused: 'missing'
  workers_.submit([this, &file] { (void)never_put_.warning(file); });          // refused: 'never_put_'
  workers_.submit([&file] { (void)file.collection->packed[0]->own.size(); });  // refused: 'own'

  // What is posted belongs to the ingest thread only if it says so.
  executor_.post([this] { deadlines_.add_activity(1); });  // refused: 'deadlines_'
}

/// A worker cannot call what another component wants called by the ingest thread.
void end_from_worker(Workers& workers, const OutputFiles::Host& host, const OutputFile& file) {
  workers.submit([&host, &file] { host.removed(file); });  // refused: 'operator()'
}

}  // namespace afterbay::server
