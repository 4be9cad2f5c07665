// Access tokens for a store, from any kind of credential.
#pragma once

#include <string>

#include "common/status.h"
#include "common/stop.h"

namespace radl::transfer {

// Thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // Returns a token (a secret) that stays valid for some minutes. Auth: the credential is invalid; the
  // message says why.
  virtual Result<std::string> token(const Stop& stop) = 0;
  // The store rejected this token (401): the next call returns another.
  virtual void refused(const std::string& token) = 0;
};

}  // namespace radl::transfer
