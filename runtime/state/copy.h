// States from one place to another: out of it into a file, out of a file into it, or wholly elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "common/status.h"
#include "runtime/base/world.h"

namespace radl {

// The state as the bytes of a SQLite database, as .radl/NAME/state.db is one. Takes no lock.
Result<std::string> copied_state(const std::string& directory, const std::string& name, World& world);

struct PushOptions {
  bool force = false;  // also an older one, or another infrastructure's
  std::chrono::milliseconds lock_timeout{0};
};
// Makes the database in `file` the state. Conflict: what is there is newer, or of another infrastructure (and
// not empty). Invalid, Corrupt: the file is none.
Status push_state(const std::string& file, const std::string& directory, const std::string& name,
                  const PushOptions& options, World& world);

// Copies a folder with all below it over what `to` has; links stay links. Does nothing if `from` does not
// exist.
Status copy_folder(const std::string& from, const std::string& to);

// Moves a state to another place with the clouds' own files and the logs, under the locks of both; a run that
// was killed in between is repeated. Exists: there is another one. Conflict: it has nodes of this computer,
// which live in its folder.
Status migrate_state(const std::string& from, const std::string& to, const std::string& name,
                     std::chrono::milliseconds lock_timeout, World& world);

}  // namespace radl
