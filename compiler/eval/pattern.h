// Regular expressions written by users: `pattern` of an input.
//
// In: RE2's syntax (https://github.com/google/re2/wiki/Syntax), UTF-8. Out: whether the whole text matches.
// Takes time linear in the text for every pattern.
#pragma once

#include <memory>
#include <string_view>

#include "common/status.h"

namespace re2 {
class RE2;
}

namespace radl::expr {

class Pattern {
 public:
  static constexpr size_t kMostText = size_t{64} << 10;  // longest text for matches(), in bytes

  // Invalid: explains the error; the hint names unsupported syntax, if that is the cause.
  static Result<Pattern> compile(std::string_view written);

  bool matches(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace radl::expr
