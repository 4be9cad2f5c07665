// Permission to read the content of a sensitive value.
//
// Values reveal a secret only to callers with a Permission. compiler/eval/secret_access.h creates it, and
// tests/lint/layers.py lists the files that may include that header: code that computes with values (and
// marks the results), validates them, or stores them where secrets belong. Code that reports, renders or
// dumps must not include it.
#pragma once

namespace radl::expr {

class Permission {
 private:
  constexpr Permission() = default;
  friend struct SecretAccess;
};

}  // namespace radl::expr
