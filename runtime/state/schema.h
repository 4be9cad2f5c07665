// The tables and their versions. Internal to runtime/state; docs/state.md describes them.
#pragma once

#include <span>

#include "runtime/state/database.h"

namespace radl {

inline constexpr int kStateVersion = 6;
inline constexpr long long kApplicationId = 0x5241444c;  // "RADL"

// Makes version `from` into `from` + 1, in one transaction: the statements, then the function if there is
// one.
struct Migration {
  int from;
  const char* sql;
  Status (*change)(Database& db) = nullptr;
};

// What the file is: 0 an empty one, else its version. Corrupt: some other program's database.
// Invalid: a newer version than `newest`; a state is not a cache, so never start over.
Result<int> state_version(Database& db, int newest = kStateVersion);
// Writes the tables of the present version into an empty file.
Status create_schema(Database& db);
// Brings an older version up, step by step; each step is all or nothing.
Status migrate(Database& db, int from, int to, std::span<const Migration> steps);
std::span<const Migration> migrations();

}  // namespace radl
