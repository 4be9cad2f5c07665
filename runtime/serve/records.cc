#include "runtime/serve/records.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/guarded.h"
#include "common/json_values.h"
#include "runtime/serve/plan_query.h"

namespace radl::serve {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::chrono::seconds kCopyEvery{2}, kAtEnd{10}, kAtStart{300};
constexpr std::chrono::milliseconds kBetweenTries{100};
constexpr size_t kLargestNote = size_t{64} << 20, kLargestRecord = size_t{64} << 20;
constexpr const char* kNote = "/records.json";  // what was copied, and under which name
constexpr const char* kHolder = "holder";

std::string stamp_of(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  return fmt::format("{}.{}:{}", about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_size);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename());
  return names;
}

bool is_sealed(const std::string& path) {
  return path == "webhooks.sealed" || path.starts_with("credentials/");
}

// A path of a record, not one that leads out of the folder.
bool is_record(const std::string& path) {
  return is_upload_path(path) && (path == "tokens.json" || is_sealed(path) ||
                                  path.starts_with("workspaces/") || path.starts_with("infrastructures/"));
}

}  // namespace

Records::Records(std::string folder, std::string place, World& world, transfer::OpenedStore opened,
                 std::unique_ptr<http::Client> client)
    : folder_(std::move(folder)),
      place_(std::move(place)),
      world_(world),
      client_(std::move(client)),
      store_(std::move(opened.store)),
      prefix_(opened.key.empty() ? "" : opened.key + "/") {}

Result<std::unique_ptr<Records>> Records::open(const std::string& folder, const std::string& place,
                                               World& world, std::vector<std::string>& notes) {
  auto client = std::make_unique<http::Client>(world.environment);
  auto opened = transfer::open_object_store(*client, place);
  if (!opened.ok()) return opened.status();
  while (opened->key.ends_with('/')) opened->key.pop_back();
  std::unique_ptr<Records> made(new Records(folder, place, world, std::move(*opened), std::move(client)));
  if (Status begun = made->begin(notes); !begun.ok()) return begun;
  made->thread_ = std::jthread([its = made.get()] { its->work(); });
  return made;
}

