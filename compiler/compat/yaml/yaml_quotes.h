// Strings in double quotes as PyYAML folds them; libyaml folds them elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radl::ec3 {

// Whether PyYAML puts the string in double quotes: it has characters other than printable ASCII, or spaces
// around its line breaks.
bool needs_double_quotes(std::string_view text);

// The string in its quotes, which begin at `column`; further lines are indented by `indent`.
std::string in_double_quotes(std::string_view text, size_t column, size_t indent);

// Stands for such strings while libyaml writes the rest.
class QuotedStrings {
 public:
  // `marker`: a word that is nowhere in the document.
  explicit QuotedStrings(std::string marker) : marker_(std::move(marker)) {}
  // The word to write in place of the string.
  std::string stand_in(std::string_view text);
  std::string put_back(const std::string& document) const;

 private:
  std::string marker_;
  std::vector<std::string> texts_;
};

}  // namespace radl::ec3
