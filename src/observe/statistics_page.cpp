// SPDX-License-Identifier: Apache-2.0
#include "observe/statistics_page.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <thread>
#include <tuple>

#include "base/crc64.hpp"
#include "base/directories.hpp"
#include "base/file_lock.hpp"
#include "base/regular_file.hpp"

namespace afterbay::observe {
namespace {

using PageJson = nlohmann::ordered_json;

constexpr int page_version = 1;
constexpr std::string_view page_start = "statistics-";
constexpr std::string_view page_end = ".json";
constexpr int most_page_turns = 1000;  ///< concurrent sessions in one directory
constexpr const char* usual_directory = "afterbay-journal";
constexpr long nfs_magic = 0x6969;
/// Limit for a page that is read: a page with 30,000 collections is smaller.
constexpr std::uint64_t most_page_bytes = std::uint64_t{16} << 20;

std::string page_name(std::int64_t number, bool is_frontend, int turn) {
  const std::string whose = fmt::format("{}{}", is_frontend ? "frontend-" : "", number);
  return turn == 0 ? fmt::format("{}{}{}", page_start, whose, page_end)
                   : fmt::format("{}{}.{}{}", page_start, whose, turn + 1, page_end);
}

Error page_error(int number, const char* doing, const std::string& path) {
  return make_error(ErrorCode::io, "cannot {} the statistics page {}: {}", doing, path, std::strerror(number))
      .with_native(number)
      .in_file(path);
}

class PageWriter {
 public:
  explicit PageWriter(PageJson& json) : json_(json) {}
  template <class T>
  void operator()(const char* name, T& value) {
    json_[name] = value;
  }
  void operator()(const char* name, std::vector<CollectionState>& list) {
    PageJson& array = json_[name] = PageJson::array();
    for (CollectionState& one : list) {
      PageWriter writer(array.emplace_back(PageJson::object()));
      one.named_fields(writer);
    }
  }

 private:
  PageJson& json_;
};

/// Missing fields keep their initial values.
class PageReader {
 public:
  explicit PageReader(const PageJson& json) : json_(json) {}
  template <class T>
  void operator()(const char* name, T& value) {
    if (const auto at = json_.find(name); at != json_.end()) at->get_to(value);
  }
  void operator()(const char* name, std::vector<CollectionState>& list) {
    const auto at = json_.find(name);
    if (at == json_.end()) return;
    for (const PageJson& one : *at) {
      PageReader reader(one);
      list.emplace_back().named_fields(reader);
    }
  }

 private:
  const PageJson& json_;
};

PageJson tree_of(FoundPage page) {
  PageJson json{{"afterbay_statistics", page_version},
                {"serial", page.serial},
                {"updated_at_s", page.updated_at_s},
                {"locked", page.locked}};
  PageWriter writer(json);
  page.state.named_fields(writer);
  return json;
}

std::string dump(const PageJson& json) {
  return json.dump(-1, ' ', false, PageJson::error_handler_t::replace);
}

constexpr std::string_view sum_field = R"(,"crc64":")";

std::string sum_of(std::string_view text) {
  return fmt::format("{:016x}", crc64(std::as_bytes(std::span(text))));
}

/// The object with a checksum of all preceding text as its last field.
std::string sealed(std::string text) {
  text.pop_back();
  const std::string sum = sum_of(text);
  return text.append(sum_field).append(sum).append("\"}");
}

/// Whether the text was written by one `write`, not by parts of two.
bool is_sealed(const std::string& text) {
  const std::size_t at = text.rfind(sum_field);
  return at != std::string::npos &&
         text.compare(at + sum_field.size(), 16, sum_of(std::string_view(text).substr(0, at))) == 0;
}

std::string contents_of(int descriptor) {
  std::string text;
  char buffer[8192];
  off_t at = 0;
  for (;;) {
    const ssize_t got = ::pread(descriptor, buffer, sizeof buffer, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || text.size() > most_page_bytes) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    at += got;
  }
}

bool is_far(int descriptor) {
  struct statfs system {};
  return ::fstatfs(descriptor, &system) == 0 && system.f_type == nfs_magic;
}

std::vector<std::string> pages_in(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code wrong;
  for (const auto& entry : std::filesystem::directory_iterator(directory, wrong)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(page_start) && name.ends_with(page_end)) paths.push_back(entry.path().string());
  }
  return paths;
}

}  // namespace

