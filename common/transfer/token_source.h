// Access tokens for a store, from whatever kind of credential there is.
#pragma once

#include <string>

#include "common/status.h"
#include "common/stop.h"

namespace radl::transfer {

// Thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // A token that is good for some minutes yet: a secret. Auth: what is wrong with the credential.
  virtual Result<std::string> token(const Stop& stop) = 0;
  // The store has refused this one (401): the next call gives another.
  virtual void refused(const std::string& token) = 0;
};

}  // namespace radl::transfer
