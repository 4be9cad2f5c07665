// Datasets: fetched and checked once on this computer by the engine, then brought to nodes by content.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/steps/step_runner.h"

namespace radl {

struct DatasetSource {
  std::string name;             // "cifar10"; of one's own data the text that names it
  std::string source = "auto";  // of a known one: auto, official, npm, subset, mirror
  std::string mirror;           // address, with source "mirror"
  std::string path;             // of one's own data: absolute, or a URI; else ""
  std::string path_sha256;      // content_digest() when the plan was made; "" for what lies elsewhere
  bool skip_corrupt = false;
  std::optional<long long> corrupt_limit;
  bool own() const { return !path.empty(); }
};

// From `data` of a training, or the properties of a `dataset` (docs/ir.md).
DatasetSource dataset_source(const std::string& name, const Json& data);

// What of this computer's folder has to lie on a node.
struct LocalDataset {
  std::string folder;
  std::string list;                   // "SHA256  ./NAME\n" of each file
  std::string digest;                 // of the list
  std::vector<std::string> left_out;  // corrupt images
  std::string address;                // where it was brought from, of an object store; else ""
};

// After `radl-train data stage` has fetched, unpacked and checked it; `say` gets its lines. With `offline`
// nothing is fetched: nullopt when it is not installed on this computer. Conflict: it has changed since the
// plan.
Result<std::optional<LocalDataset>> local_dataset(const DatasetSource& source, bool offline,
                                                  const Context& context,
                                                  const std::function<void(const std::string&)>& say);

// Where a node keeps the list of what was brought to this directory of it.
std::string dataset_note(const std::string& directory);
// Shell text for Kind::look: says `kind`, and `list` (digest of the noted list, when every file of it is
// there with its content) and `files` (how many there are).
std::string look_at_dataset(const std::string& directory);

// Sends what the node lacks, all files of it in one archive where the node is a machine of its own; removes
// what an earlier call brought and is no longer part of it. True: anything was sent or removed. Conflict: the
// directory holds files that nobody brought, and with the user's own data they would be read as part of it.
Result<bool> place_dataset(const NodeHandle& node, const Context& context, const LocalDataset& data,
                           const std::string& directory, bool alone);

// Path of radl-train: $RADL_TRAIN, beside this program, ../libexec/radl or ../lib/radl, PATH. NotFound with
// where it was looked for.
Result<std::string> find_engine(const Environment& environment);

}  // namespace radl
