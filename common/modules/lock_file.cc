#include "common/modules/lock_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/modules/address.h"
#include "common/tidy_path.h"

namespace radl::vendored {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLargest = size_t{16} << 20;
constexpr int kVersion = 1;

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Status broken(const std::string& path, std::string_view why) {
  return Status(Code::Corrupt, fmt::format("{}: {}", path, why))
      .with_hint("take it from version control again, or remove it and run `radlc vendor`");
}

std::string text_of(const Json& object, const char* name) {
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string Package::folder() const {
  return fmt::format("{}/{}-{}", kFolder, short_name(address), sha256.substr(0, 12));
}

const Package* LockFile::find(std::string_view address) const {
  auto found = std::find_if(packages.begin(), packages.end(),
                            [&](const Package& package) { return package.address == address; });
  return found == packages.end() ? nullptr : &*found;
}

void LockFile::put(Package package) {
  std::erase_if(packages, [&](const Package& old) { return old.address == package.address; });
  auto before = [](const Package& a, const Package& b) { return a.address < b.address; };
  packages.insert(std::upper_bound(packages.begin(), packages.end(), package, before), package);
}

bool is_vendored_folder(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path folder(path), modules = folder.parent_path();
  std::error_code error;
  return folder.filename() == "vendored" && modules.filename() == "modules" &&
         fs::exists(modules.parent_path() / kLockFile, error);
}

std::string lock_path(const std::string& project) {
  return tidy_path((project.empty() ? "." : project) + "/" + std::string(kLockFile));
}

Result<LockFile> read_lock_file(const std::string& project) {
  const std::string path = lock_path(project);
  auto text = read_file(path, kLargest);
  if (!text.ok()) {
    if (text.status().code() == Code::NotFound) return LockFile();
    return std::move(text).status();
  }
  if (text->find("<<<<<<<") != text->npos)
    return broken(path, "it holds marks of a merge that is not finished");
  Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("packages") || !json["packages"].is_array())
    return broken(path, "it is not a lock file of `radlc vendor`");
  if (!json.contains("version") || json["version"] != kVersion)
    return broken(path, "it was written by another version of radlc");
  LockFile lock;
  for (const Json& each : json["packages"]) {
    if (!each.is_object()) return broken(path, "a package is not an object");
    Package package{text_of(each, "address"), text_of(each, "commit"), text_of(each, "sha256"),
                    text_of(each, "fetched")};
    const bool git = package.address.starts_with("git::");
    if (package.address.empty() || !is_digest(package.sha256) || git != is_commit(package.commit))
      return broken(path, "a package lacks its address, commit or digest");
    // The folder follows from the rest: an edited one must not lead elsewhere.
    if (text_of(each, "folder") != package.folder())
      return broken(path, "a package has another folder than its own");
    if (lock.find(package.address) != nullptr) return broken(path, "a package occurs more than once");
    lock.put(std::move(package));
  }
  return lock;
}

std::string lock_text(const LockFile& lock) {
  Json packages = Json::array();
  for (const Package& package : lock.packages) {
    Json made = {{"address", package.address}};
    if (!package.commit.empty()) made["commit"] = package.commit;
    made["sha256"] = package.sha256;
    made["folder"] = package.folder();
    made["fetched"] = package.fetched;
    packages.push_back(std::move(made));
  }
  return Json{{"version", kVersion}, {"packages", std::move(packages)}}.dump(2) + "\n";
}

}  // namespace radl::vendored
