// What in a folder shows that an infrastructure's state was there. Internal to runtime/state.
//
// The file "id" holds the tag that clouds put on what is made (NAME-LINEAGE). It is written as soon as
// there is a state and is the first of its files to go, so where it stands without a state, that was lost.
#pragma once

#include <string>

#include "common/status.h"

namespace radl {

inline constexpr const char* kIdFile = "id";

// Writes the id file where it is not there, or not whole.
Status write_id(const std::string& folder, const std::string& tag);

// Whether the folder holds the state that clouds know by this tag.
bool has_id(const std::string& folder, const std::string& tag);
// "" where nothing shows that there was a state; else what does: "the file id", "files in work/".
std::string trace_of_state(const std::string& folder);
// The same by what no other program's folder has: for folders that radlc was not asked for by name.
bool is_certainly_of_a_state(const std::string& folder);

// Corrupt: `found` shows that there was a state, and state.db is missing or empty.
Status lost_state(const std::string& folder, const std::string& found);

}  // namespace radl
