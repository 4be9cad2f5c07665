// Where permissions come from. Who includes this file answers for what it does with secrets: see
// permission.h.
#pragma once

#include "compiler/eval/permission.h"

namespace radl::expr {

struct SecretAccess {
  static constexpr Permission permission() { return {}; }
};
inline constexpr Permission kPermitted = SecretAccess::permission();

}  // namespace radl::expr
