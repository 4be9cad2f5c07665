// The cloud credentials of the service's users, encrypted at rest: AES-256-GCM with FOLDER/credentials.key
// (32 random bytes, mode 0600), one file for each user, FOLDER/credentials/USER. They are given to the user's
// runs and to nobody else, and no answer shows them.
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

  // `text`: the lines of an auth file, without file() and command(). Invalid: it is not one.
  Status put(const std::string& user, const std::string& text);
  // In the form that ImAuthorization::accounts has. "": the user has none. Corrupt: another key wrote it.
  Result<std::string> get(const std::string& user);
  // Their ids and types, and nothing else.
  struct Name {
    std::string id, type;
  };
  Result<std::vector<Name>> names(const std::string& user);
  Status remove(const std::string& user);
  // Another file of the service that is encrypted in the same way, with `about` (sealed()). "": there is
  // none.
  Result<std::string> read_sealed(const std::string& path, const std::string& about);
  Status write_sealed(const std::string& path, const std::string& text, const std::string& about);

 private:
  std::string path(const std::string& user) const { return folder_ + "/credentials/" + user; }
  // NotFound: there is none yet, and none is to be made.
  Result<std::string> key(bool make);

  const std::string folder_;
  World& world_;
  std::mutex mutex_;
};

// AES-256-GCM: 12 bytes of nonce, 16 of tag, the ciphertext. `about` is authenticated with it, and must be
// the same for both.
std::string sealed(const std::string& key, const std::string& nonce, const std::string& plain,
                   const std::string& about);
// Corrupt: another key or another `about` was used, or it was changed.
Result<std::string> unsealed(const std::string& key, const std::string& sealed, const std::string& about);

}  // namespace radl::serve
