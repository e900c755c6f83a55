// SPDX-License-Identifier: Apache-2.0
#include "storage/memory/memory_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "storage/fill.hpp"
#include "storage/open_part.hpp"
#include "storage/record_reach.hpp"
#include "storage/structure/compare_schema.hpp"

namespace afterbay::storage {
namespace {

/// Copies the valid points of a piece in stored layout into a dense record.
void scatter(const model::Piece& piece, const model::Index& shape, std::size_t element_bytes,
             std::span<const std::byte> from, std::vector<std::byte>& to) {
  const std::size_t rank = piece.box.rank();
  const std::uint64_t row = rank == 0 ? 1 : piece.box.count[rank - 1];
  const std::uint64_t rows = row == 0 ? 0 : piece.box.points() / row;
  model::Index at = model::Index::filled(rank, 0);
  for (std::uint64_t n = 0; n < rows; ++n) {
    std::uint64_t source = 0;
    std::uint64_t target = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      source = source * piece.stored[d] + at[d];
      target = target * shape[d] + piece.box.start[d] + at[d];
    }
    std::memcpy(to.data() + target * element_bytes, from.data() + source * element_bytes,
                row * element_bytes);
    for (std::size_t d = rank < 2 ? 0 : rank - 1; d-- > 0;) {
      if (++at[d] < piece.box.count[d]) break;
      at[d] = 0;
    }
  }
}

std::optional<std::uint64_t> machine_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

class MemoryPart : public File {
 public:
  MemoryPart(const FileRequest& request, std::shared_ptr<MemoryStore::Registry> registry)
      : path_(request.path),
        existing_(request.existing),
        layout_(request.layout),
        registry_(std::move(registry)) {
    file_.schema = request.schema;
    file_.variables.resize(request.schema.variables.size());
    for (std::size_t v = 0; v < file_.variables.size(); ++v) begin_variable(v);
  }
  MemoryPart(const MemoryPart&) = delete;
  MemoryPart& operator=(const MemoryPart&) = delete;
  ~MemoryPart() override { MemoryPart::abandon(); }

  void begin_with(const MemoryFile& existing) {
    const MutexLock lock(mutex_);
    file_ = existing;
    present_ = existing.records;
  }

  [[nodiscard]] std::uint64_t records() const override { return present_; }

  Result<WriteCost> write(std::span<const PieceWrite> pieces) override {
    const MutexLock lock(mutex_);
    if (!open_) return fail(closed_error(path_));
    AFTERBAY_TRY(in_file(check_pieces(*layout_, file_.schema, pieces), path_));
    WriteCost cost;
    for (const PieceWrite& write : pieces) {
      const model::VariableLayout& layout = layout_->variables[write.piece.variable];
      if (layout.record) {
        AFTERBAY_TRY(in_file(check_growth(write.piece.variable, write.record), path_));
        grow(write.record + 1);
      }
      auto& data = file_.variables[write.piece.variable].records[layout.record ? write.record : 0];
      scatter(write.piece, layout.shape, size_of(file_.schema.variables[write.piece.variable].type),
              write.bytes, data);
      cost.bytes_in += write.bytes.size();
    }
    cost.bytes_out = cost.bytes_in;
    return cost;
  }

  Result<WriteCost> write_strings(std::uint32_t variable, std::uint64_t record,
                                  std::span<const std::string> values) override {
    const MutexLock lock(mutex_);
    if (!open_) return fail(closed_error(path_));
    AFTERBAY_TRY(in_file(check_strings(*layout_, file_.schema, variable, values.size()), path_));
    const bool has_records = layout_->variables[variable].record;
    if (has_records) {
      AFTERBAY_TRY(in_file(check_growth(variable, record), path_));
      grow(record + 1);
    }
    file_.variables[variable].strings[has_records ? record : 0].assign(values.begin(), values.end());
    WriteCost cost;
    for (const std::string& text : values) cost.bytes_in += text.size();
    cost.bytes_out = cost.bytes_in;
    return cost;
  }

  void reach(std::uint64_t records) override {
    const MutexLock lock(mutex_);
    grow(records);
  }

  Result<Published> finish() override {
    const MutexLock lock(mutex_);
    if (!open_) return fail(closed_error(path_));
    const MutexLock registry_lock(registry_->mutex);
    open_ = false;
    registry_->open.erase(path_);
    if (existing_ == Existing::refuse && registry_->published.contains(path_))
      return fail(
          make_error(ErrorCode::exists, "{} exists already: choose another name", path_).in_file(path_));
    Published published;
    published.records = file_.records;
    registry_->published[path_] = std::make_shared<const MemoryFile>(std::move(file_));
    return published;
  }

  void abandon() noexcept override {
    const MutexLock lock(mutex_);
    if (!open_) return;
    open_ = false;
    const MutexLock registry_lock(registry_->mutex);
    registry_->open.erase(path_);
  }

