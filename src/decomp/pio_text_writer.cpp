// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <memory>

#include "decomp/pio_text.hpp"

namespace afterbay::decomp {
namespace {

class TextFile {
 public:
  explicit TextFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) failed_ = errno;
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() {
    if (file_ != nullptr) std::fclose(file_);
  }

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() >= most_text) flush();
  }

  Result<> close() {
    flush();
    if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0 && failed_ == 0) failed_ = errno;
    if (failed_ == 0) return {};
    return fail(make_error(failed_ == ENOSPC ? ErrorCode::no_space : ErrorCode::io, "cannot be written: {}",
                           std::strerror(failed_))
                    .in_file(path_)
                    .with_native(failed_));
  }

 private:
  static constexpr std::size_t most_text = std::size_t{1} << 20;

  void flush() {
    if (failed_ == 0 && std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size()) failed_ = errno;
    text_.clear();
  }

  std::string path_;
  std::FILE* file_;
  fmt::memory_buffer text_;
  int failed_ = 0;
};

}  // namespace

Result<> write_pio_text(const std::string& path, const Decomposition& map) {
  TextFile file(path);
  file.add("version 2001 npes {} ndims {} \n", map.ranks(), map.global().size());
  for (auto length = map.global().rbegin(); length != map.global().rend(); ++length) file.add("{} ", *length);
  file.add("\n");
  for (std::size_t rank = 0; rank < map.ranks(); ++rank) {
    file.add("{} {}\n", rank, map.count(rank).elements);
    map.for_each_run(rank, [&](const Run& run) {
      for (std::uint64_t i = 0; i < run.length; ++i)
        file.add("{} ", run.offset == hole ? 0 : run.offset + static_cast<std::int64_t>(i) + 1);
    });
    file.add("\n");
  }
  return file.close();
}

}  // namespace afterbay::decomp
