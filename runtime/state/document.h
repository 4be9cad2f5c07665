// A state as one document: a SQLite database, compressed (gzip). Internal to runtime/state.
#pragma once

#include <string>

#include "runtime/state/database.h"

namespace radl {

// `user_version` of the head of a state in a bucket (stored_state.h), which is a SQLite database too: a radlc
// that knows no heads says that a newer one has written the state.
inline constexpr int kHeadVersion = 1002;

Result<std::string> compressed(const std::string& bytes);
// Also takes what is not compressed. Corrupt: not gzip's, or cut off. `where` is named in errors.
Result<std::string> decompressed(const std::string& document, const std::string& where);

Result<std::string> to_document(Database& db);
// Also takes a database that is not compressed. Upgrades an older version, in memory. Invalid: of a newer
// version, or only the head of a state; Corrupt: not a state. `where` is named in errors.
Result<Database> from_document(const std::string& document, const std::string& where);

// The two halves of from_document(): any SQLite database, then the upgrade to the present version.
Result<Database> open_document(const std::string& document, const std::string& where);
// `upgraded` (may be null): whether the tables were of an older version.
Status bring_up_to_date(Database& db, const std::string& where, bool* upgraded = nullptr);

// A state, or a part of it, that cannot be read.
Status damaged_document(const std::string& where);

}  // namespace radl
