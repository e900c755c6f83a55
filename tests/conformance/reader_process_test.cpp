// SPDX-License-Identifier: Apache-2.0
// Reader processes: the result for an input file whose reader crashes, hangs or is missing, and the
// restrictions of a reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "conformance/input_files.hpp"
#include "conformance/store_harness.hpp"
#include "mutator.hpp"
#include "storage/reader/array_file.hpp"
#include "storage/reader/reader_process.hpp"
#include "storage/structure/compare_schema.hpp"

namespace afterbay::test {
namespace {

using storage::DirectIo;
using storage::StoredFile;
using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Child processes of this process that are readers.
std::set<pid_t> readers() {
  std::set<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = text_of(entry.path() / "stat");
    const auto end = stat.rfind(')');
    if (end == std::string::npos || stat.substr(0, end).find("afterbay-reader") == std::string::npos)
      continue;
    if (std::stoi(stat.substr(end + 4)) == ::getpid()) found.insert(std::stoi(name));
  }
  return found;
}

class ReaderProcess : public testing::Test {
 protected:
  void SetUp() override {
    make_from_cdl(
        "netcdf f { dimensions: time = UNLIMITED ; x = 400 ; two = 2 ; variables: int a(time, x) ; "
        "string names(two) ; data: a = 1, 2, 3 ; names = \"Elbe\", \"Weser\" ; }",
        path_);
  }
  /// The only reader that serves an open file.
  static pid_t the_reader() {
    const std::set<pid_t> found = readers();
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? -1 : *found.begin();
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("in.nc");
};

TEST_F(ReaderProcess, a_crash_is_a_damaged_file_and_the_next_file_gets_a_new_reader) {
  auto file = open_input(path_);
  ASSERT_EQ(::kill(the_reader(), SIGSEGV), 0);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto strings = file->read_strings(number_of(*file, "names"), 0);
    ASSERT_FALSE(strings);
    EXPECT_EQ(strings.error().code, ErrorCode::format);
    EXPECT_EQ(strings.error().file, path_);
    EXPECT_THAT(strings.error().text(), HasSubstr("is damaged: the reader of its structure ended"));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they catch the signal and exit
    EXPECT_THAT(strings.error().text(), HasSubstr("signal 11"));
#endif
  }
  expect_as_netcdf(*open_input(path_));
}

TEST_F(ReaderProcess, one_that_does_not_answer_is_given_up_at_the_deadline) {
  const auto file = StoredFile::open(path_, DirectIo::automatic, nullptr, std::chrono::seconds(3));
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_EQ(::kill(the_reader(), SIGSTOP), 0);
  const auto strings = (*file)->read_strings(number_of(**file, "names"), 0);
  ASSERT_FALSE(strings);
  EXPECT_EQ(strings.error().code, ErrorCode::timed_out);
  EXPECT_THAT(strings.error().text(), HasSubstr("3000 ms"));
  EXPECT_TRUE(readers().empty());
}

TEST_F(ReaderProcess, it_ends_with_the_file_and_without_its_starter) {
  open_input(path_);
  EXPECT_TRUE(readers().empty());
  auto file = open_input(path_);
  EXPECT_EQ(readers().size(), 1u);
  file.reset();
  EXPECT_TRUE(readers().empty());
}

TEST_F(ReaderProcess, it_has_no_descriptors_signals_or_mpi_of_its_starter_and_bounded_memory) {
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  auto* const ignored = std::signal(SIGUSR1, SIG_IGN);
  const int inherited = ::dup(STDERR_FILENO);  // without close-on-exec
  const auto file = open_input(path_);
  ::close(inherited);
  std::signal(SIGUSR1, ignored);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);

