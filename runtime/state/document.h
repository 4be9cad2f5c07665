// A state as one document: a SQLite database, compressed (gzip). Internal to runtime/state.
#pragma once

#include <string>

#include "runtime/state/database.h"

namespace radl {

Result<std::string> to_document(Database& db);
// Also takes a database that is not compressed. Brings an older version up, in memory; Invalid: of a newer
// version; Corrupt: no state. `where` is named in errors.
Result<Database> from_document(const std::string& document, const std::string& where);

}  // namespace radl
