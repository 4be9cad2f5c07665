// Where a state lives: recorded in it, so that a copy of its folder, or of its objects in a bucket, differs
// from the original. Internal to runtime/state.
//
// The original and a copy share one identity: whatever one of them destroys is destroyed for both. A folder
// that was moved is no copy; neither is one that another computer sees on a shared file system. A clone of a
// whole disk differs from the original by the network hardware of its computer alone (docs/state.md).
#pragma once

#include <string>

#include "common/status.h"
#include "runtime/state/database.h"

namespace radl {

// "": this folder is the state's own place, or the state says nothing of a place. Else where the original is,
// in words: "/a/.radl/demo on host7".
Result<std::string> original_of(Database& db, const std::string& folder);
// Exists: the folder is a copy; says how to go on. Else this is the state's place from now on. Within a
// transaction.
Status settle_in(Database& db, const std::string& folder);
// This is the state's place from now on, whatever it says. Within a transaction.
Status record_home(Database& db, const std::string& folder);

// Exists: what is in `place` is a copy of `original`; says how to go on.
Status is_a_copy(const std::string& place, const std::string& original);

// Of a state in a bucket: the URL of its object, "" where it says none.
Result<std::string> recorded_url(Database& db);
Status record_url(Database& db, const std::string& url);

}  // namespace radl
