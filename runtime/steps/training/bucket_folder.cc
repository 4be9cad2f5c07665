#include "runtime/steps/training/bucket_folder.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace radl::training {

Result<BucketFolder> open_bucket_folder(http::Client& http, const std::string& place) {
  auto opened = transfer::open_object_store(http, place);
  if (!opened) return opened.status();
  std::string prefix = opened->key;
  if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
  return BucketFolder{std::move(opened->store), std::move(prefix)};
}

Status check_writable(const BucketFolder& folder, const Stop& stop) {
  const std::string probe = folder.key(".radlc-write-check");
  if (auto put = folder.store->put(probe, "", {}, stop); !put) return put.status();
  return folder.store->remove(probe, stop);
}

Status check_buckets(const nlohmann::json& job, const Stop& stop) {
  http::Client http;
  for (const char* key : {"result", "results", "checkpoints"}) {
    const std::string place = job.value(key, "");
    if (!is_bucket(place)) continue;
    auto folder = open_bucket_folder(http, place);
    Status open = folder ? check_writable(*folder, stop) : folder.status();
    if (!open.ok()) return std::move(open).at(key);
  }
  return {};
}

Result<bool> is_in_bucket(const std::string& address, const Stop& stop) {
  http::Client http;
  auto opened = transfer::open_object_store(http, address);
  if (!opened) return opened.status();
  auto head = opened->store->head(opened->key, stop);
  if (head) return true;
  if (head.status().code() == Code::NotFound) return false;
  return head.status();
}

Status send_files(const BucketFolder& folder, const std::string& local, const std::string& last,
                  const Stop& stop) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(local, error)) {
    if (entry.is_regular_file(error))
      names.push_back(entry.path().lexically_relative(local).generic_string());
  }
  if (error) return {Code::Retry, local + ": " + error.message()};
  std::sort(names.begin(), names.end());
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) { return name != last; });
  for (const std::string& name : names) {
    auto put = folder.send(local + "/" + name, name, stop);
    if (!put) return put.status();
  }
  return {};
}

}  // namespace radl::training
