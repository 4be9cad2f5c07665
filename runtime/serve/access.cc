#include "runtime/serve/access.h"

#include <openssl/crypto.h>
#include <sys/stat.h>

#include <algorithm>

#include "common/digest.h"
#include "common/files.h"
#include "common/text.h"

namespace radl::serve {

Result<Access> Access::open(const std::string& folder, Random& random) {
  const std::string path = folder + "/token";
  struct stat about {};
  if (::stat(path.c_str(), &about) == 0 && (about.st_mode & 077) != 0)
    return Status(Code::Auth, path + ": other users can read the token")
        .with_hint("remove the file; it is made again");
  auto text = read_file(path, 4096);
  Access access;
  if (text.ok()) {
    access.token_ = trim(*text);
    if (access.token_.size() >= 32) return access;
    return Status(Code::Corrupt, path + ": not a token").with_hint("remove the file; it is made again");
  }
  if (text.status().code() != Code::NotFound) return text.status();
  access.token_ = random_token(random) + random_token(random);
  if (Status saved = write_file_atomic(path, access.token_ + "\n", 0600); !saved.ok()) return saved;
  return access;
}

std::optional<std::string> Access::refused(const httpd::RequestHead& head) const {
  const std::string host(head.header("host").value_or(""));
  if (std::ranges::find(hosts_, host) == hosts_.end()) return "Host is not an address of this service";
  const auto site = head.header("sec-fetch-site");
  if (site && *site != "same-origin" && *site != "none") return "requests of other sites are refused";
  const auto origin = head.header("origin");
  if (origin && *origin != "http://" + host && *origin != "https://" + host)
    return "requests of other origins are refused";
  return {};
}

bool Access::is_token(const std::string& secret) const {
  const std::string a = sha256_hex(secret), b = sha256_hex(token_);
  return CRYPTO_memcmp(a.data(), b.data(), b.size()) == 0;
}

}  // namespace radl::serve
