// Copies states between places: to a file, from a file, or completely elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "common/status.h"
#include "runtime/base/world.h"

namespace radl {

// The state as a SQLite database file like .radl/NAME/state.db. Takes no lock.
Result<std::string> copied_state(const std::string& directory, const std::string& name, World& world);

struct PushOptions {
  bool force = false;  // also accept an older one, or another infrastructure's
  std::chrono::milliseconds lock_timeout{0};
};
// Makes the database in `file` the state. Conflict: the current state is newer, or of another infrastructure
// (and not empty). Invalid, Corrupt: the file is not a state.
Status push_state(const std::string& file, const std::string& directory, const std::string& name,
                  const PushOptions& options, World& world);

// Copies a folder recursively over `to`; keeps links as links. No effect if `from` does not
// exist.
Status copy_folder(const std::string& from, const std::string& to);

// Moves a state to another place with the clouds' own files and the logs, holding both locks. A killed
// migration can be repeated. Exists: `to` has another state. Conflict: the state has local nodes, whose files
// are in its folder.
Status migrate_state(const std::string& from, const std::string& to, const std::string& name,
                     std::chrono::milliseconds lock_timeout, World& world);

}  // namespace radl
