// SPDX-License-Identifier: Apache-2.0
// The model of adversary.py: adversary_model DIRECTORY RUN RECORDS EPOCH_EVERY PAUSE_MS FILE...
//
// FILE is NAME,STORE,SHAPE,EXISTING,CLOSE_AFTER: a file that is kept open to the end (CLOSE_AFTER
// 0), or a series of files NAME_N.nc of CLOSE_AFTER records each. SHAPE is one of block, chunks,
// map, strings. Each value tells which run wrote it, in which record and at which point, so that a
// reader can judge any file without further knowledge: RUN * 1'000'000 + record * 3072 + point.
//
// The first model rank appends to the file `told`: "complete PATH", "epoch NUMBER" and "finished"
// when the session reports it. Every process writes its process number to pid.ROLE.RANK. While a
// file `hold` exists, the model stays after its third record, once its last epoch is complete.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "afterbay/afterbay.hpp"
#include "process_mark.hpp"

namespace {

using namespace afterbay;

constexpr std::uint64_t rows = 48, columns = 64;
constexpr std::uint64_t held_record = 2;

struct Arguments {
  std::string directory;
  std::uint64_t run = 0, records = 0, epoch_every = 0;
  std::chrono::milliseconds pause{0};
};

struct FileSpec {
  std::string name, store, shape, existing;
  std::uint64_t close_after = 0;

  static FileSpec parse(const std::string& text) {
    FileSpec it;
    std::istringstream in(text);
    std::string number;
    std::getline(in, it.name, ',');
    std::getline(in, it.store, ',');
    std::getline(in, it.shape, ',');
    std::getline(in, it.existing, ',');
    std::getline(in, number);
    it.close_after = std::strtoull(number.c_str(), nullptr, 10);
    return it;
  }
};

Schema schema_of(const FileSpec& spec) {
  Schema it;
  it.dimension("time", unlimited).dimension("lat", rows).dimension("lon", columns);
  auto& field =
      it.variable("field", Type::float32, {"time", "lat", "lon"}).on(spec.shape == "map" ? "points" : "grid");
  if (spec.shape == "chunks") field.with_chunk({4, 24, 64}).with_deflate(1);
  it.variable("wide", Type::float64, {"time", "lat", "lon"}).on("grid");
  if (spec.shape == "strings") it.variable("label", Type::string, {"time"});
  return it;
}

/// This rank's part of the grid: rows as a block, and every n-th point as a map.
struct Share {
  std::uint64_t first_row, row_count, rank, ranks;

  explicit Share(const Session& session)
      : rank(static_cast<std::uint64_t>(session.model_rank())),
        ranks(static_cast<std::uint64_t>(session.model_size())) {
    first_row = rows * rank / ranks;
    row_count = rows * (rank + 1) / ranks - first_row;
  }

  void define(Session& session) const {
    session.decomposition("grid", Block{{rows, columns}, {first_row, 0}, {row_count, columns}});
    Map map;
    map.global = {rows, columns};
    for (std::uint64_t point = rank; point < rows * columns; point += ranks)
      map.indices.push_back(static_cast<std::int64_t>(point));
    session.decomposition("points", map);
  }

  template <class T>
  [[nodiscard]] std::vector<T> values(std::uint64_t run, std::uint64_t record, bool map) const {
    const std::uint64_t base = run * 1'000'000 + record * rows * columns;
    std::vector<T> values;
    if (map)
      for (std::uint64_t point = rank; point < rows * columns; point += ranks)
        values.push_back(static_cast<T>(base + point));
    else
      for (std::uint64_t i = 0; i < row_count * columns; ++i)
        values.push_back(static_cast<T>(base + first_row * columns + i));
    return values;
  }
};

class Model {
 public:
  Model(Session& session, Arguments arguments, const std::vector<FileSpec>& specs)
      : session_(session), arguments_(std::move(arguments)), share_(session) {
    share_.define(session_);
    for (const FileSpec& spec : specs) open_files_.push_back({spec, collection_of(spec), {}, 0, 0});
    for (Output& it : open_files_) open(it);
  }

