// Regular expressions that users write: `pattern` of an input.
//
// In: RE2's syntax (https://github.com/google/re2/wiki/Syntax), UTF-8. Out: whether a whole text matches, in
// time linear in the text whatever the pattern is.
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
  static constexpr size_t kMostText = size_t{64} << 10;  // bytes that matches() takes

  // Invalid: what is wrong with it, in words; the hint says what the syntax leaves out, where that is it.
  static Result<Pattern> compile(std::string_view written);

  bool matches(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace radl::expr
