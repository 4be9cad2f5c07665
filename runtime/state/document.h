// A state as one document: a gzip-compressed SQLite database. Internal to runtime/state.
#pragma once

#include <string>

#include "runtime/state/database.h"

namespace radl {

// `user_version` of the head of a state in a bucket (stored_state.h), which is also a SQLite database: a
// radlc without support for heads then reports a state written by a newer version.
inline constexpr int kHeadVersion = 1002;

Result<std::string> compressed(const std::string& bytes);
// Also accepts uncompressed data. Corrupt: not gzip, or truncated. `where` is named in errors.
Result<std::string> decompressed(const std::string& document, const std::string& where);

Result<std::string> to_document(Database& db);
// Also accepts an uncompressed database. Upgrades older versions in memory. Invalid: a newer version, or only
// the head of a state. Corrupt: not a state. `where` is named in errors.
Result<Database> from_document(const std::string& document, const std::string& where);

// The two halves of from_document(): opens any SQLite database, then upgrades it to the current version.
Result<Database> open_document(const std::string& document, const std::string& where);
// `upgraded` (may be null): set if the tables had an older version.
Status bring_up_to_date(Database& db, const std::string& where, bool* upgraded = nullptr);

// The error for an unreadable state or part of one.
Status damaged_document(const std::string& where);

}  // namespace radl