Records::~Records() {
  {
    std::lock_guard lock(wake_mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  (void)copy(Stop().within(kAtEnd));
}

Status Records::begin(std::vector<std::string>& notes) {
  const Stop stop = Stop().within(kAtStart);
  if (auto text = read_file(folder_ + kNote, kLargestNote); text.ok()) {
    const Json note = json::parse_json(*text);
    holder_ = json::text_of(note, "holder");
    for (const auto& [path, stamp] : json::member(note, "files").items())
      if (stamp.is_string()) copied_[path] = stamp.get<std::string>();
  }
  const bool is_new = holder_.empty();
  auto there = store_->get(key(kHolder), {}, stop);
  if (!there.ok() && there.status().code() != Code::NotFound) return there.status();
  if (!is_new) return there.ok() ? check_holder(stop) : Status();
  holder_ = random_token(world_.random);
  if (there.ok()) {
    if (!names_in(folder_ + "/workspaces").empty() || !names_in(folder_ + "/infrastructures").empty())
      return Status(Code::Conflict, place_ + " has the records of another service, and " + folder_ +
                                        " has infrastructures of its own")
          .with_hint("start with an empty --folder, or with another --state");
    if (Status brought = bring(notes); !brought.ok()) return brought;
  }
  // From now on, the service that wrote here before begins no run.
  if (auto put = store_->put(key(kHolder), holder_, {}, stop); !put.ok()) return put.status();
  return save_copied();
}

Status Records::bring(std::vector<std::string>& notes) {
  const Stop stop = Stop().within(kAtStart);
  auto objects = store_->list(key(""), stop);
  if (!objects.ok()) return objects.status();
  const bool has_key = !stamp_of(folder_ + "/credentials.key").empty();
  size_t brought = 0, sealed = 0;
  for (const transfer::Object& object : *objects) {
    const std::string path = object.key.substr(key("").size());
    if (!is_record(path)) continue;
    if (is_sealed(path) && !has_key) {
      ++sealed;
      continue;
    }
    auto content = store_->get(object.key, {}, stop);
    if (!content.ok()) return content.status();
    const std::string to = folder_ + "/" + path;
    if (Status made = make_directories(fs::path(to).parent_path(), 0700); !made.ok()) return made;
    if (Status written = write_file_atomic(to, content->bytes, 0600); !written.ok()) return written;
    copied_[path] = stamp_of(to);
    ++brought;
  }
  notes.push_back(fmt::format("{}: restored {} records of an earlier service", place_, brought));
  if (sealed > 0)
    notes.push_back(
        fmt::format("{}: {} encrypted files were not restored because {}/credentials.key is missing. Start "
                    "with another empty folder that has the key; or users store their credentials and add "
                    "their webhooks again",
                    place_, sealed, folder_));
  return {};
}

Status Records::check_holder(const Stop& stop) {
  auto there = store_->get(key(kHolder), {}, stop);
  if (there.status().code() == Code::NotFound) {
    auto put = store_->put(key(kHolder), holder_, {}, stop);
    return put.ok() ? Status() : put.status();
  }
  if (!there.ok()) return there.status();
  if (there->bytes == holder_) return {};
  return Status(Code::Conflict, "another service has taken over the records in " + place_)
      .with_hint("stop this one; to take them back, start with an empty --folder");
}

void Records::add(const std::string& path, size_t most, Stamps& to) const {
  const std::string stamp = stamp_of(folder_ + "/" + path);
  if (stamp.empty() || !is_record(path)) return;
  if (std::strtoull(stamp.c_str() + stamp.find(':') + 1, nullptr, 10) <= most) to[path] = stamp;
}

void Records::add_folder(const std::string& folder, size_t most, Stamps& to) const {
  std::error_code error;
  size_t count = 0;
  for (fs::recursive_directory_iterator at(folder_ + "/" + folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (at->is_symlink(gone) || !at->is_regular_file(gone)) continue;
    if (++count > kMostUploads) return;
    add(fs::path(at->path()).lexically_relative(folder_).string(), most, to);
  }
}

bool Records::is_here(const std::string& record) {
  const std::string path = folder_ + "/" + record, stamp = stamp_of(path);
  auto& [seen, here] = here_[record];
  if (seen == stamp) return here;
  auto text = read_file(path, kLargestRecord);
  if (!text.ok()) return false;
  here = json::text_of(json::parse_json(*text), "states") == place_;
  seen = stamp;
  return here;
}

Records::Stamps Records::found() {
  Stamps all;
  for (const char* path : {"tokens.json", "webhooks.sealed"}) add(path, kLargestRecord, all);
  for (const std::string& user : names_in(folder_ + "/credentials"))
    add("credentials/" + user, kLargestRecord, all);
  for (const std::string& id : names_in(folder_ + "/workspaces")) {
    const std::string its = "workspaces/" + id + "/";
    if (!is_here(its + "about.json")) continue;
    for (const char* name : {"about.json", "program.radl", "receipt.json"})
      add(its + name, kLargestRecord, all);
    add_folder(its + "plans", kLargestRecord, all);
    add_folder(its + "runs", kLargestEvents, all);
    add_folder(its + "files", kLargestFile, all);
  }
  for (const std::string& id : names_in(folder_ + "/infrastructures")) {
    const std::string its = "infrastructures/" + id + "/";
    if (!is_here(its + "infrastructure.json")) continue;
    for (const char* name : {"infrastructure.json", "program.radl", "program.tosca"})
      add(its + name, kLargestRecord, all);
  }
  return all;
}

Status Records::save_copied() const {
  return write_file_atomic(folder_ + kNote, Json{{"holder", holder_}, {"files", copied_}}.dump() + "\n",
                           0600);
}

Status Records::copy(const Stop& stop, bool for_run) {
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!lock.try_lock())
    if (!stop.sleep(kBetweenTries)) return stop.check();
  const Stamps now = found();
  std::vector<std::string> changed, gone;
  for (const auto& [path, stamp] : now)
    if (const auto before = copied_.find(path); before == copied_.end() || before->second != stamp)
      changed.push_back(path);
  for (const auto& [path, stamp] : copied_)
    if (!now.contains(path) && stamp_of(folder_ + "/" + path).empty()) gone.push_back(path);
  const bool any = !changed.empty() || !gone.empty();
  if (!any && !for_run) return {};
  if (Status ours = check_holder(stop); !ours.ok() || !any) return ours;
  Status failed;
  for (const std::string& path : changed) {
    auto content = read_file(folder_ + "/" + path, kLargestRecord);
    if (!content.ok()) continue;  // it has just been replaced or removed
    auto put = store_->put(key(path), *content, {}, stop);
    if (!put.ok() && failed.ok()) failed = put.status();
    if (put.ok()) copied_[path] = now.at(path);
  }
  for (const std::string& path : gone) {
    Status removed = store_->remove(key(path), stop);
    if (removed.ok()) copied_.erase(path);
    if (!removed.ok() && failed.ok()) failed = std::move(removed);
  }
  if (Status saved = save_copied(); !saved.ok()) return saved;
  return failed;
}

void Records::work() {
  std::unique_lock lock(wake_mutex_);
  while (!wake_.wait_for(lock, kCopyEvery, [&] { return stopping_.load(); })) {
    lock.unlock();
    // The next round retries a failure; a run that needs the copy reports it.
    const Stop stop = Stop::when([this] { return stopping_.load(); }).within(std::chrono::minutes(5));
    (void)guarded([&] { return copy(stop); });
    lock.lock();
  }
}

}  // namespace radl::serve
