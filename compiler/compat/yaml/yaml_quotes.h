// Writes double-quoted strings with PyYAML's line folding, which differs from libyaml's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radl::ec3 {

// True if PyYAML would double-quote the string: it has characters other than printable ASCII, or spaces
// around line breaks.
bool needs_double_quotes(std::string_view text);

// The quoted string, starting at `column`. Further lines are indented by `indent`.
std::string in_double_quotes(std::string_view text, size_t column, size_t indent);

// Manages placeholders for such strings while libyaml writes the rest.
class QuotedStrings {
 public:
  // `marker`: a word that does not occur in the document.
  explicit QuotedStrings(std::string marker) : marker_(std::move(marker)) {}
  // Returns the placeholder to write instead of the string.
  std::string stand_in(std::string_view text);
  std::string put_back(const std::string& document) const;

 private:
  std::string marker_;
  std::vector<std::string> texts_;
};

}  // namespace radl::ec3
