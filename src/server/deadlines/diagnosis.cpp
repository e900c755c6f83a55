// SPDX-License-Identifier: Apache-2.0
#include "server/deadlines/diagnosis.hpp"

#include <optional>
#include <utility>

namespace afterbay::server {

/// A deadline error. `ranks`: the model ranks that are late; the error names the rank of the first
/// one.
Error Diagnosis::deadline_error(std::string what, const std::vector<int>& ranks) const {
  Error error = make_error(ErrorCode::timed_out, "{}, and nothing arrived for {} s (the setting 'deadline')",
                           what, static_cast<double>(from_.config.deadline.count()) / 1000);
  return ranks.empty() ? error
                       : error.at_rank(from_.catalog.session_rank(static_cast<std::size_t>(ranks.front())));
}

Error Diagnosis::missed_deadline() const {
  if (const auto absent = from_.catalog.still_to_come(); !absent.empty())
    return deadline_error(
        fmt::format("{} did not define collections and decompositions (start, or the first open), "
                    "while other ranks did",
                    text_of_ranks(absent)),
        absent);
  if (from_.preparations.holds_answer())
    return deadline_error(
        fmt::format("the journal in {} or the structure of files in /dev/shm is still being created, "
                    "while ranks wait: a disk hangs",
                    from_.config.journal.directory));
  if (auto error = missing_values()) return *std::move(error);
  if (auto error = missing_calls()) return *std::move(error);
  std::vector<int> absent;
  for (std::size_t p = 0; p < from_.catalog.ranks(); ++p)
    if (!from_.shutdown.has_ended(p)) absent.push_back(static_cast<int>(p));
  if (from_.shutdown.ranks_ended() > 0)
    return deadline_error(fmt::format("{} did not finalize, while other ranks did", text_of_ranks(absent)),
                          absent);
  return deadline_error(fmt::format(
      "ranks wait for room in the server's memory ({} of {} bytes in use) and no record is complete: "
      "put variables in the same order on all ranks, or raise memory.server",
      from_.frames.used_bytes(), from_.frames.capacity_bytes()));
}

/// Variables and strings that some ranks have put and others have not.
std::optional<Error> Diagnosis::missing_values() const {
  for (auto& [id, records] : from_.records.all()) {
    const ServedCollection& collection = *from_.catalog.find(id);
    for (const auto& [seq, record] : records)
      if (const std::string missing = from_.records.missing(collection, record); !missing.empty()) {
        const OutputFile* const file = from_.files.find(record.file);
        return deadline_error(missing, from_.records.absent(collection, record))
            .in_file(file == nullptr ? collection.name : file->path)
            .in_variable(from_.records.missing_variable(collection, record));
      }
  }
  const std::uint64_t taken = from_.strings.taken();
  if (const OpenTicket* const ticket =
          from_.tickets.open().first_of([taken](const OpenTicket& it) { return it.strings > taken; }))
    return deadline_error(
        fmt::format("model rank {} put {} string variables, model rank 0 only {}: every rank must "
                    "call put_strings, and the values of model rank 0 are written",
                    ticket->peer, ticket->strings, taken),
        {static_cast<int>(ticket->peer)});
  return std::nullopt;
}

/// Epochs, closes and ends of steps that some ranks have called and others have not.
std::optional<Error> Diagnosis::missing_calls() const {
  if (const std::string missing = from_.epochs.missing(); !missing.empty()) return deadline_error(missing);
  for (const auto& [id, file] : from_.files.all())
    if (file.closes.count() > 0 && !file.closed_by_all())
      return deadline_error(fmt::format("{} did not close the file, while other ranks did",
                                        text_of_ranks(file.not_closed())),
                            file.not_closed())
          .in_file(file.path);
  for (auto& [id, records] : from_.records.all()) {
    if (records.empty()) continue;
    if (const auto behind = from_.records.not_ended(id, records.begin()->first); !behind.empty())
      return deadline_error(
          fmt::format("{} did not end the step, while other ranks wait for it{}", text_of_ranks(behind),
                      from_.records.cut_text(records.begin()->second)),
          behind);
  }
  return std::nullopt;
}

Error Diagnosis::name_unfinished(Error error, std::size_t peer) const {
  std::vector<const OutputFile*> unfinished;
  for (const auto& [id, file] : from_.files.all())
    if (!file.closes.by(peer)) unfinished.push_back(&file);
  const auto path_of = [&](std::uint64_t id) AFTERBAY_REQUIRES(ingest_thread) {
    const OutputFile* const file = from_.files.find(id);
    return file == nullptr ? std::string() : file->path;
  };
  if (const auto awaited = from_.records.awaited_from(peer)) {
    error.add(fmt::format("other ranks had put variable '{}'{}, model rank {} not yet", awaited->variable,
                          awaited->record_text(), peer));
    error.in_file(path_of(awaited->file)).in_variable(awaited->variable);
  } else if (const auto last = from_.records.last_put(peer)) {
    error.add(fmt::format("the last put of model rank {} was variable '{}'{}", peer, last->variable,
                          last->record_text()));
    error.in_file(path_of(last->file)).in_variable(last->variable);
  }
  if (unfinished.empty()) return error;
  error.in_file(unfinished.front()->path);
  error.add(
      fmt::format("not complete: {}{}", unfinished.front()->path,
                  unfinished.size() > 1 ? fmt::format(" and {} more files", unfinished.size() - 1) : ""));
  return error;
}

}  // namespace afterbay::server
