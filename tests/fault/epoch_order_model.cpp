// SPDX-License-Identifier: Apache-2.0
// A model that puts variables in a random order, some in later steps than others, with epochs in
// between, and kills all its ranks in the end: epoch_order_model SEED SCHEMA_SEED STEPS EXISTING
// STORE RUN END. The same seeds give the same calls on every rank. Rank 0 writes them to calls.RUN:
// "put VARIABLE RECORD" (-1: a fixed variable), "epoch NUMBER", "complete NUMBER", "finished". END:
// "finalize" or "kill".
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "afterbay/afterbay.hpp"

namespace {

using namespace afterbay;

constexpr std::uint64_t rows = 12, columns = 40, points = rows * columns;

struct Arguments {
  unsigned seed = 0, schema_seed = 0;
  int steps = 0;
  std::string existing, store, run;
  bool finalizes = false;
};

class Model {
 public:
  Model(Session& session, Arguments arguments)
      : session_(session), is_(std::move(arguments)), random_(is_.seed), calls_(nullptr) {
    const auto ranks = static_cast<std::uint64_t>(session.model_size());
    const auto rank = static_cast<std::uint64_t>(session.model_rank());
    first_ = rows * rank / ranks;
    count_ = rows * (rank + 1) / ranks - first_;
    if (rank == 0) log_.open("calls." + is_.run);
    calls_.rdbuf(log_.rdbuf());
  }

  void run() {
    session_.decomposition("grid", Block{{rows, columns}, {first_, 0}, {count_, columns}});
    file_ = session_.collection("history", make_schema(), {.store = is_.store, .existing = is_.existing})
                .open("out.nc");
    const std::uint64_t present = file_.records();
    for (std::uint64_t r = 0; r < 2 * static_cast<std::uint64_t>(is_.steps); ++r)
      records_.push_back(present + r);
    for (int i = 0; i < is_.steps; ++i) step();
    if (is_.finalizes) {
      file_.close();
      session_.finalize();
      calls_ << "finished" << std::endl;
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(7 * below(3)));
    MPI_Barrier(model_comm(session_));
    ::kill(::getpid(), SIGKILL);
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  Schema make_schema() {
    std::mt19937 random(is_.schema_seed);
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", rows).dimension("x", columns);
    const std::size_t variables = 2 + random() % 3;
    for (std::size_t v = 0; v < variables; ++v) {
      const bool record = v == 0 || random() % 3 != 0;
      has_records_.push_back(record);
      const auto over = [&](std::uint64_t span, std::uint64_t y, std::uint64_t x) {
        return record ? std::vector<std::uint64_t>{span, y, x} : std::vector<std::uint64_t>{y, x};
      };
      Variable& it = schema.variable(
          "v" + std::to_string(v), random() % 2 == 0 ? Type::float64 : Type::float32,
          record ? std::vector<std::string>{"time", "y", "x"} : std::vector<std::string>{"y", "x"});
      it.on("grid");
      const auto kind = random() % 4;
      if (is_.store == "netcdf4") {
        if (kind == 1) it.with_chunk(over(3, 5, columns)).with_deflate(1);
        if (kind == 2) it.with_chunk(over(1, rows, columns));
        if (kind == 3) it.with_chunk(over(4, rows, 17));
      }
      if (random() % 3 == 0) it.with_fill(-77.0);
    }
    return schema;
  }

  /// Some variables of one or two records, mostly of the next ones, perhaps with an epoch between
  /// them.
  void step() {
    std::vector<std::pair<std::size_t, std::uint64_t>> puts;
    for (std::size_t n = 1 + below(2); n > 0; --n) {
      const std::size_t picked = below(3) != 0 ? 0 : below(std::min<std::size_t>(records_.size(), 4));
      const std::uint64_t record = records_[picked];
      records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(picked));
      for (std::size_t v = 0; v < has_records_.size(); ++v)
        if (has_records_[v] && below(5) != 0) puts.emplace_back(v, record);
    }
    for (std::size_t v = 0; v < has_records_.size(); ++v)
      if (!has_records_[v] && below(4) == 0 && fixed_put_.insert(v).second) puts.emplace_back(v, no_record);
    std::shuffle(puts.begin(), puts.end(), random_);
    const std::size_t between = below(4) == 0 ? below(puts.size() + 1) : puts.size() + 1;
    for (std::size_t i = 0; i < puts.size(); ++i) {
      if (i == between) epoch();
      put(puts[i].first, puts[i].second);
    }
    session_.end_step();
    if (below(3) == 0) epoch();
    if (waits_for_.number != 0 && below(2) == 0) {
      session_.wait(std::exchange(waits_for_, {}));
      calls_ << "complete " << epochs_ << std::endl;
    }
  }

  void epoch() {
    waits_for_ = session_.epoch("epoch " + std::to_string(++epochs_));
    calls_ << "epoch " << epochs_ << std::endl;
  }

  /// Values tell run, variable, record and point.
  void put(std::size_t variable, std::uint64_t record) {
    std::vector<double> values(count_ * columns);
    const std::uint64_t of_record = record == no_record ? 0 : record + 1;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::stod(is_.run) * 100000 + static_cast<double>(variable) * 20000 +
                  static_cast<double>(of_record * points + first_ * columns + i);
    const std::string name = "v" + std::to_string(variable);
    if (record == no_record)
      file_.put(name, values.data());
    else
      file_.put(name, record, values.data());
    calls_ << "put " << variable << " " << static_cast<std::int64_t>(record) << std::endl;
  }

  Session& session_;
  Arguments is_;
  std::mt19937 random_;
  std::uint64_t first_ = 0, count_ = 0;
  std::ofstream log_;
  std::ostream calls_;
  OutputFile file_;
  std::vector<bool> has_records_;       ///< by variable
  std::vector<std::uint64_t> records_;  ///< not put yet
  std::set<std::size_t> fixed_put_;
  int epochs_ = 0;
  Ticket waits_for_;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    Arguments arguments{static_cast<unsigned>(std::stoul(words.at(0))),
                        static_cast<unsigned>(std::stoul(words.at(1))),
                        std::stoi(words.at(2)),
                        words.at(3),
                        words.at(4),
                        words.at(5),
                        words.at(6) == "finalize"};
    Session session = open_session(MPI_COMM_WORLD, SessionOptions().with_arguments(argc, argv));
    if (session.is_server())
      session.serve();
    else
      Model(session, std::move(arguments)).run();
  } catch (const Failure& failure) {
    std::cerr << "epoch_order_model: " << failure.what() << std::endl;
    ::_exit(1);
  }
  MPI_Finalize();
  return 0;
}