  [[nodiscard]] std::string engine() const override { return "memory"; }

 private:
  void begin_variable(std::size_t v) AFTERBAY_REQUIRES(mutex_) {
    const Variable& variable = file_.schema.variables[v];
    if (layout_->variables[v].record) return;
    add_record(v);
    auto& data = file_.variables[v];
    if (variable.constant.empty()) return;
    if (variable.type == Type::string)
      data.strings[0] = variable.constant.strings;
    else
      data.records[0] = variable.constant.bytes;
    if (variable.type != Type::string) to_file_order(data.records[0], size_of(variable.type), false);
  }

  /// Adds a record full of fill values.
  void add_record(std::size_t v) AFTERBAY_REQUIRES(mutex_) {
    const Variable& variable = file_.schema.variables[v];
    const std::uint64_t points = layout_->variables[v].shape.product();
    auto& data = file_.variables[v];
    if (variable.type == Type::string) {
      const Values fill = fill_of(variable);
      data.strings.emplace_back(points, fill.strings.empty() ? std::string() : fill.strings[0]);
      return;
    }
    data.records.emplace_back(points * size_of(variable.type));
    FillPattern(variable, false).apply(data.records.back());
  }

  Result<> check_growth(std::uint32_t variable, std::uint64_t record) const AFTERBAY_REQUIRES(mutex_) {
    return check_reach(file_.schema, *layout_, variable, record, file_.records, machine_memory_bytes);
  }

  void grow(std::uint64_t records) AFTERBAY_REQUIRES(mutex_) {
    for (; file_.records < records; ++file_.records)
      for (std::size_t v = 0; v < file_.variables.size(); ++v)
        if (layout_->variables[v].record) add_record(v);
  }

  std::string path_;
  Existing existing_;
  std::shared_ptr<const model::FileLayout> layout_;
  std::shared_ptr<MemoryStore::Registry> registry_;
  Mutex mutex_;
  bool open_ AFTERBAY_GUARDED_BY(mutex_) = true;
  std::uint64_t present_ = 0;
  MemoryFile file_ AFTERBAY_GUARDED_BY(mutex_);
};

Error taken_error(const std::string& path, ErrorCode code) {
  return (code == ErrorCode::exists
              ? make_error(code,
                           "{} exists already: choose another name, or declare it as replaced or appended to",
                           path)
              : make_error(code, "{} is being written by another writer: give the files different names",
                           path))
      .in_file(path);
}

}  // namespace

MemoryStore::MemoryStore() : registry_(std::make_shared<Registry>()) {}

Result<std::unique_ptr<File>> MemoryStore::create(const FileRequest& request) {
  AFTERBAY_TRY(check_request(request, Format::memory));
  std::shared_ptr<const MemoryFile> existing = find(request.path);
  if (existing && request.existing == Existing::refuse)
    return fail(taken_error(request.path, ErrorCode::exists));
  if (existing && request.existing == Existing::append) {
    const auto differences = schema_differences(request.schema, existing->schema);
    if (!differences.empty())
      return fail(make_error(ErrorCode::conflict, "{} cannot be appended to: {}", request.path,
                             fmt::join(differences, "; "))
                      .in_file(request.path));
  }
  {
    const MutexLock lock(registry_->mutex);
    if (!registry_->open.insert(request.path).second)
      return fail(taken_error(request.path, ErrorCode::conflict));
  }
  auto file = std::make_unique<MemoryPart>(request, registry_);
  if (existing && request.existing == Existing::append) file->begin_with(*existing);
  return file;
}

std::shared_ptr<const MemoryFile> MemoryStore::find(const std::string& path) const {
  const MutexLock lock(registry_->mutex);
  const auto found = registry_->published.find(path);
  return found == registry_->published.end() ? nullptr : found->second;
}

std::vector<std::string> MemoryStore::files() const {
  const MutexLock lock(registry_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, file] : registry_->published) names.push_back(name);
  return names;
}

Result<std::vector<std::byte>> MemoryStore::record(const std::string& path, const std::string& variable,
                                                   std::uint64_t record) const {
  const std::shared_ptr<const MemoryFile> file = find(path);
  if (!file) return fail(ErrorCode::unknown_name, "no file '{}' was published", path);
  for (std::size_t v = 0; v < file->schema.variables.size(); ++v) {
    if (file->schema.variables[v].name != variable) continue;
    const auto& records = file->variables[v].records;
    if (record < records.size()) return records[record];
    return fail(ErrorCode::invalid_argument, "variable '{}' of '{}' has {} records; record {} is requested",
                variable, path, records.size(), record);
  }
  return fail(ErrorCode::unknown_name, "'{}' has no variable '{}'", path, variable);
}

MemoryStore* memory_store_of(Store& store) noexcept { return dynamic_cast<MemoryStore*>(&store); }

std::unique_ptr<Store> make_memory_store() { return std::make_unique<MemoryStore>(); }

}  // namespace afterbay::storage
