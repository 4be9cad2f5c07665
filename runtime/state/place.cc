#include "runtime/state/place.h"

#include <cstdlib>

namespace radl {

namespace {

constexpr std::string_view kScheme = "s3://";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool is_bucket_place(const std::string& directory) { return directory.starts_with(kScheme); }

std::string BucketPlace::key(const std::string& name, const std::string& object) const {
  return (prefix.empty() ? "" : prefix + "/") + name + (object.empty() ? "" : "/" + object);
}

Result<BucketPlace> bucket_place(const std::string& directory) {
  if (!is_bucket_place(directory)) return invalid("\"" + directory + "\" is no place in a bucket");
  std::string rest = directory.substr(kScheme.size());
  while (rest.ends_with('/')) rest.pop_back();
  const size_t slash = rest.find('/');
  BucketPlace place{rest.substr(0, slash), slash == std::string::npos ? "" : rest.substr(slash + 1)};
  bool fine = !place.bucket.empty() && !place.prefix.starts_with('/') &&
              ("/" + place.prefix + "/").find("/../") == std::string::npos &&
              place.prefix.find("//") == std::string::npos && rest.find('?') == std::string::npos;
  if (!fine) {
    return Status(Code::Invalid, "\"" + directory + "\" is no place for states")
        .with_hint("write s3://BUCKET/PREFIX");
  }
  return place;
}

Result<std::string> local_folder(const BucketPlace& place, const std::string& name) {
  const std::string state = environment("XDG_STATE_HOME"), home = environment("HOME");
  if (!state.starts_with('/') && !home.starts_with('/')) {
    return Status(Code::Auth, "there is no home folder for the files of a state in a bucket")
        .with_hint("set HOME or XDG_STATE_HOME");
  }
  const std::string folder = state.starts_with('/') ? state : home + "/.local/state";
  return folder + "/radlc/s3/" + place.bucket + "/" + place.key(name, "");
}

}  // namespace radl
