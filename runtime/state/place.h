// Where states are: a folder, or a place in a bucket ("s3://BUCKET/PREFIX").
#pragma once

#include <string>

#include "common/status.h"

namespace radl {

inline constexpr const char* kDocumentName = "state.db.gz";

bool is_bucket_place(const std::string& directory);

struct BucketPlace {
  std::string bucket;
  std::string prefix;  // without slashes at its ends; may be empty
  // Keys of the objects of one infrastructure.
  std::string key(const std::string& name, const std::string& object) const;
};
// Invalid: not s3://BUCKET or s3://BUCKET/PREFIX.
Result<BucketPlace> bucket_place(const std::string& directory);

// The files on this computer of a state in a bucket: work/, logs/, and what could not be written.
// $XDG_STATE_HOME/radlc/s3/BUCKET/PREFIX/NAME, else below ~/.local/state. Auth: there is no home.
Result<std::string> local_folder(const BucketPlace& place, const std::string& name);

}  // namespace radl
