// The cloud credentials of the service's users, encrypted at rest: AES-256-GCM with FOLDER/credentials.key
// (32 random bytes, mode 0600), one file per user, FOLDER/credentials/USER. Only the user's runs get them,
// and no response shows them.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/auth/auth_file.h"
#include "runtime/base/world.h"

namespace radl::serve {

class Vault {
 public:
  Vault(std::string folder, World& world) : folder_(std::move(folder)), world_(world) {}

  // `text`: lines of an auth file, without file() and command(). Invalid: not an auth file.
  Status put(const std::string& user, const std::string& text);
  // In the format of ImAuthorization::accounts. "": the user has none. Corrupt: encrypted with another key.
  Result<std::string> get(const std::string& user);
  // Only ids and types.
  struct Name {
    std::string id, type;
  };
  Result<std::vector<Name>> names(const std::string& user);
  Status remove(const std::string& user);
  // Reads another file of the service that is encrypted in this way, with `about` (sealed()). "": no such
  // file.
  Result<std::string> read_sealed(const std::string& path, const std::string& about);
  Status write_sealed(const std::string& path, const std::string& text, const std::string& about);

 private:
  std::string path(const std::string& user) const { return folder_ + "/credentials/" + user; }
  // NotFound: there is no key, and `make` is false.
  Result<std::string> key(bool make);

  const std::string folder_;
  World& world_;
  std::mutex mutex_;
};

// Encrypts with AES-256-GCM. The result has 12 bytes of nonce, 16 of tag, and the ciphertext. `about` is
// authenticated too, and must be the same for both functions.
std::string sealed(const std::string& key, const std::string& nonce, const std::string& plain,
                   const std::string& about);
// Corrupt: another key, another `about`, or a modified text.
Result<std::string> unsealed(const std::string& key, const std::string& sealed, const std::string& about);

}  // namespace radl::serve
