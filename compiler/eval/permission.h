// Leave to see what a sensitive value holds.
//
// Values give the content of a secret only to whoever has a Permission. compiler/eval/secret_access.h makes
// it, and tests/lint/layers.py lists the files that may include that: those that compute with values (what
// they make is marked again), judge them, or put them where secrets belong. What reports, renders or dumps is
// none of them.
#pragma once

namespace radl::expr {

class Permission {
 private:
  constexpr Permission() = default;
  friend struct SecretAccess;
};

}  // namespace radl::expr
