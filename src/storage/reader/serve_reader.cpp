// SPDX-License-Identifier: Apache-2.0
#include "storage/reader/serve_reader.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "storage/input/input_bytes.hpp"
#include "storage/input/library_file.hpp"
#include "storage/reader/append_trial.hpp"
#include "storage/reader/channel.hpp"
#include "storage/reader/check_description.hpp"
#include "storage/reader/protocol.hpp"
#include "wire/handlers.hpp"

namespace afterbay::storage {
namespace {

constexpr rlim_t most_memory_bytes = rlim_t{4} << 30;
/// Per request. A request for values is limited to 32 MiB.
constexpr unsigned most_processor_s = 10;
/// Per request that follows the index of all chunks of a variable.
constexpr unsigned most_index_s = 60;
/// Ends a reader whose parent no longer exists.
constexpr unsigned most_time_s = 24 * 3600;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool reserves_address_space = true;  // terabytes, for shadow memory
#else
constexpr bool reserves_address_space = false;
#endif

void limit_this_process() {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  rlimit memory{};
  if (!reserves_address_space && ::getrlimit(RLIMIT_AS, &memory) == 0) {
    memory.rlim_cur = std::min(memory.rlim_max, most_memory_bytes);
    memory.rlim_max = memory.rlim_cur;
    ::setrlimit(RLIMIT_AS, &memory);
  }
}

void close_others(int socket) {
  const auto first = static_cast<unsigned>(std::max(socket, STDERR_FILENO)) + 1;
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  const auto last = static_cast<unsigned>(std::clamp(::sysconf(_SC_OPEN_MAX), 256L, 65536L));
  for (unsigned number = first; number < last; ++number) ::close(static_cast<int>(number));
}

/// SIGPROF ends the process if a request needs too much time.
void limit_request(unsigned processor_s) {
  itimerval limit{};
  limit.it_value.tv_sec = processor_s;
  ::setitimer(ITIMER_PROF, &limit, nullptr);
  ::alarm(processor_s > 0 ? most_time_s : 0);
}

model::Box box_of(const std::vector<std::uint64_t>& start, const std::vector<std::uint64_t>& count) {
  return {model::Index(start), model::Index(count)};
}

struct Reply {
  std::vector<std::byte> answer;  ///< the encoded answer
  std::vector<std::byte>& values;
};

class ReaderFile;

/// Handles a request that is answered by an Answer.
template <class Answer>
struct AnsweredBy {
  template <class Request>
  void operator()(ReaderFile& file, Reply& to, const Request& request) const;
};
/// Handles a request that is answered by Done and values.
struct AnsweredByValues {
  template <class Request>
  void operator()(ReaderFile& file, Reply& to, const Request& request) const;
};

/// The file that this process reads.
class ReaderFile {
 public:
  /// Returns the encoded answer; `values` receives the bytes that follow it.
  std::vector<std::byte> answer(std::span<const std::byte> request, std::vector<std::byte>& values) {
    using wire::on;
    static constexpr auto handlers = wire::handlers<Requests>(
        on<DescribeInput>(AnsweredBy<InputDescribed>()), on<DescribeSchema>(AnsweredBy<InputDescribed>()),
        on<ReadConstant>(AnsweredBy<ValuesRead>()), on<FindChunks>(AnsweredBy<ChunksFound>()),
        on<ReadPartStrings>(AnsweredBy<StringsRead>()), on<DescribeArrays>(AnsweredBy<ArraysDescribed>()),
        on<ReadArrayStrings>(AnsweredBy<StringsRead>()), on<CacheChunks>(AnsweredBy<Done>()),
        on<BeginTrial>(AnsweredBy<Done>()), on<TryVariable>(AnsweredBy<Done>()),
        on<EndTrial>(AnsweredBy<Done>()), on<ReadPart>(AnsweredByValues()),
        on<ReadArray>(AnsweredByValues()));
    Reply reply{{}, values};
    values.clear();
    if (auto handled = handlers(request, *this, reply); !handled)
      return wire::encode(Done{std::move(handled).error()});
    return std::move(reply.answer);
  }

 private:
  template <class Answer>
  friend struct AnsweredBy;
  friend struct AnsweredByValues;

  template <class Answer, class Request>
  void reply(Reply& to, const Request& request) {
    Answer answer;
    if (auto done = guarded([&] { return handle(request, answer); }); !done) {
      answer = Answer{};
      answer.error = std::move(done).error();
    }
    to.answer = wire::encode(answer);
  }

  template <class Request>
  void reply_values(Reply& to, const Request& request) {
    Done answer;
    auto done = guarded([&]() -> Result<> {
      to.values.resize(request.bytes);
      return handle(request, to.values);
    });
    if (!done) {
      to.values.clear();
      answer.error = std::move(done).error();
    }
    to.answer = wire::encode(answer);
  }

