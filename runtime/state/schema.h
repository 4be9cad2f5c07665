// The tables and their versions. Internal to runtime/state; documented in docs/state.md.
#pragma once

#include <span>

#include "runtime/state/database.h"

namespace radl {

inline constexpr int kStateVersion = 6;
inline constexpr long long kApplicationId = 0x5241444c;  // "RADL"

// Migrates version `from` to `from` + 1 in one transaction: the statements, then the function if
// any.
struct Migration {
  int from;
  const char* sql;
  Status (*change)(Database& db) = nullptr;
};

// The file's version; 0: empty. Corrupt: another program's database. Invalid: newer than `newest`. A state is
// not a cache, so it is never recreated.
Result<int> state_version(Database& db, int newest = kStateVersion);
// Creates the current tables in an empty file.
Status create_schema(Database& db);
// Upgrades an older version step by step; each step is atomic.
Status migrate(Database& db, int from, int to, std::span<const Migration> steps);
std::span<const Migration> migrations();

}  // namespace radl
