#include "runtime/state/run_objects.h"

#include <fmt/format.h>

#include <cstdlib>

namespace radl {
namespace {

constexpr std::string_view kPiece = ".jsonl";
constexpr const char* kAlive = "/alive";
constexpr std::string_view kEnd = "/end-";
constexpr std::chrono::seconds kForAWrite{30};
// Of `alive`: three turns may be late, and servers give times in whole seconds.
constexpr double kLongestSilence = 65;

std::string piece_key(const std::string& run, unsigned long long first) {
  return fmt::format("{}/{:020}{}", run, first, kPiece);
}

}  // namespace

Result<std::unique_ptr<RunObjects>> RunObjects::open(const std::string& directory, const std::string& name,
                                                     const Environment& environment) {
  Result<BucketPlace> place = bucket_place(directory);
  if (!place.ok()) return place.status();
  Result<std::unique_ptr<Bucket>> bucket = Bucket::open(place->address, environment);
  if (!bucket.ok()) return bucket.status();
  return std::unique_ptr<RunObjects>(new RunObjects(std::move(*bucket), place->key(name, "runs/")));
}

Result<std::map<std::string, RunObjects::Listed>> RunObjects::list(const Stop& stop) {
  Result<std::vector<std::string>> keys = bucket_->keys(prefix_, stop);
  if (!keys.ok()) return keys.status();
  std::map<std::string, Listed> runs;
  for (const std::string& key : *keys) {
    const std::string below = key.substr(prefix_.size());
    const size_t slash = below.find('/');
    if (slash == std::string::npos) continue;
    Listed& run = runs[below.substr(0, slash)];
    const std::string object = below.substr(slash);
    const auto number = [&](size_t from) { return std::strtoull(object.c_str() + from, nullptr, 10); };
    if (object.starts_with(kEnd)) run.end = number(kEnd.size());
    if (object.ends_with(kPiece)) run.pieces.push_back(number(1));
  }
  return runs;
}

Result<std::string> RunObjects::read(const std::string& run, unsigned long long first, const Stop& stop) {
  const std::string key = prefix_ + piece_key(run, first);
  Result<std::optional<BucketObject>> object = bucket_->get(key, stop);
  if (!object.ok()) return object.status();
  if (!*object) return not_found(bucket_->url(key) + " was removed");
  return std::move((*object)->body);
}

Result<bool> RunObjects::is_alive(const std::string& run, const Stop& stop) {
  Result<std::optional<BucketObject>> object = bucket_->get(prefix_ + run + kAlive, stop);
  if (!object.ok()) return object.status();
  return *object && (*object)->age <= kLongestSilence;
}

Status RunObjects::write(const std::string& run, unsigned long long first, const std::string& lines,
                         const Stop& stop) {
  return bucket_->put(prefix_ + piece_key(run, first), lines, {}, for_a_write(stop, kForAWrite)).status();
}

Status RunObjects::note_alive(const std::string& run, const Stop& stop) {
  return bucket_->put(prefix_ + run + kAlive, "", {}, stop.within(kForAWrite)).status();
}

Status RunObjects::note_end(const std::string& run, unsigned long long last, const Stop& stop) {
  const std::string key = fmt::format("{}{}{}{:020}", prefix_, run, kEnd, last);
  return bucket_->put(key, "", {}, for_a_write(stop, kForAWrite)).status();
}

Status RunObjects::remove(const std::string& run, const Stop& stop) {
  Result<std::vector<std::string>> keys = bucket_->keys(prefix_ + run + "/", stop);
  if (!keys.ok()) return keys.status();
  for (const std::string& key : *keys)
    if (Status gone = bucket_->remove(key, stop); !gone.ok()) return gone;
  return {};
}

}  // namespace radl
