// SPDX-License-Identifier: Apache-2.0
#include "base/owner_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "base/owner_chain.hpp"
#include "base/owner_watch.hpp"

namespace afterbay {
namespace {

constexpr int attempts = 64;

Error living_owner(const OwnerLink& last, const std::string& name) {
  if (!last.complete)
    return make_error(ErrorCode::conflict, "{} is being created by another process at this moment: try again",
                      last.path)
        .with_native(EWOULDBLOCK)
        .in_file(name);
  return make_error(ErrorCode::conflict,
                    "process {} on {} owns it, as {} says: wait until that run has ended, or give the files "
                    "different names",
                    last.owner.pid, last.owner.host, last.path)
      .with_native(EWOULDBLOCK)
      .in_file(name);
}

Error cannot_make(int number, const std::string& path) {
  return make_error(ErrorCode::io, "cannot make {}, which says who writes a file: {}", path,
                    std::strerror(number))
      .with_native(number)
      .in_file(path);
}

/// Directories that this process has cleaned up.
void clean_once(const std::string& name) {
  static auto* const mutex = new std::mutex;
  static auto* const cleaned = new std::set<std::string>;
  const auto parent = std::filesystem::path(name).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  {
    const std::lock_guard lock(*mutex);
    if (!cleaned->insert(directory).second) return;
  }
  remove_lost_owner_links(directory);
}

bool is_dead(const OwnerLink& last, const OwnerPatience& patience) {
  return find_dead(std::span(&last, 1), patience).front();
}

}  // namespace

struct OwnerFile::Claim {
  std::string name;
  std::string text;
  OwnerLink newest;  ///< the last of the claim's files, in which others look for signs of life

  [[nodiscard]] std::string temporary() const { return name + "." + newest.token + ".new"; }

  /// Takes the next name of the chain, so that no other owner can follow the previous file.
  bool hold() {
    beat_now(newest.path);  // before others see the new name
    OwnerLink next = newest;
    next.path = owner_successor(name, newest);
    ++next.number;
    const int number = repeat_owner_link(next.path, newest.path, text, temporary());
    if (number == ENOSPC || number == EDQUOT)
      return true;  // the chain is authoritative, as far as
                    // this node sees it
    if (number != 0) return false;
    start_beating(next.path);
    stop_beating(newest.path);
    newest = std::move(next);
    return true;
  }

  /// The whole chain from its first file on, if this claim is the last of it; otherwise nothing.
  std::vector<OwnerLink> chain_to_this() {
    if (!hold()) return {};
    auto chain = owner_chain(name);
    if (!chain || chain->empty() || chain->back().token != newest.token) return {};
    return *std::move(chain);
  }
};

Result<OwnerFile> OwnerFile::claim(const std::string& name, const OwnerPatience& patience) {
  clean_once(name);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    AFTERBAY_TRY_ASSIGN(const auto before, owner_chain(name));
    if (!before.empty() && !is_dead(before.back(), patience)) {
      if (::access(before.back().path.c_str(), F_OK) != 0) continue;          // released meanwhile
      if (!before.back().complete && patience.limit > no_patience) continue;  // its owner is known by now
      return fail(living_owner(before.back(), name));
    }
    auto claim = std::make_unique<Claim>();
    claim->name = name;
    claim->newest.token = new_owner_token();
    claim->newest.path = before.empty() ? name : owner_successor(name, before.back());
    claim->text = owner_text(own_identity(), claim->newest.token);
    const std::string path = claim->newest.path;
    const int number = make_owner_link(path, claim->text, claim->temporary());
    if (number == EEXIST) continue;
    if (number != 0) return fail(cannot_make(number, path));
    const std::string token = claim->newest.token;
    OwnerFile made(std::move(claim));  // its destructor releases the claim if a later step fails
    AFTERBAY_TRY_ASSIGN(const auto after, owner_chain(name));
    const auto mine = std::ranges::find(after, token, &OwnerLink::token);
    if (mine == after.end()) {  // the previous owner has removed the chain: nobody will find this
                                // file
      stop_beating(path);
      made.claim_.reset();
      ::unlink(path.c_str());
      continue;
    }
    if (after.back().token != token)
      return fail(living_owner(after.back(), name));  // this process was stopped for a
                                                      // long time
    return made;
  }
  return fail(
      make_error(ErrorCode::conflict, "{} keeps changing hands: stop the other programs that claim it", name)
          .in_file(name));
}

std::vector<bool> OwnerFile::are_owned(std::span<const std::string> names, const OwnerPatience& patience) {
  std::vector<bool> owned(names.size(), false);
  std::vector<OwnerLink> last;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto chain = owner_chain(names[i]);
    if (!chain) owned[i] = chain.error().code != ErrorCode::format;
    if (!chain || chain->empty()) continue;
    last.push_back(std::move(chain->back()));
    of.push_back(i);
  }
  const std::vector<bool> dead = find_dead(last, patience, patience.limit / 2);
  for (std::size_t k = 0; k < of.size(); ++k) owned[of[k]] = !dead[k];
  return owned;
}

bool OwnerFile::is_owned(const std::string& name, const OwnerPatience& patience) {
  return are_owned(std::span(&name, 1), patience).front();
}

OwnerFile::OwnerFile(std::unique_ptr<Claim> claim) : claim_(std::move(claim)) {
  start_beating(claim_->newest.path);
}

OwnerFile::OwnerFile(OwnerFile&& other) noexcept = default;

OwnerFile& OwnerFile::operator=(OwnerFile&& other) noexcept {
  std::swap(claim_, other.claim_);
  return *this;
}

OwnerFile::~OwnerFile() {
  if (!claim_) return;
  const auto chain = claim_->chain_to_this();
  stop_beating(claim_->newest.path);
  for (const OwnerLink& link : chain)
    ::unlink(link.path.c_str());  // the first one first: that ends
                                  // the chain
}

bool OwnerFile::still_ours() const { return !claim_->chain_to_this().empty(); }

}  // namespace afterbay
