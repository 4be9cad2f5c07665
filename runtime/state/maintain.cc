// What one does to states from outside a run: list, find.
#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "runtime/state/bucket.h"
#include "runtime/state/place.h"
#include "runtime/state/store.h"
#include "runtime/state/trace.h"

namespace radl {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kWholeList{60};

Result<std::vector<std::string>> list_bucket(const std::string& directory, const Environment& environment,
                                             const Stop& stop) {
  Result<BucketPlace> place = bucket_place(directory);
  if (!place.ok()) return place.status();
  Result<std::unique_ptr<Bucket>> bucket = Bucket::open(place->address, environment);
  if (!bucket.ok()) return bucket.status();
  const std::string prefix = place->prefix.empty() ? "" : place->prefix + "/";
  Result<std::vector<std::string>> keys = (*bucket)->keys(prefix, stop.within(kWholeList));
  if (!keys.ok()) return keys.status();
  const std::string end = std::string("/") + kDocumentName;
  std::vector<std::string> names;
  for (const std::string& key : *keys) {
    if (!key.ends_with(end)) continue;
    std::string name = key.substr(prefix.size(), key.size() - prefix.size() - end.size());
    if (!name.empty() && name.find('/') == std::string::npos) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> list_states(const std::string& directory, const Environment& environment,
                                             const Stop& stop) {
  if (is_bucket_place(directory)) return list_bucket(directory, environment, stop);
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code unreadable;
    bool is_state = fs::exists(at->path() / "state.db", unreadable) || unreadable ||
                    is_certainly_of_a_state(at->path().string());
    if (is_state && at->is_directory(unreadable)) names.push_back(at->path().filename());
  }
  if (error && error != std::errc::no_such_file_or_directory) return errno_status(error.value(), directory);
  std::sort(names.begin(), names.end());
  return names;
}

std::string work_directory_of(const std::string& directory, const std::string& name,
                              const Environment& environment) {
  if (!is_bucket_place(directory)) return directory + "/" + name + "/work";
  Result<BucketPlace> place = bucket_place(directory);
  Result<std::string> folder =
      place.ok() ? local_folder(*place, name, environment) : Result<std::string>(place.status());
  return folder.ok() ? *folder + "/work" : "";
}

std::string default_state_directory(const std::string& source_path) {
  fs::path folder = fs::path(source_path).parent_path();
  return ((folder.empty() ? fs::path(".") : folder) / ".radl").string();
}

}  // namespace radl
