#include "runtime/serve/workspaces.h"

#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "runtime/base/world.h"
#include "runtime/state/store.h"

namespace radl::serve {
namespace {

constexpr size_t kIdLength = 12;
constexpr size_t kLongestName = 40;
constexpr double kDraftSeconds = 24 * 3600;  // of a spare draft
constexpr double kIdleSeconds = 3600;        // of an unused temporary one

bool is_name(const std::string& text) {
  if (text.empty() || text.size() > kLongestName || text.front() == '-' || text.back() == '-') return false;
  return std::ranges::all_of(
      text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

}  // namespace

Result<std::unique_ptr<Workspaces>> Workspaces::open(Users& users, const std::string& folder, size_t most,
                                                     std::vector<std::string>& notes) {
  std::unique_ptr<Workspaces> made(new Workspaces(users, folder + "/workspaces", most));
  if (Status ready = make_directories(made->folder_, 0700); !ready.ok()) return ready;
  World& world = *users.own().host->world;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(made->folder_, error)) {
    auto found = Workspace::open(users, entry.path(), entry.path().filename());
    if (!found.ok()) {
      notes.push_back(found.status().text());
      made->unreadable_.push_back({entry.path().filename(), found.status().text()});
      continue;
    }
    const Workspace& one = **found;
    if (one.is_spare_draft() && world.clock.wall_seconds() - one.created() > kDraftSeconds)
      (void)world.files.remove_tree(entry.path());
    else
      made->all_.push_back(std::move(*found));
  }
  if (error) return Status(Code::Invalid, made->folder_ + ": " + error.message());
  std::ranges::sort(made->all_, {}, [](const auto& one) { return std::pair(one->created(), one->id()); });
  return made;
}

void Workspaces::listen(Workspace::Listener listener) {
  std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
  for (const auto& one : all_) one->listen(listener_);
}

void Workspaces::recover() {
  for (const auto& one : all()) one->recover();
}

void Workspaces::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (const auto& one : all()) one->stop();
}

std::vector<std::shared_ptr<Workspace>> Workspaces::all() const {
  std::lock_guard lock(mutex_);
  return all_;
}

Result<std::shared_ptr<Workspace>> Workspaces::find(const std::string& id) const {
  std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(all_, id, &Workspace::id);
  if (found != all_.end()) return *found;
  return not_found("there is no infrastructure " + id);
}

Result<std::shared_ptr<Workspace>> Workspaces::find_of(const std::string& part) const {
  return find(part.substr(0, part.find('-')));
}

Result<std::shared_ptr<Workspace>> Workspaces::create(const std::string& name, const std::string& owner,
                                                      bool temporary) {
  if (!is_name(name))
    return invalid("the name '" + name + "' is not one of lower-case letters, digits and '-', at most 40");
  remove_old_drafts(owner);
  if (count_of(owner) >= most_)
    return Status(Code::Quota,
                  "you have " + std::to_string(most_) + " infrastructures, the limit of this service")
        .with_hint("remove those that you do not need");
  const std::string id = random_token(users_.own().host->world->random).substr(0, kIdLength);
  auto made = Workspace::create(users_, folder_ + "/" + id, id, name, owner, temporary);
  if (!made.ok()) return made;
  std::lock_guard lock(mutex_);
  if (stopping_) return Status(Code::Cancelled, "the service is shutting down");
  (*made)->listen(listener_);
  all_.push_back(*made);
  return made;
}

size_t Workspaces::count_of(const std::string& owner) const {
  std::lock_guard lock(mutex_);
  return size_t(std::ranges::count(all_, owner, &Workspace::owner));
}

// Those of plans whose client could not remove them. No list shows drafts, so their owner cannot either.
void Workspaces::remove_old_drafts(const std::string& owner) {
  const double now = users_.own().host->world->clock.wall_seconds();
  for (const auto& one : all()) {
    const bool idle =
        one->temporary() ? now - one->last_used() > kIdleSeconds : now - one->created() > kDraftSeconds;
    if (one->owner() == owner && idle && one->is_spare_draft()) (void)remove(one->id(), false);
  }
}

Status Workspaces::remove(const std::string& id, bool may_apply) {
  auto found = find(id);
  if (!found.ok()) return found.status();
  Workspace& one = **found;
  if (Status closed = one.close_for_removal(may_apply); !closed.ok()) return closed;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(all_, [&](const auto& its) { return its->id() == one.id(); });
  }
  World& world = *users_.own().host->world;
  if (const std::string place = one.state_place(); !place.starts_with(one.folder()))
    if (Status gone = remove_state(place, one.name(), world); !gone.ok() && gone.code() != Code::NotFound)
      return gone;
  return world.files.remove_tree(one.folder());
}

}  // namespace radl::serve
