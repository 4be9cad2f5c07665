// From version 2 to 3: attributes named a private key by its file, "private_key_path"; now they name it by
// its fingerprint, "key". Internal to runtime/state.
#pragma once

#include "runtime/state/database.h"

namespace radl {

// A key whose public half is nowhere in the state nor beside the file is left out: the next look at its cloud
// puts it there.
Status name_keys_by_fingerprint(Database& db);

}  // namespace radl
