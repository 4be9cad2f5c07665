#include "runtime/steps/training/bucket_folder.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/digest.h"
#include "common/own_folders.h"

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

Status check_buckets(const nlohmann::json& job, const Environment& environment, const Stop& stop) {
  http::Client http(environment);
  for (const char* key : {"result", "results", "checkpoints"}) {
    const std::string place = job.value(key, "");
    if (!is_bucket(place)) continue;
    auto folder = open_bucket_folder(http, place);
    Status open = folder ? check_writable(*folder, stop) : folder.status();
    if (!open.ok()) return std::move(open).at(key);
  }
  return {};
}

Result<bool> is_in_bucket(const std::string& address, const Environment& environment, const Stop& stop) {
  http::Client http(environment);
  auto opened = transfer::open_object_store(http, address);
  if (!opened) return opened.status();
  auto head = opened->store->head(opened->key, stop);
  if (head) return true;
  if (head.status().code() == Code::NotFound) return false;
  return head.status();
}

namespace {

Result<std::vector<std::string>> files_below(const std::string& local) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(local, error)) {
    if (entry.is_regular_file(error))
      names.push_back(entry.path().lexically_relative(local).generic_string());
  }
  if (error) return Status(Code::Retry, local + ": " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

Result<ResultRecord> record_in(const BucketFolder& folder, const std::string& key, const Stop& stop) {
  auto text = folder.store->get(key, {}, stop);
  if (text) return ResultRecord::parse(text->bytes);
  if (text.status().code() == Code::NotFound) return ResultRecord();
  return text.status();
}

}  // namespace

// The record names every object before it is sent, so that none is forgotten by a run that is killed.
Status send_results(const BucketFolder& folder, const std::string& local, const ResultsToSend& results,
                    const Stop& stop) {
  auto names = files_below(local);
  if (!names) return names.status();
  std::stable_partition(names->begin(), names->end(),
                        [&](const std::string& name) { return name != results.last; });
  const std::string key = folder.key(std::string(kResultsMark));
  auto record = record_in(folder, key, stop);
  if (!record) return record.status();
  for (const std::string& name : *names) {
    auto digest = sha256_file(local + "/" + name);
    if (!digest) return digest.status();
    record->entries[name] = {results.owner, {*digest}, false};
  }
  if (auto put = folder.store->put(key, record->text(), {}, stop); !put) return put.status();
  std::vector<std::string> stale =
      record->take_stale(results.owner, {names->begin(), names->end()}, results.kept);
  for (const std::string& name : *names) {
    if (name == results.last && !stale.empty()) {
      for (std::string& each : stale) each = folder.key(each);
      if (Status removed = folder.store->remove_many(stale, stop); !removed.ok()) return removed;
      stale.clear();
    }
    auto put = folder.send(local + "/" + name, name, stop);
    if (!put) return put.status();
  }
  return folder.store->put(key, record->text(), {}, stop).status();
}

}  // namespace radl::training
