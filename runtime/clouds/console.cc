#include "runtime/clouds/console.h"

#include "common/text.h"

namespace radl {

std::vector<std::string> host_keys_in(std::string_view console) {
  constexpr std::string_view kBegin = "-----BEGIN SSH HOST KEY KEYS-----",
                             kEnd = "-----END SSH HOST KEY KEYS-----";
  std::vector<std::string> keys;
  const size_t begin = console.rfind(kBegin);
  if (begin == console.npos) return keys;
  const size_t end = console.find(kEnd, begin);
  if (end == console.npos) return keys;
  for (std::string_view line :
       split(console.substr(begin + kBegin.size(), end - begin - kBegin.size()), '\n')) {
    // Text of the kernel or agetty may precede it on the same line.
    for (std::string_view type : {"ssh-ed25519 ", "ecdsa-sha2-", "ssh-rsa "}) {
      if (size_t at = line.find(type); at != line.npos) keys.emplace_back(trim(line.substr(at)));
    }
  }
  return keys;
}

}  // namespace radl
