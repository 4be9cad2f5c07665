// Creates permissions. A file that includes this header is responsible for its use of secrets: see
// permission.h.
#pragma once

#include "compiler/eval/permission.h"

namespace radl::expr {

struct SecretAccess {
  static constexpr Permission permission() { return {}; }
};
inline constexpr Permission kPermitted = SecretAccess::permission();

}  // namespace radl::expr
