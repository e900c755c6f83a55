// SPDX-License-Identifier: Apache-2.0
#include "session/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <iterator>
#include <system_error>
#include <thread>

#include "base/printable.hpp"
#include "config/reference.hpp"
#include "config/settings.hpp"
#include "observe/html_page.hpp"
#include "observe/numbered_path.hpp"
#include "observe/profile.hpp"
#include "observe/report.hpp"
#include "observe/summary.hpp"
#include "observe/trace.hpp"
#include "session/codec_choice.hpp"
#include "wire/archive.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::session {
namespace {

struct ProcessReportMessage {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::process_report);
  ProcessReport process;
  template <class A>
  void fields(A& a) {
    a(process);
  }
};

/// A hanging file system may be the cause of the session's failure: then the thread is left behind.
Result<> write_in_time(const ReportFiles& files, const std::string& path, std::string text,
                       const char* setting) {
  constexpr std::chrono::seconds limit{5};
  std::packaged_task<Result<>()> task([files, path, text = std::move(text), setting]() -> Result<> {
    AFTERBAY_TRY(files.write(path, text, setting));
    return {};
  });
  auto written = task.get_future();
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::system_error& none) {  // the process may have no more threads
    return fail(make_error(ErrorCode::resources, "no thread to write the report to '{}' ({}): {}", path,
                           setting, none.what())
                    .in_file(path));
  }
  if (written.wait_for(limit) == std::future_status::ready) return written.get();
  return fail(make_error(ErrorCode::timed_out, "the report could not be written to '{}' ({}) within {} s",
                         path, setting, limit.count())
                  .in_file(path));
}

Result<> check_writable(const std::string& path, const char* setting) {
  if (path.empty()) return {};
  const std::filesystem::path file(path);
  const std::string directory = file.has_parent_path() ? file.parent_path().string() : ".";
  const bool there = ::access(path.c_str(), F_OK) == 0;
  if (::access(there ? path.c_str() : directory.c_str(), there ? W_OK : W_OK | X_OK) == 0) return {};
  const int code = errno;
  return fail(make_error(ErrorCode::io, "the report could not be written to '{}' ({}) at the end: {}", path,
                         setting, std::strerror(code))
                  .in_file(path)
                  .with_native(code));
}

bool has_written(const observe::RankProfile& profile) {
  return std::ranges::any_of(profile.counters, [](const observe::CounterRecord& counter) {
    return counter.name == observe::counters::written_bytes && counter.value > 0;
  });
}

/// The reports of all processes, joined one by one: the profile of a model rank is not kept.
struct JoinedReports {
  observe::Merger merger;
  ProcessReport kept;  ///< its profiles: those of servers
  bool wrote = false;

  void add(ProcessReport one) {
    for (observe::RankProfile& profile : one.profiles) {
      merger.add(profile);
      wrote = wrote || has_written(profile);
      if (profile.role == "server") kept.profiles.push_back(std::move(profile));
    }
    std::ranges::move(one.traces, std::back_inserter(kept.traces));
    std::ranges::move(one.collections, std::back_inserter(kept.collections));
    std::ranges::move(one.timelines, std::back_inserter(kept.timelines));
    std::ranges::move(one.servers, std::back_inserter(kept.servers));
    std::ranges::move(one.frontends, std::back_inserter(kept.frontends));
  }
};

/// Hints for a better use of the servers. Hosted servers use no rank of their own. `profiles`: of
/// servers.
std::vector<std::string> hints_of(const std::vector<observe::RankProfile>& profiles,
                                  const config::Config& config) {
  if (config.servers.topology == config::Topology::inline_) return {};
  const std::string placement = config::find_setting(config::session_settings(), "placement")->print(config);
  std::string hint = observe::hint_on_idle(observe::idle_servers(profiles), profiles.size(), placement,
                                           config.pools().size() > 1);
  if (hint.empty()) return {};
  return {std::move(hint)};
}

void join_errors(std::vector<observe::CollectionRecord>& collections,
                 const std::vector<observe::ServerHistory>& servers) {
  std::vector<observe::ErrorRecord> errors;
  for (const observe::ServerHistory& it : servers) observe::merge(errors, it.errors);
  for (observe::CollectionRecord& collection : collections)
    for (const observe::ErrorRecord& it : errors)
      if (it.collection == collection.name) collection.errors.push_back(it);
}

