// SPDX-License-Identifier: Apache-2.0
#include "observe/prometheus.hpp"

#include <fmt/format.h>

#include <functional>

#include "observe/numbered_path.hpp"

namespace afterbay::observe {
namespace {

/// Escaped for a label's value: backslash, quote and newline.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

class Metrics {
 public:
  Metrics(const ServerState& state, int turn)
      : labels_(fmt::format("session=\"{}\",{}=\"{}\"", escaped(state.identity.session), state.identity.role,
                            state.identity.server)) {
    if (turn > 1) labels_ += fmt::format(",turn=\"{}\"", turn);
  }

  void begin(const char* name, const char* type, const char* help) {
    name_ = name;
    text_ += fmt::format("# HELP afterbay_{0} {1}\n# TYPE afterbay_{0} {2}\n", name, help, type);
  }
  void value(double value, const std::string& more_labels = {}) {
    text_ += fmt::format("afterbay_{}{{{}{}{}}} {}\n", name_, labels_, more_labels.empty() ? "" : ",",
                         more_labels, value);
  }
  void gauge(const char* name, const char* help, double amount) {
    begin(name, "gauge", help);
    value(amount);
  }
  void counter(const char* name, const char* help, double amount) {
    begin(name, "counter", help);
    value(amount);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string labels_;
  std::string name_;
  std::string text_;
};

double number(std::uint64_t value) { return static_cast<double>(value); }

void add_server(Metrics& to, const ServerState& it) {
  to.begin("run_info", "gauge", "Which run this is; always 1.");
  to.value(1, fmt::format("run=\"{}\",host=\"{}\",topology=\"{}\",phase=\"{}\"", escaped(it.identity.run),
                          escaped(it.identity.host), escaped(it.identity.topology), escaped(it.phase)));
  to.gauge("running", "Whether the server serves (1) or has ended (0).", it.phase == "running" ? 1 : 0);
  to.gauge("start_time_seconds", "When the session began, seconds since 1970.", it.identity.started_at_s);
  to.gauge("updated_timestamp_seconds", "When these figures were taken, seconds since 1970.",
           it.identity.started_at_s + it.elapsed_s);
  to.gauge("model_ranks", "Model ranks of the session.", static_cast<double>(it.identity.model_ranks));
  to.gauge("backlog_bytes", "Memory that holds data not yet written.", number(it.backlog.bytes));
  to.gauge("backlog_peak_bytes", "The most backlog so far.", number(it.backlog.peak_bytes));
  to.gauge("backlog_limit_bytes", "Memory for such data; when it is full the model waits.",
           number(it.backlog.limit_bytes));
  to.gauge("memory_allocated_bytes", "Memory allocated for such data so far, in use or not.",
           number(it.backlog.allocated_bytes));
  to.counter("received_bytes_total", "Payload taken in from model ranks.", number(it.traffic.in_bytes));
  to.counter("drained_bytes_total", "Payload written, before compression.", number(it.traffic.out_bytes));
  to.counter("written_bytes_total", "Bytes written to files.", number(it.traffic.written_bytes));
  to.counter("read_bytes_total", "Bytes of input files handed to model ranks.",
             number(it.traffic.read_bytes));
  to.counter("steps_total", "Steps that the model has ended.", number(it.steps));
  to.gauge("queued_tasks", "Tasks that no worker has begun.", number(it.tasks_queued));
  to.gauge("open_files", "Files open for output.", number(it.files.open));
  to.counter("published_files_total", "Files complete under their final names.", number(it.files.published));
  to.begin("waiting_model_ranks", "gauge", "Model ranks that wait now, by reason.");
  to.value(number(it.ranks.waiting_for_room), "reason=\"room\"");
  to.value(number(it.ranks.waiting_for_files), "reason=\"files\"");
  to.begin("model_wait_seconds_total", "counter",
           "Time that model ranks have waited, all together, by reason.");
  to.value(it.ranks.waited_for_room_s, "reason=\"room\"");
  to.value(it.ranks.waited_for_files_s, "reason=\"files\"");
}

/// With their own names, because data that servers take in have also passed through frontends.
void add_frontend(Metrics& to, const ServerState& it) {
  to.gauge("frontend_running", "Whether the frontend passes data on (1) or has ended (0).",
           it.phase == "running" ? 1 : 0);
  to.gauge("frontend_updated_timestamp_seconds", "When these figures were taken, seconds since 1970.",
           it.identity.started_at_s + it.elapsed_s);
  to.gauge("frontend_model_ranks", "Model ranks that send through it.",
           static_cast<double>(it.identity.model_ranks));
  to.gauge("frontend_full_model_ranks",
           "Model ranks that send through it and whose part of its memory is full.",
           number(it.ranks.waiting_for_room));
  to.gauge("frontend_held_bytes", "Memory that holds data not yet passed on.", number(it.backlog.bytes));
  to.gauge("frontend_held_peak_bytes", "The most so far.", number(it.backlog.peak_bytes));
  to.gauge("frontend_held_limit_bytes", "Memory for such data.", number(it.backlog.limit_bytes));
  to.counter("frontend_received_bytes_total", "Taken in from model ranks.", number(it.traffic.in_bytes));
  to.counter("frontend_passed_on_bytes_total", "Sent to servers.", number(it.traffic.out_bytes));
}

using Get = std::function<double(const CollectionState&)>;

void add_collections(Metrics& to, const ServerState& state) {
  if (state.collections.empty()) return;
  const auto each = [&](const char* name, const char* type, const char* help, const Get& get) {
    to.begin(name, type, help);
    for (const CollectionState& it : state.collections)
      to.value(get(it), fmt::format("collection=\"{}\"", escaped(it.name)));
  };
  each("collection_records_taken_total", "counter", "Records that all model ranks have handed over.",
       [](const auto& it) { return number(it.records_taken); });
  each("collection_records_written_total", "counter", "Records that are in their files.",
       [](const auto& it) { return number(it.records_written); });
  each("collection_records_published_total", "counter", "Records in files that are complete.",
       [](const auto& it) { return number(it.records_published); });
  each("collection_lag_seconds", "gauge", "How long the oldest record taken in has waited to be written.",
       [](const auto& it) { return it.lag_s; });
  each("collection_received_bytes_total", "counter", "Payload taken in.",
       [](const auto& it) { return number(it.bytes_in); });
  each("collection_published_bytes_total", "counter", "Bytes of complete files.",
       [](const auto& it) { return number(it.bytes_published); });
  each("collection_published_files_total", "counter", "Complete files.",
       [](const auto& it) { return number(it.files_published); });
}

}  // namespace

std::string prometheus_text(const ServerState& state, int turn) {
  Metrics metrics(state, turn);
  if (state.is_frontend()) {
    add_frontend(metrics, state);
    return metrics.take();
  }
  add_server(metrics, state);
  add_collections(metrics, state);
  return metrics.take();
}

std::string prometheus_path(const std::string& path, std::int64_t server, std::int64_t servers,
                            bool is_frontend) {
  const std::string whose = fmt::format("{}{}", is_frontend ? "frontend-" : "", server);
  return numbered_path(path, whose, servers <= 1 && !is_frontend);
}

}  // namespace afterbay::observe
