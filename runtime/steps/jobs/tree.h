// Copies local files to folders of nodes by content: existing ones are not sent again, and the
// others go as one archive. For a folder that resembles an existing one, only changed files are
// sent.
//
// On a node: ~/.radl/trees/KEY, and ~/.radl/trees/KEY.whole once it is complete. Trees are
// read-only. The file `uses` in a job's folder lists the keys of the trees it needs, one per line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/own_folders.h"
#include "runtime/steps/jobs/ahead.h"
#include "runtime/steps/manifest.h"
#include "runtime/steps/step_runner.h"

namespace radl::jobs {

struct Tree {
  enum class Kind {
    Folder,   // everything in it that `contents` includes
    File,     // a folder with this one file
    Archive,  // unpacked: .tar, .tar.*, .zip, .whl
    Git,      // `path` is its URL, `digest` the commit
  };
  Kind kind = Kind::Folder;
  std::string path;
  std::string digest;  // from the plan; Conflict if it no longer matches
  Contents contents = {};
  std::optional<std::vector<std::string>> only = {};  // only these files of a folder, sorted
};

// The content of a tree that is a folder.
Result<std::vector<ManifestEntry>> manifest_of(const Tree& tree);

// Its location on nodes.
std::string tree_folder(const Tree& tree);
// Returns the bytes sent; 0: it already existed.
Result<uint64_t> place_tree(const NodeHandle& node, const Context& context, const Tree& tree,
                            Ahead first = {});
// Sends an archive created here, as a tree with its own name.
Result<uint64_t> place_archive(const NodeHandle& node, const Context& context, const std::string& archive,
                               const std::string& key);
// True if a complete tree of this name exists.
Result<bool> has_tree(const NodeHandle& node, const Context& context, const std::string& key);
// Shell text that removes trees not named by any job's folder on the node.
std::string remove_unused_trees_script();

}  // namespace radl::jobs