  const std::string process = "/proc/" + std::to_string(the_reader());
  const std::string status = text_of(process + "/status");
  EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000"));
  const auto ignored_at = status.find("SigIgn:\t");
  ASSERT_NE(ignored_at, std::string::npos);
  EXPECT_EQ(std::stoull(status.substr(ignored_at + 8, 16), nullptr, 16) & 0x7fffffffU,
            0u);  // above: glibc's own
  std::error_code ignored_error;
  for (const auto& entry : std::filesystem::directory_iterator(process + "/fd")) {
    const std::string target = std::filesystem::read_symlink(entry.path(), ignored_error);
    const bool own = std::stoi(entry.path().filename()) == 0 ? target.starts_with("socket:")
                                                             : target == "/dev/null" || target == path_;
    EXPECT_TRUE(own) << entry.path() << " -> " << target;
  }
  EXPECT_EQ(text_of(process + "/maps").find("libmpi"), std::string::npos);
  EXPECT_THAT(text_of(process + "/limits"), testing::ContainsRegex("Max core file size +0 "));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_THAT(text_of(process + "/limits"), testing::ContainsRegex("Max address space +4294967296 "));
#endif
}

/// Sets an environment variable during its lifetime.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    const char* const before = std::getenv(name);
    if (before != nullptr) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST_F(ReaderProcess, a_program_that_is_none_is_named_and_the_file_is_not_called_damaged) {
  for (const char* const program : {"/nowhere/afterbay-reader", "/bin/true"}) {
    const Environment environment("AFTERBAY_READER", program);
    const auto file = StoredFile::open(path_, DirectIo::automatic);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::io);
    EXPECT_THAT(file.error().text(), HasSubstr(program));
  }
}

TEST_F(ReaderProcess, files_of_the_classic_formats_need_none) {
  const Environment environment("AFTERBAY_READER", "/nowhere");
  const std::string path = directory_.file("classic.nc");
  make_from_cdl("netcdf f { dimensions: x = 3 ; variables: int a(x) ; data: a = 1, 2, 3 ; }", path, "cdf5");
  EXPECT_EQ(read_whole<int>(*open_input(path), "a"), (std::vector{1, 2, 3}));
}

TEST_F(ReaderProcess, large_arrays_come_in_parts) {
  const std::string path = directory_.file("large.nc");
  make_from_cdl(
      "netcdf f { dimensions: y = 5 ; x = 2500000 ; variables: double a(y, x) ; "
      "a:_DeflateLevel = 1 ; a:_ChunkSizes = 1, 500000 ; data: a = 1, 2, 3 ; }",
      path);
  run_python(
      "import netCDF4, numpy, sys\n"
      "with netCDF4.Dataset(sys.argv[1], 'a') as f: f['a'][:] = numpy.arange(12500000).reshape(5, -1)\n",
      path);
  const auto file = storage::ArrayFile::open(path);
  ASSERT_TRUE(file) << file.error().text();
  std::vector<double> values(12500000);
  const std::vector<std::uint64_t> start{0, 0};
  const std::vector<std::uint64_t> count{5, 2500000};
  const auto read = (*file)->read(0, start, count, std::as_writable_bytes(std::span(values)));
  ASSERT_TRUE(read) << read.error().text();
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i));
}

/// AFTERBAY_TEST_MUTANTS: number of mutants.
std::uint64_t mutants(std::uint64_t otherwise) {
  const char* const wanted = std::getenv("AFTERBAY_TEST_MUTANTS");
  return wanted == nullptr ? otherwise : std::stoull(wanted);
}