double time_of_day_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Result<std::unique_ptr<StatisticsPage>> StatisticsPage::open(const std::string& directory,
                                                             std::int64_t number, bool is_frontend) {
  // Durable, because the journal may use the same directory next.
  if (const int code = make_directories(directory))
    return fail(page_error(code, "make the directory of", directory));
  for (int turn = 0; turn < most_page_turns; ++turn) {
    const std::string path =
        (std::filesystem::path(directory) / page_name(number, is_frontend, turn)).string();
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (descriptor < 0) return fail(page_error(errno, "open", path));
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(descriptor);
      return fail(page_error(EINVAL, "open (not a regular file)", path));
    }
    const FileLock held = take_file_lock(descriptor);
    if (held == FileLock::others) {
      ::close(descriptor);
      continue;
    }
    std::unique_ptr<StatisticsPage> page(
        new StatisticsPage(descriptor, path, held == FileLock::ours, is_far(descriptor)));
    const off_t before = ::lseek(descriptor, 0, SEEK_END);
    page->length_ = before > 0 ? static_cast<std::size_t>(before) : 0;
    return page;
  }
  return fail(ErrorCode::resources,
              "{} sessions keep statistics pages in {}: give each a directory of its own", most_page_turns,
              directory);
}

StatisticsPage::~StatisticsPage() { ::close(descriptor_); }

Result<> StatisticsPage::write(ServerState state) {
  PageJson json = tree_of({path_, std::move(state), ++serial_, time_of_day_s(), locked_, true});
  json["end"] = serial_;
  std::string text = sealed(dump(json));
  length_ = std::max(length_, text.size() + 1);
  text.resize(length_ - 1, ' ');
  text += '\n';
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t put =
        ::pwrite(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(page_error(errno, "write", path_));
    done += static_cast<std::size_t>(put);
  }
  if (far_ && ::fdatasync(descriptor_) != 0) return fail(page_error(errno, "write", path_));
  return {};
}

std::optional<FoundPage> parse_page(const std::string& text) {
  if (!is_sealed(text)) return std::nullopt;
  const PageJson json = PageJson::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    if (json.at("afterbay_statistics") != page_version || json.at("serial") != json.at("end"))
      return std::nullopt;
    FoundPage page;
    json.at("serial").get_to(page.serial);
    json.at("updated_at_s").get_to(page.updated_at_s);
    json.at("locked").get_to(page.locked);
    PageReader reader(json);
    page.state.named_fields(reader);
    return page;
  } catch (const PageJson::exception&) {
    return std::nullopt;
  }
}

Result<FoundPage> read_page(const std::string& path) {
  const RegularFile file(path);
  if (!file.open())
    return fail(make_error(ErrorCode::io, "cannot read the statistics page {}: {}", path, file.problem())
                    .with_native(file.number())
                    .in_file(path));
  std::optional<FoundPage> page;
  const bool fits = file.size_bytes() <= most_page_bytes;
  for (int look = 0; fits && look < 20 && !page; ++look) {
    if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    page = parse_page(contents_of(file.descriptor()));
  }
  const bool held = file_lock_is_held(file.descriptor());
  if (!page)
    return fail(make_error(ErrorCode::format, "{} is not a statistics page that this version can read", path)
                    .in_file(path));
  page->path = path;
  page->held = held;
  return *page;
}

Result<std::vector<FoundPage>> read_pages(const std::string& directory) {
  std::vector<std::string> paths = pages_in(directory);
  const std::string inside = (std::filesystem::path(directory) / usual_directory).string();
  if (paths.empty()) paths = pages_in(inside);
  std::vector<FoundPage> pages;
  std::optional<Error> refused;
  for (const std::string& path : paths) {
    auto page = read_page(path);
    if (page)
      pages.push_back(std::move(*page));
    else if (page.error().code == ErrorCode::io)  // other files may be incomplete for a moment
      refused = std::move(page).error();
  }
  if (pages.empty() && refused) return fail(std::move(*refused));
  if (pages.empty())
    return fail(
        make_error(
            ErrorCode::io,
            "there is no statistics page in {} or {}: servers write them from their first second "
            "with output on, unless the setting 'statistics.directory' is off or names another directory",
            directory, inside)
            .in_file(directory));
  std::ranges::sort(pages, {}, [](const FoundPage& it) {
    return std::tuple(it.state.identity.session, it.state.identity.run, it.state.is_frontend(),
                      it.state.identity.server);
  });
  return pages;
}

std::string page_json(const FoundPage& page) { return dump(tree_of(page)); }

}  // namespace afterbay::observe
