// Any bytes as AWS's shared files, as what its credential providers answer, and as errors of its Query APIs.
#include <cstdint>

#include "common/aws/profiles.h"
#include "common/aws/providers.h"
#include "common/aws/query.h"

using namespace radl::aws;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (FileKind kind : {FileKind::Config, FileKind::Credentials}) {
    auto sections = parse_profiles(text, "f", kind);
    if (!sections.ok() && !sections.status().message().starts_with("f:")) __builtin_trap();
  }
  auto keys = credentials_of_json(text, "fuzz");
  if (keys.ok() && keys->access_key.empty()) __builtin_trap();
  (void)parse_time(text);
  (void)split_command(text);
  const ErrorText error = parse_error(text);
  (void)code_of_error(error.code, 400);
  return 0;
}