  void run() {
    for (std::uint64_t record = 0; record < arguments_.records; ++record) {
      for (Output& it : open_files_) put(it);
      session_.end_step();
      for (Output& it : open_files_) close_if_due(it, record + 1 < arguments_.records);
      if (arguments_.epoch_every > 0 && (record + 1) % arguments_.epoch_every == 0) {
        epoch_ = session_.epoch(std::to_string(record + 1));
        waiting_[epoch_.number] = "epoch " + std::to_string(record + 1);
      }
      if (record == held_record && std::filesystem::exists("hold")) hold();
      tell();
      std::this_thread::sleep_for(arguments_.pause);
    }
    session_.finalize();
    say("finished");
  }

 private:
  struct Output {
    FileSpec spec;
    Collection collection;
    OutputFile file;
    std::uint64_t number;  ///< number of the file in its series
    std::uint64_t before;  ///< records that the file had when it was opened, or that were put later
  };

  Collection collection_of(const FileSpec& spec) {
    CollectionOptions options{
        .directory = arguments_.directory, .store = spec.store, .existing = spec.existing};
    if (spec.close_after > 0) options.file = "{collection}_{step}.nc";
    return session_.collection(spec.name, schema_of(spec), options);
  }

  static void open(Output& it) {
    FileName name;
    if (it.spec.close_after > 0) name.step = static_cast<std::int64_t>(it.number++);
    it.file = it.collection.open(name);
    it.before = it.file.records();
  }

  void put(Output& it) {
    const std::uint64_t record = it.before++;
    it.file.put("field", record, share_.values<float>(arguments_.run, record, it.spec.shape == "map").data());
    it.file.put("wide", record, share_.values<double>(arguments_.run, record, false).data());
    if (it.spec.shape == "strings")
      it.file.put_strings(
          "label", record,
          std::vector<std::string>{std::to_string(arguments_.run) + "/" + std::to_string(record)});
  }

  void close_if_due(Output& it, bool open_next) {
    if (it.spec.close_after == 0 || it.before % it.spec.close_after != 0) return;
    const std::string path = it.file.path();
    waiting_[it.file.close().number] = "complete " + path;
    if (open_next) open(it);
  }

  void hold() {
    session_.wait(epoch_);
    tell();
    while (std::filesystem::exists("hold")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  void tell() {
    std::erase_if(waiting_, [this](const auto& entry) {
      if (!session_.is_complete(Ticket{entry.first})) return false;
      say(entry.second);
      return true;
    });
  }

  void say(const std::string& text) const {
    if (share_.rank == 0) std::ofstream("told", std::ios::app) << text << "\n" << std::flush;
  }

  Session& session_;
  Arguments arguments_;
  Share share_;
  std::vector<Output> open_files_;
  std::map<std::uint64_t, std::string> waiting_;
  Ticket epoch_;  ///< the last one
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Arguments arguments;
  arguments.directory = argv[1];
  arguments.run = std::strtoull(argv[2], nullptr, 10);
  arguments.records = std::strtoull(argv[3], nullptr, 10);
  arguments.epoch_every = std::strtoull(argv[4], nullptr, 10);
  arguments.pause = std::chrono::milliseconds(std::strtoll(argv[5], nullptr, 10));
  std::vector<FileSpec> specs;
  for (int i = 6; i < argc && argv[i][0] != '-'; ++i) specs.push_back(FileSpec::parse(argv[i]));
  try {
    Session session = open_session(MPI_COMM_WORLD, SessionOptions().with_arguments(argc, argv));
    test::leave_mark("pid", session, rank);
    if (session.is_server())
      session.serve();
    else
      Model(session, arguments, specs).run();
  } catch (const Failure& failure) {
    std::cerr << "rank " << rank << ": " << failure.what() << std::endl;
    _exit(1);
  }
  MPI_Finalize();
}
