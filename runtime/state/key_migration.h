// Migration from version 2 to 3: attributes identify a private key by its fingerprint, "key", instead of its
// file, "private_key_path". Internal to runtime/state.
#pragma once

#include "runtime/state/database.h"

namespace radl {

// Drops a key whose public half is neither in the state nor beside the file; the next look at its cloud
// restores it.
Status name_keys_by_fingerprint(Database& db);

}  // namespace radl