TEST_F(ReaderProcess, mutants_of_a_netcdf4_file_are_read_or_refused) {
  const std::string original = directory_.file("original.nc");
  run_python(
      "import netCDF4, numpy, sys\n"
      "with netCDF4.Dataset(sys.argv[1], 'w') as f:\n"
      "    f.createDimension('time'); f.createDimension('y', 6); f.createDimension('x', 50)\n"
      "    f.title = 'a file'; f.numbers = numpy.arange(40.)\n"
      "    for name, how in (('plain', {}), ('packed', dict(zlib=True, shuffle=True, fletcher32=True)),\n"
      "                      ('chunked', dict(chunksizes=(1, 3, 20)))):\n"
      "        v = f.createVariable(name, 'f4', ('time', 'y', 'x'), **how); v.units = 'K'\n"
      "        v[:] = numpy.arange(900.).reshape(3, 6, 50)\n"
      "    f.createVariable('fixed', 'i8', ('y', 'x'))[:] = 7\n"
      "    s = f.createVariable('names', str, ('y',)); s[:] = numpy.array(list('abcdef'), object)\n"
      "    g = f.createGroup('g'); g.createVariable('in_group', 'i2', ())[:] = 1\n",
      original);
  const Mutator mutator(bytes_of_file(original));
  const std::string path = directory_.file("mutant.nc");
  Schema wanted;
  wanted.dimension("x", 3);
  wanted.variable("v", Type::int32, {"x"});
  std::uint64_t crashes = 0;
  for (std::uint64_t number = 0; number < mutants(120); ++number) {
    SCOPED_TRACE("mutant " + std::to_string(number));
    write_bytes(path, mutator.mutant(number));
    const auto note = [&](const Error& error) {
      crashes += error.text().find("ended by signal") == std::string::npos ? 0 : 1;
      EXPECT_NE(error.code, ErrorCode::internal) << error.text();
      EXPECT_NE(error.code, ErrorCode::timed_out) << error.text();
    };
    const auto file = StoredFile::open(path, DirectIo::automatic);
    if (!file) {
      note(file.error());
      continue;
    }
    for (std::uint32_t v = 0; v < (*file)->schema().variables.size(); ++v) {
      const Variable& variable = (*file)->schema().variables[v];
      if (variable.type == Type::string) {
        if (auto strings = (*file)->read_strings(v, 0); !strings) note(strings.error());
        continue;
      }
      model::Box box = whole_of(**file, v);
      for (std::size_t d = 0; d < box.rank(); ++d) box.count[d] = std::min<std::uint64_t>(box.count[d], 60);
      std::vector<std::byte> bytes(std::min<std::uint64_t>(box.points(), 1 << 20) * size_of(variable.type));
      if (bytes.size() != box.points() * size_of(variable.type)) continue;
      for (std::uint64_t record = 0; record < std::min<std::uint64_t>((*file)->records(), 3); ++record)
        if (auto read = (*file)->read(v, record, box, bytes); !read) note(read.error());
    }
    if (auto appended = storage::check_appendable(path, wanted, Format::netcdf4); !appended)
      note(appended.error());
  }
  EXPECT_TRUE(readers().empty());
  RecordProperty("crashes", static_cast<int>(crashes));
}

/// Appends records to a file like a server, in a process that then ends normally, including HDF5.
/// Returns the result as its exit status.
enum class Appended { done = 0, refused, refused_without_variable, failed_later, otherwise };

Appended append_records(const storage::FileRequest& request, const Source& source) {
  auto file = storage::make_store(Format::netcdf4)->create(request);
  if (!file && file.error().code != ErrorCode::format && file.error().code != ErrorCode::conflict)
    return Appended::otherwise;
  if (!file && file.error().file != request.path) return Appended::otherwise;
  if (!file) return file.error().variable.empty() ? Appended::refused_without_variable : Appended::refused;
  const std::uint64_t first = (*file)->records();
  for (std::uint64_t record = first; record < first + 5; ++record)
    for (std::size_t frame = 0; frame < request.layout->frames.size(); ++frame) {
      if (!request.layout->frames[frame].record) continue;
      if (!write_frame(**file, request, frame, record, source)) return Appended::failed_later;
    }
  return (*file)->publish() ? Appended::done : Appended::failed_later;
}

