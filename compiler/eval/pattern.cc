#include "compiler/eval/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <string>

namespace radl::expr {
namespace {

constexpr size_t kMostPattern = 4096;  // bytes

// What other engines have and RE2 leaves out, because it cannot be matched in linear time.
std::string left_out(const re2::RE2& refused) {
  const std::string& part = refused.error_arg();
  bool escape = refused.error_code() == re2::RE2::ErrorBadEscape;
  if (escape && part.size() == 2 && part[1] >= '1' && part[1] <= '9')
    return "references to groups (\\1) are not supported";
  if (part.starts_with("(?=") || part.starts_with("(?!") || part.starts_with("(?<"))
    return "lookahead and lookbehind are not supported: (?=, (?!, (?<=, (?<!";
  if (escape && part.starts_with("\\u")) return "write a character itself, or its number: \\x{41}";
  if (refused.error_code() == re2::RE2::ErrorRepeatSize) return "at most 1000 repetitions can be asked for";
  return {};
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view written) {
  if (written.size() > kMostPattern)
    return invalid(fmt::format("the pattern is longer than {} bytes", kMostPattern));
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_shared<re2::RE2>(re2::StringPiece(written.data(), written.size()), options);
  if (compiled->ok()) return Pattern(std::move(compiled));
  return invalid(fmt::format("the pattern is not a regular expression: {}", compiled->error()))
      .with_hint(left_out(*compiled));
}

bool Pattern::matches(std::string_view text) const {
  return text.size() <= kMostText &&
         re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace radl::expr
