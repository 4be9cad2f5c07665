#include "runtime/serve/registry.h"

#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "common/guarded.h"
#include "runtime/base/world.h"

namespace radl::serve {
namespace {

constexpr size_t kRemembered = 1000;

// As the reference's ids look: a UUID of version 4 (RFC 9562).
std::string new_id(World& world) {
  std::string hex = random_token(world.random);
  hex[12] = '4';
  hex[16] = "89ab"[size_t(hex[16]) % 4];
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
         hex.substr(20, 12);
}

}  // namespace

Result<std::unique_ptr<Registry>> Registry::open(const Settings& settings, const std::string& folder,
                                                 std::vector<std::string>& notes) {
  std::unique_ptr<Registry> registry(new Registry(settings, folder + "/infrastructures"));
  if (Status made = make_directories(registry->folder_, 0700); !made.ok()) return made;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(registry->folder_, error)) {
    Result<std::shared_ptr<Infrastructure>> found =
        Status(Code::Corrupt, entry.path().string() + ": cannot be read");
    const Status read = guarded([&]() -> Status {
      found = Infrastructure::open(settings, entry.path(), entry.path().filename());
      return {};
    });
    if (!read.ok()) found = Status(Code::Corrupt, entry.path().string() + ": " + read.message());
    if (found.ok())
      registry->all_.push_back(std::move(*found));
    else
      notes.push_back(found.status().text());
  }
  if (error) return Status(Code::Invalid, registry->folder_ + ": " + error.message());
  std::ranges::sort(registry->all_, {}, [](const auto& one) { return std::pair(one->created(), one->id()); });
  return registry;
}

void Registry::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (const auto& one : all()) one->stop();
}

std::vector<std::shared_ptr<Infrastructure>> Registry::all() const {
  std::lock_guard lock(mutex_);
  return all_;
}

Result<std::shared_ptr<Infrastructure>> Registry::find(const std::string& id) const {
  std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(all_, id, &Infrastructure::id);
  if (found != all_.end()) return *found;
  const bool was_here = std::ranges::find(removed_, id) != removed_.end();
  return Status(Code::NotFound,
                was_here ? "Deleted infrastructure." : "Invalid infrastructure ID or access not granted.");
}

Result<std::shared_ptr<Infrastructure>> Registry::create() {
  const std::string id = new_id(*settings_.host->world);
  auto made = Infrastructure::create(settings_, folder_of(id), id);
  if (!made.ok()) return made;
  std::lock_guard lock(mutex_);
  if (stopping_) {
    (void)settings_.host->world->files.remove_tree(folder_of(id));
    return Status(Code::Cancelled, "the service stops");
  }
  all_.push_back(*made);
  return made;
}

Status Registry::remove(const std::string& id) {
  {
    std::lock_guard lock(mutex_);
    // Of two who ask for the same, one removes it.
    if (std::erase_if(all_, [&](const auto& one) { return one->id() == id; }) == 0) return {};
    removed_.push_back(id);
    if (removed_.size() > kRemembered) removed_.erase(removed_.begin());
  }
  return settings_.host->world->files.remove_tree(folder_of(id));
}

void Registry::remove_after(const std::shared_ptr<Infrastructure>& one, std::shared_future<Status> over) {
  std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [](auto& done) {
    return done.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  waiting_.push_back(std::async(std::launch::async, [this, one, over] {
    if (over.get().ok()) (void)remove(one->id());
  }));
}

}  // namespace radl::serve
