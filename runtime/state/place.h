// Where states are: a folder, or a folder of an object store (common/store_address.h).
#pragma once

#include <string>

#include "common/environment.h"
#include "common/status.h"

namespace radl {

inline constexpr const char* kDocumentName = "state.db.gz";

// Invalid: no name of an infrastructure's state: it is one folder, or one part of a key.
Status check_state_name(const std::string& name);

bool is_bucket_place(const std::string& directory);

struct BucketPlace {
  std::string address;  // of the bucket: "gs://BUCKET"
  std::string folder;   // "gs/BUCKET"
  std::string prefix;   // without slashes at its ends; may be empty
  // Keys of the objects of one infrastructure.
  std::string key(const std::string& name, const std::string& object) const;
};
// Invalid: no such place. Unsupported: of a store in which two writers cannot be distinguished.
Result<BucketPlace> bucket_place(const std::string& directory);

// The files on this computer of a state in a bucket: work/, logs/, and what could not be written.
// $XDG_STATE_HOME/radlc/gs/BUCKET/PREFIX/NAME, else below ~/.local/state. Auth: there is no home.
Result<std::string> local_folder(const BucketPlace& place, const std::string& name,
                                 const Environment& environment);

}  // namespace radl
