// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "enumerations.hpp"
#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

void afterbay_session_free(afterbay_session* session) { delete session; }

int afterbay_session_is_server(const afterbay_session* session, int* server) {
  return guarded([&] { need(server, "server") = need(session, "session").session.is_server() ? 1 : 0; });
}

int afterbay_session_serve(afterbay_session* session) {
  return guarded([&] { need(session, "session").session.serve(); });
}

int afterbay_sessions_serve(afterbay_session* const* sessions, size_t count) {
  return guarded([&] {
    std::vector<Session*> all;
    for (afterbay_session* const session : list(sessions, count, "sessions"))
      all.push_back(&need(session, "session").session);
    serve_all(all);
  });
}

int afterbay_session_model_rank(const afterbay_session* session, int* rank) {
  return guarded([&] { need(rank, "rank") = need(session, "session").session.model_rank(); });
}

int afterbay_session_model_size(const afterbay_session* session, int* size) {
  return guarded([&] { need(size, "size") = need(session, "session").session.model_size(); });
}

int afterbay_session_start(afterbay_session* session) {
  return guarded([&] { need(session, "session").session.start(); });
}

int afterbay_session_progress(afterbay_session* session) {
  return guarded([&] { need(session, "session").session.progress(); });
}

int afterbay_session_end_step(afterbay_session* session) {
  return guarded([&] { need(session, "session").session.end_step(); });
}

int afterbay_session_flush(afterbay_session* session, afterbay_ticket* ticket) {
  return guarded([&] { need(ticket, "ticket").number = need(session, "session").session.flush().number; });
}

int afterbay_session_epoch(afterbay_session* session, const char* name, afterbay_ticket* ticket) {
  return guarded([&] {
    need(ticket, "ticket").number =
        need(session, "session").session.epoch(std::string(text(name, "name"))).number;
  });
}

int afterbay_session_on_complete(afterbay_session* session, afterbay_ticket ticket,
                                 void (*function)(void* context), void* context) {
  return guarded([&] {
    if (function == nullptr)
      refuse(ErrorCode::invalid_argument, "afterbay_session_on_complete: no function is given");
    need(session, "session").session.on_complete(Ticket{ticket.number}, [function, context] {
      function(context);
    });
  });
}

int afterbay_session_wait(afterbay_session* session, afterbay_ticket ticket) {
  return guarded([&] { need(session, "session").session.wait(Ticket{ticket.number}); });
}

int afterbay_session_is_complete(afterbay_session* session, afterbay_ticket ticket, int* complete) {
  return guarded([&] {
    need(complete, "complete") = need(session, "session").session.is_complete(Ticket{ticket.number}) ? 1 : 0;
  });
}

int afterbay_session_finalize(afterbay_session* session) {
  return guarded([&] { need(session, "session").session.finalize(); });
}

namespace {

bool gaps_allowed_from(int gaps) {
  switch (gaps) {
    case AFTERBAY_GAPS_REFUSED: return false;
    case AFTERBAY_GAPS_ALLOWED: return true;
    default:
      refuse(ErrorCode::invalid_argument,
             "there is no number " + std::to_string(gaps) +
                 " for gaps; use AFTERBAY_GAPS_REFUSED (0) or AFTERBAY_GAPS_ALLOWED (1)");
  }
}

Coverage coverage_from(const afterbay_map& from) {
  if (!is_number_of<Repeats>(from.repeats))
    refuse(ErrorCode::invalid_argument, "there is no number " + std::to_string(from.repeats) +
                                            " for repeats; use one of enum afterbay_repeats");
  return {.gaps_allowed = gaps_allowed_from(from.gaps), .repeats = static_cast<Repeats>(from.repeats)};
}

}  // namespace

int afterbay_decomposition_define(afterbay_session* session, const char* name, int rank,
                                  const uint64_t* global, const uint64_t* start, const uint64_t* count,
                                  int gaps) {
  return guarded([&] {
    const std::size_t dims = rank_of(rank);
    const Block block{list(global, dims, "global"), list(start, dims, "start"), list(count, dims, "count")};
    need(session, "session")
        .session.decomposition(std::string(text(name, "name")), block,
                               {.gaps_allowed = gaps_allowed_from(gaps), .repeats = Repeats::refuse});
  });
}

int afterbay_decomposition_define_map(afterbay_session* session, const char* name, const afterbay_map* map) {
  return guarded([&] {
    if (map == nullptr) refuse_null("map");
    need(session, "session")
        .session.decomposition(std::string(text(name, "name")), map_from(*map), coverage_from(*map));
  });
}
