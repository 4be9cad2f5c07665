// Locations of states: a folder, or a folder in an object store (common/store_address.h).
#pragma once

#include <string>

#include "common/environment.h"
#include "common/status.h"

namespace radl {

inline constexpr const char* kDocumentName = "state.db.gz";

// Invalid: unsuitable as the name of a state: it must be a single folder name or key part.
Status check_state_name(const std::string& name);

bool is_bucket_place(const std::string& directory);

struct BucketPlace {
  std::string address;  // of the bucket: "gs://BUCKET"
  std::string folder;   // "gs/BUCKET"
  std::string prefix;   // without leading and trailing slashes; may be empty
  // Keys of an infrastructure's objects.
  std::string key(const std::string& name, const std::string& object) const;
};
// Invalid: malformed. Unsupported: a store without conditional writes.
Result<BucketPlace> bucket_place(const std::string& directory);

// The local files of a state in a bucket: work/, logs/, and failed writes.
// $XDG_STATE_HOME/radlc/gs/BUCKET/PREFIX/NAME, else below ~/.local/state. Auth: no home.
Result<std::string> local_folder(const BucketPlace& place, const std::string& name,
                                 const Environment& environment);

}  // namespace radl
