// Records in a state where it lives, so that a copy of its folder, or of its objects in a bucket, can be told
// from the original. Internal to runtime/state.
//
// Original and copy share one identity: anything that one destroys is destroyed for both. A moved folder is
// not a copy; neither is a folder that another computer sees on a shared file system. A clone of a whole disk
// differs from the original only by its computer's network hardware (docs/state.md).
#pragma once

#include <string>

#include "common/status.h"
#include "runtime/state/database.h"

namespace radl {

// "" if this folder is the state's own place, or the state records no place. Otherwise a description of the
// original's: "/a/.radl/demo on host7".
Result<std::string> original_of(Database& db, const std::string& folder);
// Exists: the folder is a copy; says how to proceed. Otherwise records this as the state's place. Call in a
// transaction.
Status settle_in(Database& db, const std::string& folder);
// Records this as the state's place unconditionally. Call in a transaction.
Status record_home(Database& db, const std::string& folder);

// Exists: `place` holds a copy of `original`; says how to proceed.
Status is_a_copy(const std::string& place, const std::string& original);

// For a state in a bucket: the recorded URL of its object; "" if none.
Result<std::string> recorded_url(Database& db);
Status record_url(Database& db, const std::string& url);

}  // namespace radl
