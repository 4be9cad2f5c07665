// Traces in a folder that show that an infrastructure's state was there. Internal to runtime/state.
//
// The file "id" contains the tag of the cloud resources (NAME-LINEAGE). It is written together with a new
// state and is the first file to be removed, so if it exists without a state, the state was lost.
#pragma once

#include <string>

#include "common/status.h"

namespace radl {

inline constexpr const char* kIdFile = "id";

// Writes the id file if it is missing or incomplete.
Status write_id(const std::string& folder, const std::string& tag);

// True if the folder holds the state with this tag.
bool has_id(const std::string& folder, const std::string& tag);
// What shows that there was a state: "the file id", "files in work/"; "" if nothing does.
std::string trace_of_state(const std::string& folder);
// Same by evidence that no other program's folder has: for folders that the user did not name.
bool is_certainly_of_a_state(const std::string& folder);

// Corrupt: `found` shows that there was a state, and state.db is missing or empty.
Status lost_state(const std::string& folder, const std::string& found);

}  // namespace radl
