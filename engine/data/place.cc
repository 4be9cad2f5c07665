#include "engine/data/place.h"

#include <filesystem>

#include "common/dataset_digest.h"
#include "common/digest.h"
#include "common/files.h"
#include "common/store_address.h"
#include "common/transfer/source.h"
#include "engine/data/archive.h"
#include "engine/data/fetch_cifar10.h"
#include "engine/data/folder_lock.h"

namespace radl::engine::data {

namespace fs = std::filesystem;

std::vector<std::string> file_names(const std::string& format) {
  std::vector<std::string> all;
  auto add = [&](const char* name, std::initializer_list<const char*> names) {
    if (format == name || format == "auto" || format.empty())
      all.insert(all.end(), names.begin(), names.end());
  };
  add("cifar10", {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                  "data_batch_5.bin", "test_batch.bin"});
  add("cifar100", {"train.bin", "test.bin"});
  add("idx", {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz",
              "t10k-labels-idx1-ubyte.gz"});
  add("csv", {"train.csv", "test.csv"});
  add("packed", {"train.radlpack", "test.radlpack"});
  return all;
}

namespace {

// A URL's without its query; '?' and '#' of a store's address belong to the key.
std::string path_part(const std::string& uri) {
  return is_store_address(uri) ? uri : uri.substr(0, uri.find_first_of("?#"));
}

}  // namespace

bool is_one_file(const std::string& uri) {
  const std::string path = path_part(uri);
  return is_archive_name(path) || is_csv_name(path) || path.ends_with(".radlpack");
}

bool has_listing(const std::string& uri) {
  return is_store_address(uri) || (!uri.starts_with("http://") && !uri.starts_with("https://"));
}

namespace {

std::string file_name(const std::string& uri) {
  const std::string path = path_part(uri);
  return path.substr(path.rfind('/') + 1);
}

// Fetches a remote dataset to the user's cache, under a name derived from its URI.
Result<std::string> bring(const std::string& uri, const PlaceOptions& o) {
  auto cache = default_cache();
  if (!cache.ok()) return cache.status();
  const std::string folder = *cache + "/remote/" + sha256_hex(uri).substr(0, 16);
  if (Status made = make_directories(folder); !made.ok()) return made;
  FolderLock lock;
  if (Status locked = lock.take(folder, o.say, o.stop); !locked.ok()) return locked;
  http::Client http(environment_of_process());
  if (is_one_file(uri)) {
    const std::string path = folder + "/" + file_name(uri);
    Status s = transfer::fetch_one(http, uri, folder, file_name(uri), o.stop, o.progress);
    if (!s.ok()) return s;
    return path;
  }
  Status s = transfer::fetch_folder(http, uri, folder,
                                    has_listing(uri) ? std::vector<std::string>{} : file_names(o.format),
                                    o.stop, o.progress);
  if (!s.ok()) return s;
  return folder;
}

// Unpacks under a name derived from the content.
Result<std::string> unpacked(const std::string& path, const PlaceOptions& o) {
  auto listed = list_dataset(path);
  if (!listed.ok()) return listed.status();
  auto digests = file_digests(*listed, user_cache(environment_of_process()));
  if (!digests.ok()) return digests.status();
  auto cache = default_cache();
  if (!cache.ok()) return cache.status();
  const std::string parent = *cache + "/unpacked", folder = parent + "/" + digests->at(0);
  if (Status made = make_directories(parent); !made.ok()) return made;
  FolderLock lock;
  if (Status locked = lock.take(parent, o.say, o.stop); !locked.ok()) return locked;
  std::error_code error;
  if (fs::is_directory(folder, error)) return folder;
  if (o.say) o.say("unpacking " + path);
  if (Status s = unpack_archive(path, folder); !s.ok()) return s;
  return folder;
}

}  // namespace

Result<std::string> local_place(const std::string& place, const PlaceOptions& options) {
  std::string path = path_of_place(place);
  if (is_remote_place(path)) {
    auto brought = bring(path, options);
    if (!brought.ok()) return brought;
    path = *brought;
  }
  std::error_code error;
  return is_archive_name(path) && !fs::is_directory(path, error) ? unpacked(path, options)
                                                                 : Result<std::string>(path);
}

}  // namespace radl::engine::data