  template <class Work>
  static Result<> guarded(const Work& work) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
    return fail(ErrorCode::format, "reading it needs more than {} GiB of memory: it is damaged",
                most_memory_bytes >> 30);
  }

  Result<> handle(const DescribeInput& request, InputDescribed& answer) {
    AFTERBAY_TRY_ASSIGN(bytes_, InputBytes::open(request.path, DirectIo::off, nullptr));
    AFTERBAY_TRY_ASSIGN(library_, LibraryFile::open(request.path));
    answer.found = library_->found();
    auto source = Hdf5Source::open(*bytes_);
    if (!source) return {};  // the library reads everything
    source_ = *std::move(source);
    for (const DatasetStorage& dataset : source_->inspect(answer.found.schema.variables))
      answer.datasets.push_back(described(dataset));
    return {};
  }

  Result<> handle(const DescribeSchema& request, InputDescribed& answer) {
    AFTERBAY_TRY_ASSIGN(answer.found, read_schema(request.path));
    return {};
  }

  Result<> handle(const ReadConstant& request, ValuesRead& answer) {
    AFTERBAY_TRY_ASSIGN(answer.values, read_values(request.path, request.variable));
    return {};
  }

  Result<> handle(const FindChunks& request, ChunksFound& answer) {
    const std::size_t rank = library_->found().schema.variables.at(request.variable).dimensions.size();
    std::vector<model::Index> first_elements;
    const std::span<const std::uint64_t> all(request.first_elements);
    for (std::size_t at = 0; rank > 0 && at + rank <= all.size(); at += rank)
      first_elements.emplace_back(all.subspan(at, rank));
    AFTERBAY_TRY_ASSIGN(answer.addresses, source_->find(request.variable, first_elements));
    return {};
  }

  Result<> handle(const ReadPart& request, std::span<std::byte> values) {
    return library_->read(request.variable, request.record, box_of(request.start, request.count), values);
  }

  Result<> handle(const ReadPartStrings& request, StringsRead& answer) {
    AFTERBAY_TRY_ASSIGN(answer.strings, library_->read_strings(request.variable, request.record));
    return {};
  }

  Result<> handle(const DescribeArrays& request, ArraysDescribed& answer) {
    AFTERBAY_TRY_ASSIGN(arrays_, ArrayFile::open_here(request.path));
    answer.contents = arrays_->contents();
    return {};
  }

  Result<> handle(const ReadArray& request, std::span<std::byte> values) {
    return arrays_->read(request.variable, request.start, request.count, values);
  }

  Result<> handle(const ReadArrayStrings& request, StringsRead& answer) {
    AFTERBAY_TRY_ASSIGN(answer.strings,
                        arrays_->read_strings(request.variable, request.start, request.count));
    return {};
  }

  Result<> handle(const CacheChunks& request, Done&) {
    arrays_->cache_chunks(request.variable, request.bytes);
    return {};
  }

  Result<> handle(const BeginTrial& request, Done&) {
    AFTERBAY_TRY_ASSIGN(trial_, AppendTrial::open(request.path));
    return {};
  }

  Result<> handle(const TryVariable& request, Done&) { return trial_->try_variable(request.name); }
  Result<> handle(const EndTrial&, Done&) { return trial_->finish(); }

  std::unique_ptr<InputBytes> bytes_;
  std::unique_ptr<LibraryFile> library_;
  std::unique_ptr<Hdf5Source> source_;
  std::unique_ptr<ArrayFile> arrays_;
  std::unique_ptr<AppendTrial> trial_;
};

template <class Answer>
template <class Request>
void AnsweredBy<Answer>::operator()(ReaderFile& file, Reply& to, const Request& request) const {
  file.reply<Answer>(to, request);
}

template <class Request>
void AnsweredByValues::operator()(ReaderFile& file, Reply& to, const Request& request) const {
  file.reply_values(to, request);
}

}  // namespace

int serve_reader(int socket) {
  limit_this_process();
  close_others(socket);
  const Deadline never = Deadline::clock::now() + std::chrono::hours(24 * 365);
  if (send_message(socket, wire::encode(Done{}), never) != Transfer::done) return 2;
  ReaderFile file;
  std::vector<std::byte> request;
  std::vector<std::byte> values;
  while (receive_message(socket, request, never) == Transfer::done) {
    limit_request(wire::kind_of(request) == TryVariable::kind ? most_index_s : most_processor_s);
    const std::vector<std::byte> answer = file.answer(request, values);
    limit_request(0);
    if (send_message(socket, answer, never) != Transfer::done) break;
    if (send_bytes(socket, values, never) != Transfer::done) break;
  }
  ::_exit(0);  // closing a damaged file could fail, without anyone to report to
}

}  // namespace afterbay::storage
