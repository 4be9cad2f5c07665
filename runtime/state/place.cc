#include "runtime/state/place.h"

#include "common/store_address.h"

namespace radl {

Status check_state_name(const std::string& name) {
  const bool fine = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
                    name.find('\0') == std::string::npos && name.size() <= 200;
  return fine ? Status() : invalid("'" + name + "' cannot be the name of an infrastructure's state");
}

bool is_bucket_place(const std::string& directory) { return is_store_address(directory); }

std::string BucketPlace::key(const std::string& name, const std::string& object) const {
  return (prefix.empty() ? "" : prefix + "/") + name + (object.empty() ? "" : "/" + object);
}

Result<BucketPlace> bucket_place(const std::string& directory) {
  auto address = parse_store_folder(directory);
  if (!address.ok())
    return Status(Code::Invalid, "\"" + directory.substr(0, directory.find('?')) +
                                     "\" is not a place for states: " + address.status().message())
        .with_hint("write s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX");
  if (!writes_on_condition(*address)) {
    return Status(Code::Unsupported,
                  "\"" + directory +
                      "\": Swift cannot hold a state, because two runs that write at the same "
                      "time could overwrite each other")
        .with_hint("write s3://BUCKET/PREFIX (Ceph supports it, too), gs://, az://, or a folder");
  }
  return BucketPlace{address->root(), address->folder(), address->key};
}

Result<std::string> local_folder(const BucketPlace& place, const std::string& name,
                                 const Environment& environment) {
  const std::string state = environment("XDG_STATE_HOME"), home = environment("HOME");
  if (!state.starts_with('/') && !home.starts_with('/')) {
    return Status(Code::Auth, "no home folder for the local files of a state in a bucket")
        .with_hint("set HOME or XDG_STATE_HOME");
  }
  const std::string folder = state.starts_with('/') ? state : home + "/.local/state";
  return folder + "/radlc/" + place.folder + "/" + place.key(name, "");
}

}  // namespace radl