/// The exit status of a process that runs it; negative: the number of a signal.
int status_of_append(const storage::FileRequest& request, const Source& source) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    std::exit(static_cast<int>(append_records(request, source)));  // NOLINT(concurrency-mt-unsafe)
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Copies of a file with one damaged node in a chunk index of version 1.
class IndexMutator {
 public:
  explicit IndexMutator(std::string original) : original_(std::move(original)) {
    for (std::size_t at = original_.find(signature); at != std::string::npos;
         at = original_.find(signature, at + 1))
      if (original_[at + 4] == 1) nodes_.push_back(at);  // 0: of a group
  }
  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_.size(); }
  [[nodiscard]] std::string mutant(std::uint64_t number) const {
    const std::size_t at = nodes_[number % nodes_.size()];
    const std::size_t room = std::min(number % 2 == 0 ? least_bytes : most_bytes, original_.size() - at);
    std::string node = Mutator(original_.substr(at, room), number).mutant(number);
    node.resize(room);
    std::string bytes = original_;
    return bytes.replace(at, room, node);
  }

 private:
  static constexpr const char* signature = "TREE";
  static constexpr std::size_t least_bytes = 64;   ///< the head and the first key
  static constexpr std::size_t most_bytes = 1024;  ///< some of the other keys

  std::string original_;
  std::vector<std::size_t> nodes_;
};

// Before, HDF5 failed to close a dataset, which was ignored, and crashed at the end of the process:
// the file was published, but the run had died.
TEST_F(ReaderProcess, appending_to_mutants_of_chunk_indexes_ends_no_process) {
  const std::string path = directory_.file("appended.nc");
  Schema schema = filtered_schema();
  schema.variable("names", Type::string, {schema.dimensions.front().name});
  const auto request = request_of(path, schema, Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  {
    auto file = storage::make_store(Format::netcdf4)->create(request);
    ASSERT_TRUE(file) << file.error().text();
    write_fixed(**file, request, source);
    for (std::uint64_t record = 0; record < 70; ++record) write_record(**file, request, record, source);
    ASSERT_TRUE((*file)->publish());
  }
  const auto more = request_of(path, schema, Format::netcdf4, storage::Existing::append);
  const std::string original = bytes_of_file(path);
  ASSERT_EQ(status_of_append(more, source), static_cast<int>(Appended::done))
      << "the file is as it should be";
  const IndexMutator mutator(original);
  ASSERT_GT(mutator.nodes(), 4U);
  std::map<int, int> seen;
  for (std::uint64_t number = 0; number < mutants(170); ++number) {
    write_bytes(path, mutator.mutant(number));
    const int status = status_of_append(more, source);
    EXPECT_GE(status, 0) << "mutant " << number << ": signal " << -status;
    EXPECT_LT(status, static_cast<int>(Appended::otherwise)) << "mutant " << number;
    ++seen[status];
  }
  EXPECT_GT(seen[static_cast<int>(Appended::refused)], 0) << "naming the variable";
  for (const auto& [status, times] : seen) RecordProperty("status_" + std::to_string(status), times);
}

// The chunks of a three-level index, inserted in random order.
TEST_F(ReaderProcess, files_with_large_indexes_of_other_programs_can_be_appended_to) {
  const std::string path = directory_.file("foreign.nc");
  run_python(
      "import netCDF4, numpy, random, sys\n"
      "random.seed(7)\n"
      "with netCDF4.Dataset(sys.argv[1], 'w') as f:\n"
      "    f.createDimension('time'); f.createDimension('x', 30)\n"
      "    for name, how in (('plain', {}), ('packed', dict(zlib=True, shuffle=True))):\n"
      "        f.createVariable(name, 'f4', ('time', 'x'), chunksizes=(1, 2), **how)\n"
      "    places = [(t, x) for t in range(400) for x in range(0, 30, 2)]\n"
      "    random.shuffle(places)\n"
      "    for t, x in places:\n"
      "        f['plain'][t, x:x + 2] = t; f['packed'][t, x] = t\n",
      path);
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 30);
  for (const char* const name : {"plain", "packed"})
    schema.variable(name, Type::float32, {"time", "x"}).with_chunk({1, 2});
  schema.variables.back().with_deflate(4);
  const auto more = request_of(path, schema, Format::netcdf4, storage::Existing::append);
  const Source source = sample_data(more.schema, *more.layout);
  EXPECT_EQ(status_of_append(more, source), static_cast<int>(Appended::done));
}

}  // namespace
}  // namespace afterbay::test
