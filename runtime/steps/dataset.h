// Datasets: fetched and verified once on this computer by the engine, then copied to nodes by content.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/steps/step_runner.h"

namespace radl {

struct DatasetSource {
  std::string name;             // "cifar10"; for user data the text that names it
  std::string source = "auto";  // for a known dataset: auto, official, npm, subset, mirror
  std::string mirror;           // address, with source "mirror"
  std::string path;             // for user data: absolute path or URI; else ""
  std::string path_sha256;      // content_digest() at plan time; "" for remote data
  bool skip_corrupt = false;
  std::optional<long long> corrupt_limit;
  bool own() const { return !path.empty(); }
};

// From `data` of a training, or the properties of a `dataset` (docs/ir.md).
DatasetSource dataset_source(const std::string& name, const Json& data);

// The part of a local folder that must be on a node.
struct LocalDataset {
  std::string folder;
  std::string list;                   // "SHA256  ./NAME\n" for each file
  std::string digest;                 // of the list
  std::vector<std::string> left_out;  // corrupt images
  std::string address;                // the object store address it came from; else ""
};

// After `radl-train data stage` has fetched, unpacked and verified it; `say` receives its lines. With
// `offline`, fetches nothing: nullopt if it is not installed on this computer. Conflict: it has changed since
// the plan.
Result<std::optional<LocalDataset>> local_dataset(const DatasetSource& source, bool offline,
                                                  const Context& context,
                                                  const std::function<void(const std::string&)>& say);

// The node's file that lists what was copied to this directory.
std::string dataset_note(const std::string& directory);
// Shell text for Kind::look: reports `kind`, `list` (digest of the noted list, if all its files are present
// with their content) and `files` (their number).
std::string look_at_dataset(const std::string& directory);

// Sends missing files, in one archive if the node is a separate machine; removes files of earlier calls that
// are no longer part of it. True if anything was sent or removed. Conflict: the directory has foreign files,
// which would be read as part of the user's data.
Result<bool> place_dataset(const NodeHandle& node, const Context& context, const LocalDataset& data,
                           const std::string& directory, bool alone);

// Path of radl-train: $RADL_TRAIN, beside this program, ../libexec/radl or ../lib/radl, PATH. NotFound lists
// the searched places.
Result<std::string> find_engine(const Environment& environment);

}  // namespace radl
