// Files of this computer as folders of nodes, by content: what is there already is not sent again, and what
// is sent goes as one archive. Of a folder that differs from one that is there only the files that changed
// go.
//
// On a node: ~/.radl/trees/KEY, and ~/.radl/trees/KEY.whole once all of it is there. Trees are only read. The
// file `uses` in a job's folder names the trees that it needs, a key a line.
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
    Folder,   // all that it holds, as `contents` counts it
    File,     // a folder with this one file
    Archive,  // unpacked: .tar, .tar.*, .zip, .whl
    Git,      // `path` is its URL, `digest` the commit
  };
  Kind kind = Kind::Folder;
  std::string path;
  std::string digest;  // as the plan has it; one that does not fit any more is a Conflict
  Contents contents = {};
  std::optional<std::vector<std::string>> only = {};  // of a folder these files alone, sorted
};

// What a tree that is a folder holds.
Result<std::vector<ManifestEntry>> manifest_of(const Tree& tree);

// Where it lies on nodes.
std::string tree_folder(const Tree& tree);
// How many bytes were sent; 0: it was there.
Result<uint64_t> place_tree(const NodeHandle& node, const Context& context, const Tree& tree,
                            Ahead first = {});
// An archive that was made here, as a tree of its own name.
Result<uint64_t> place_archive(const NodeHandle& node, const Context& context, const std::string& archive,
                               const std::string& key);
// Whether a tree of this name is there whole.
Result<bool> has_tree(const NodeHandle& node, const Context& context, const std::string& key);
// Shell text: removes the trees that no job's folder on the node names.
std::string remove_unused_trees_script();

}  // namespace radl::jobs
