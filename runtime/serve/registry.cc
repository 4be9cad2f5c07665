#include "runtime/serve/registry.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/files.h"
#include "common/guarded.h"
#include "common/json_values.h"
#include "common/text.h"
#include "runtime/base/world.h"

namespace radl::serve {
namespace {

constexpr size_t kRemembered = 1000;
constexpr size_t kLargestDeleted = size_t{8} << 20;  // of facts about deleted ones

// As the reference's ids look: a UUID of version 4 (RFC 9562).
std::string new_id(World& world) {
  std::string hex = random_token(world.random);
  hex[12] = '4';
  hex[16] = "89ab"[size_t(hex[16]) % 4];
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
         hex.substr(20, 12);
}

bool is_id(const std::string& text) {
  return text.size() == 36 && std::ranges::all_of(text, [](unsigned char c) {
           return c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// The figures of the machines as its state has them.
InfrastructureFacts facts_of(const Infrastructure& one, double now) {
  const auto owners = one.owners();
  InfrastructureFacts facts{one.id(), owners.empty() ? "" : owners.front(), one.created(), false, {}};
  size_t machines = 0;
  double cpus = 0, memory = 0;
  std::set<std::string> clouds;
  if (auto snapshot = one.snapshot(); snapshot.ok())
    for (const auto& [address, record] : snapshot->resources) {
      if (!record.is_node()) continue;
      ++machines;
      const auto number = [&spec = record.spec](const char* name) {
        const auto found = spec.find(name);
        return found != spec.end() && found->is_number() ? found->get<double>() : 0.0;
      };
      cpus += number("cpu");
      memory += number("memory");
      clouds.insert(record.cloud.substr(0, record.cloud.find_first_of(":/")));
    }
  facts.figures = {{"creation_date", utc_time(one.created())},
                   {"last_date", utc_time(now)},
                   {"tosca_name", ""},
                   {"vm_count", machines},
                   {"cpu_count", cpus},
                   {"memory_size", memory / 1e6},
                   {"cloud_type", clouds.empty() ? "" : *clouds.begin()},
                   {"cloud_host", ""},
                   {"hybrid", clouds.size() > 1}};
  return facts;
}

}  // namespace

Result<std::unique_ptr<Registry>> Registry::open(Users& users, const std::string& folder,
                                                 std::vector<std::string>& notes) {
  std::unique_ptr<Registry> registry(new Registry(users, folder + "/infrastructures"));
  if (Status made = make_directories(registry->folder_, 0700); !made.ok()) return made;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(registry->folder_, error)) {
    Result<std::shared_ptr<Infrastructure>> found =
        Status(Code::Corrupt, entry.path().string() + ": cannot be read");
    const Status read = guarded([&]() -> Status {
      found = Infrastructure::open(users, entry.path(), entry.path().filename());
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

Result<std::shared_ptr<Infrastructure>> Registry::create(const std::string& owner) {
  const std::string id = new_id(*settings_.host->world);
  auto made = Infrastructure::create(users_, folder_of(id), id, owner);
  if (!made.ok()) return made;
  std::lock_guard lock(mutex_);
  if (stopping_) {
    (void)settings_.host->world->files.remove_tree(folder_of(id));
    return Status(Code::Cancelled, "the service stops");
  }
  all_.push_back(*made);
  return made;
}

Result<std::shared_ptr<Infrastructure>> Registry::take(std::string_view exported, const std::string& owner) {
  const Json json = json::parse_json(exported);
  const bool named = json.is_object() && json.contains("id") && json["id"].is_string();
  const std::string id = named ? json["id"].get<std::string>() : "";
  if (!is_id(id)) return Status(Code::Invalid, "the body is not an exported infrastructure");
  std::lock_guard lock(mutex_);
  if (stopping_) return Status(Code::Cancelled, "the service stops");
  if (std::ranges::find(all_, id, &Infrastructure::id) != all_.end())
    return Status(Code::Conflict, "infrastructure " + id + " is here already");
  std::error_code error;
  if (std::filesystem::exists(folder_of(id), error) || error)
    return Status(Code::Conflict, folder_of(id) + " exists, and its infrastructure could not be opened");
  const std::string fresh = folder_ + "/../checks/" + random_token(settings_.host->world->random);
  Result<std::shared_ptr<Infrastructure>> taken =
      Status(Code::Invalid, "the body is not an exported infrastructure");
  const Status done = guarded([&]() -> Status {
    taken = Infrastructure::import(users_, fresh, folder_of(id), json, owner);
    return taken.status();
  });
  if (!done.ok()) {
    (void)settings_.host->world->files.remove_tree(fresh);
    return taken.ok() ? done : taken.status();
  }
  std::erase(removed_, id);
  all_.push_back(*taken);
  return taken;
}

size_t Registry::count_of(const std::string& owner) const {
  size_t count = 0;
  for (const auto& one : all()) {
    const auto owners = one->owners();
    count += std::ranges::find(owners, owner) != owners.end();
  }
  return count;
}

std::vector<InfrastructureFacts> Registry::facts() const {
  std::vector<InfrastructureFacts> facts;
  if (auto text = read_file(deleted_file(), 2 * kLargestDeleted); text.ok())
    for (const std::string_view line : split(*text, '\n')) {
      const Json json = json::parse_json(line);
      const Json& figures = json::member(json, "figures");
      if (figures.is_object())
        facts.push_back({json::text_of(json, "id"), json::text_of(json, "owner"),
                         json::number_of(json, "created"), true, figures});
    }
  for (const auto& one : all()) facts.push_back(facts_of(*one, settings_.host->world->clock.wall_seconds()));
  return facts;
}

Result<ir::Program> Registry::compiled(const Document& document, const std::string& user) const {
  const std::string folder = folder_ + "/../checks/" + random_token(settings_.host->world->random);
  if (Status made = make_directories(folder, 0700); !made.ok()) return made;
  auto program = compile_document(users_.of(user), folder, folder + "/state", document);
  (void)settings_.host->world->files.remove_tree(folder);
  return program;
}

Status Registry::remove(const std::string& id) {
  if (auto one = find(id); one.ok()) {
    note_deleted(**one);
    (*one)->forget_state();
  }
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

// A line that cannot be written is missing from the statistics alone.
void Registry::note_deleted(const Infrastructure& one) const {
  const InfrastructureFacts facts = facts_of(one, settings_.host->world->clock.wall_seconds());
  const Json line = {
      {"id", facts.id}, {"owner", facts.owner}, {"created", facts.created}, {"figures", facts.figures}};
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::lock_guard lock(mutex_);
  std::error_code error;
  const auto size = std::filesystem::file_size(deleted_file(), error);
  if (!error && size > kLargestDeleted) {  // the newer half stays
    auto all = read_file(deleted_file(), size);
    if (!all.ok()) return;
    all->erase(0, all->find('\n', all->size() / 2) + 1);
    (void)write_file_atomic(deleted_file(), *all + text, 0600);
    return;
  }
  const int file = ::open(deleted_file().c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  (void)write_all(file, text, deleted_file());
  ::close(file);
}

}  // namespace radl::serve