/// Writes reports and records their paths.
class Writer {
 public:
  Writer(const ReportFiles& files, Logger logger) : files_(files), logger_(std::move(logger)) {}

  Result<> write(const std::string& path, const std::string& text, const char* setting) {
    AFTERBAY_TRY_ASSIGN(const std::string written, files_.write(path, text, setting));
    if (written != path)
      logger_.warning(
          "{}: {} belongs to another session, which ended while this one ran: the report is in {}; use "
          "{{session}} in the path, and give each session a name",
          setting, printable(path), printable(written));
    written_.push_back(printable(std::filesystem::absolute(written).string()));
    return {};
  }
  [[nodiscard]] const std::vector<std::string>& written() const { return written_; }

 private:
  const ReportFiles& files_;
  Logger logger_;
  std::vector<std::string> written_;
};

}  // namespace

Result<> check_report_files(const config::Config& config) {
  AFTERBAY_TRY(check_writable(config.report.json, "report.json"));
  AFTERBAY_TRY(check_writable(config.report.html, "report.html"));
  return check_writable(config.report.trace, "report.trace");
}

std::string failure_page(const config::Config& config, std::int64_t server) {
  return observe::numbered_path(config.report.html, std::to_string(server), server == 0);
}

Result<> report_failure(const ProcessReport& mine, const config::Config& config, const Error& why,
                        const ReportFiles& files) {
  if (config.report.html.empty() || mine.servers.empty()) return {};
  observe::RunPage page{mine.session, observe::merge(mine.profiles), mine.timelines, mine.servers, {}};
  page.settings = config::given_settings(config);
  page.writers = static_cast<std::uint32_t>(config.writing.writers);
  page.failure = why.text();
  const std::string path = failure_page(config, mine.servers.front().server);
  return write_in_time(files, path, observe::run_page(page), "report.html");
}

Result<> report(const ProcessReport& mine, const config::Config& config, Group& group,
                const ReportFiles& files) {
  JoinedReports of_all;
  const auto take = [&of_all](const Group::Bytes& bytes) -> Result<> {
    AFTERBAY_TRY_ASSIGN(ProcessReportMessage one, wire::decode<ProcessReportMessage>(bytes));
    of_all.add(std::move(one.process));
    return {};
  };
  AFTERBAY_TRY(group.gather(wire::encode(ProcessReportMessage{mine}), take));
  if (group.rank() != 0) return {};
  ProcessReport& all = of_all.kept;
  observe::Report joined = of_all.merger.finish();
  joined.session = mine.session;
  joined.collections = std::move(all.collections);
  join_errors(joined.collections, all.servers);
  std::vector<std::string> hints = hints_of(all.profiles, config);
  const Logger logger({mine.session, "report", group.rank()}, config.log);
  std::vector<std::string> warnings;
  for (std::string& line : keep_choices(joined.collections, all.servers, warnings))
    hints.push_back(std::move(line));
  for (const std::string& warning : warnings) logger.warning("{}", warning);
  std::string lines;
  if (config.report.table == config::ReportTable::on) lines = observe::table(joined);
  Writer writer(files, logger);
  if (!config.report.json.empty())
    AFTERBAY_TRY(writer.write(config.report.json, observe::json(joined), "report.json"));
  if (!config.report.trace.empty())
    AFTERBAY_TRY(
        writer.write(config.report.trace, observe::trace_json(all.traces, mine.session), "report.trace"));
  if (!config.report.html.empty()) {
    observe::RunPage page{mine.session, joined, std::move(all.timelines), std::move(all.servers), {}};
    page.settings = config::given_settings(config);
    page.frontends = std::move(all.frontends);
    page.writers = static_cast<std::uint32_t>(config.writing.writers);
    page.hints = hints;
    AFTERBAY_TRY(writer.write(config.report.html, observe::run_page(page), "report.html"));
  }
  if (config.report.table != config::ReportTable::off && of_all.wrote)
    lines += observe::summary(joined, {printable(mine.session), writer.written(), hints});
  fmt::print("{}", lines);  // printed after the files that it names are written
  std::fflush(stdout);
  return {};
}

}  // namespace afterbay::session
