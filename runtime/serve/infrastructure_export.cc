// An infrastructure that moves to another service.
#include <algorithm>
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/serve/infrastructure_job.h"

namespace radl::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestState = size_t{64} << 20;

// Every file of the state but the logs of its runs, in base64 by its path.
Result<Json> files_of(const std::string& folder) {
  Json files = Json::object();
  size_t bytes = 0;
  std::error_code error;
  if (!fs::exists(folder, error)) return files;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (error) return Status(Code::Invalid, folder + ": " + error.message());
    if (entry->path().filename() == "runs" && entry->is_directory()) entry.disable_recursion_pending();
    if (!entry->is_regular_file() || entry->is_symlink()) continue;
    auto content = read_file(entry->path(), kLargestState);
    if (!content.ok()) return content.status();
    if ((bytes += content->size()) > kLargestState)
      return Status(Code::Quota, "the state is larger than an export may be");
    files[fs::relative(entry->path(), folder, error).string()] = base64_encode(*content);
  }
  return files;
}

Status write_files(const std::string& folder, const Json& files) {
  for (const auto& [name, content] : files.items()) {
    const fs::path path(name);
    const bool inside = path.is_relative() && std::ranges::none_of(path, [](const fs::path& part) {
                          return part == ".." || part.empty();
                        });
    auto bytes =
        content.is_string() ? base64_decode(content.get<std::string>()) : Result<std::string>(invalid(""));
    if (!inside || !bytes.ok()) return Status(Code::Invalid, "the body is not an exported infrastructure");
    const fs::path whole = fs::path(folder) / path;
    if (Status made = make_directories(whole.parent_path(), 0700); !made.ok()) return made;
    if (Status written = write_file_atomic(whole, *bytes, 0600); !written.ok()) return written;
  }
  return {};
}

}  // namespace

Result<std::string> Infrastructure::exported(bool closing) {
  auto now = snapshot();
  if (!now.ok()) return now.status();
  for (const auto& [address, record] : now->resources)
    if (is_on_this_computer(host_, record.cloud))
      return Status(Code::Invalid, address + " is tied to the folder of this service: it cannot move");
  if (!states_.empty())
    return Status(Code::Invalid, "its state is in " + states_ + ", not in this service's folder")
        .with_hint("start the other service with the same --state");
  std::lock_guard lock(mutex_);
  if (at_work_ || !jobs_.empty() || deleting_)
    return Status(Code::Conflict, "a run of the infrastructure is active");
  auto files = files_of(project_options().state);
  if (!files.ok()) return files.status();
  Json json = json_locked();
  json["radlc"] = 1;
  json["radl"] = document_.text();
  json["state"] = std::move(*files);
  stopping_ = stopping_ || closing;
  changed_.notify_all();
  return json.dump();
}

Result<std::shared_ptr<Infrastructure>> Infrastructure::import(const Users& users, const std::string& fresh,
                                                               const std::string& folder,
                                                               const Json& exported,
                                                               const std::string& owner) {
  const Status wrong(Code::Invalid, "the body is not an exported infrastructure");
  const auto version = exported.find("radlc"), radl = exported.find("radl"), state = exported.find("state");
  const bool whole = version != exported.end() && *version == 1 && radl != exported.end() &&
                     radl->is_string() && state != exported.end() && state->is_object();
  if (!whole) return wrong;
  if (Status made = make_directories(fresh, 0700); !made.ok()) return made;
  Json record = exported;
  record["owners"] = {owner};
  record.erase("states");
  record.erase("state");
  record.erase("radl");
  if (Status written = write_files(fresh + "/state", *state); !written.ok()) return written;
  if (Status saved = write_file_atomic(fresh + "/program.radl", radl->get<std::string>(), 0600); !saved.ok())
    return saved;
  if (Status saved = write_file_atomic(fresh + "/infrastructure.json", record.dump(1) + "\n", 0600);
      !saved.ok())
    return saved;
  auto taken = open(users, fresh, exported.value("id", ""));
  if (!taken.ok()) return taken.status().code() == Code::Corrupt ? wrong : taken;
  std::error_code error;
  fs::rename(fresh, folder, error);
  if (error) return Status(Code::Invalid, folder + ": " + error.message());
  taken = open(users, folder, exported.value("id", ""));
  if (!taken.ok() || state->empty()) return taken;
  const driver::ProjectOptions options = (*taken)->project_options();
  if (Status here = driver::take_over_state(*users.own().host, options.state, options.name); !here.ok()) {
    fs::remove_all(folder, error);
    return here;
  }
  return taken;
}

}  // namespace radl::serve
