// SPDX-License-Identifier: Apache-2.0
// Uses of a server's state that clang's analysis accepts and refuses. thread_roles_test.py compiles
// this file: a warning is expected on each line that ends with a comment `refused: TEXT`, whose
// message contains TEXT; and on no other line. The file is part of no program.
#include "server/server.hpp"

namespace afterbay::server {

// A member function, so that its lambdas may use private members.
void Server::relieve() {
  OutputFile& file = *data_.files().find(1);
  // A worker reads what is constant, and posts what concerns the state.
  workers_.submit([this, &file, id = file.id, number = file.pending] {
    (void)end_.check_time(file.path);
    peers_.port().wake();
    executor_.post([this, id, number]() AFTERBAY_REQUIRES(ingest_thread) { end_.add_activity(id + number); });
  });

  // State of the server.
  workers_.submit([this] { end_.add_activity(1); });                          // refused: 'add_activity'
  workers_.submit([this] { data_.puts(); });                                  // refused: 'puts'
  workers_.submit([this] { data_.advance(); });                               // refused: 'advance'
  workers_.submit([this] { observation_.telemetry().show_progress(); });      // refused: 'show_progress'
  workers_.submit([this, &file] { tasks_.publish(file); });                   // refused: 'publish'
  workers_.submit([this] { (void)peers_.port().pump(); });                    // refused: 'pump'
  workers_.submit_first([this] { definitions_.awaited(); });                  // refused: 'awaited'
  workers_.submit([this] { (void)inputs_.advance(); });                       // refused: 'inputs_'
  workers_.submit([this] { load_.activate(); });                              // refused: 'load_'
  data_.files().submit(file, [this] { data_.puts().strings().written(1); });  // refused: 'written'

  // State of a file.
  workers_.submit([&file] { --file.pending; });                                // refused: 'pending'
  workers_.submit([&file] { file.closes.add(0, 0); });                         // refused: 'closes'
  workers_.submit([&file] { OutputFiles::task_done(file); });                  // refused: 'task_done'
  workers_.submit([&file] { return file.parts.missing > 0; });                 // refused: 'missing'
  workers_.submit([this, &file] { observation_.published(file); });            // refused: 'published'
  workers_.submit([&file] { (void)file.collection->packed[0]->own.size(); });  // refused: 'own'

  // What is posted belongs to the ingest thread only if it says so.
  executor_.post([this] { end_.add_activity(1); });  // refused: 'add_activity'
}

/// A worker cannot call what another component wants called by the ingest thread.
void end_from_worker(Workers& workers, const OutputFiles::Host& host, const OutputFile& file) {
  workers.submit([&host, &file] { host.removed(file); });  // refused: 'operator()'
}

}  // namespace afterbay::server
