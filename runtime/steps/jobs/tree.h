// Files of this computer as folders of nodes, by content: what is there already is not sent again, and what
// is sent goes as one archive.
//
// On a node: ~/.radl/trees/KEY, and ~/.radl/trees/KEY.whole once all of it is there. Trees are only read.
#pragma once

#include <string>

#include "common/own_folders.h"
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
};

// Where it lies on nodes.
std::string tree_folder(const Tree& tree);
// True: it was sent.
Result<bool> place_tree(const NodeHandle& node, const Context& context, const Tree& tree);
// An archive that was made here, as a tree of its own name.
Result<bool> place_archive(const NodeHandle& node, const Context& context, const std::string& archive,
                           const std::string& key);
// Whether a tree of this name is there whole.
Result<bool> has_tree(const NodeHandle& node, const Context& context, const std::string& key);

}  // namespace radl::jobs
