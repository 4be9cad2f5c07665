#include "tools/fmt/format.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace radl::formatter {
namespace {

std::string with_crlf(const std::string& text) {
  std::string out;
  out.reserve(text.size() + text.size() / 32);
  for (char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

// A byte order mark behind blank lines (of files put together) would come to stand at the start, where it is
// the file's own and is dropped when it is read again.
void drop_leading_marks(std::string& text) {
  while (text.starts_with("\xEF\xBB\xBF"))
    text.erase(0, std::min(text.size(), text.find_first_not_of('\n', 3)));
}

// Parses, lays out, and proves that nothing was lost.
Result<std::string> format_text(const SourceFile& source, Diagnostics& diagnostics, const Options& options) {
  auto tree = parse(source, diagnostics, {.dialect = options.dialect});
  if (tree->syntax_errors) return invalid(source.path() + " has syntax errors and was left unchanged");
  std::string text = layout(*tree, options);
  drop_leading_marks(text);
  // Never write a string that says something else, or that the next run would change again.
  Diagnostics unheard;
  SourceFile again(source.id(), source.path(), text);
  auto tree_again = parse(again, unheard, {.dialect = options.dialect});
  if (!same_meaning(*tree, *tree_again) || layout(*tree_again, options) != text) {
    if (source.invalid_utf8() != std::string::npos || source.text().find('\0') != std::string_view::npos)
      return invalid(source.path() + " is not a text in UTF-8 and was left alone");
    return internal_error("formatting " + source.path() + " would change it wrongly; it was left alone");
  }
  return text;
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
         c == '-' || (c & 0x80);
}

// @input.NAME@ outside of strings stands for a value that comes before parsing. To lay such a file out, each
// becomes a number of the same width, and is put back afterwards.
class StandIns {
 public:
  // False when the file has none, or one that is glued to a word, whose meaning spaces would change.
  bool put(const SourceFile& source) {
    text_ = source.text();
    for (const Token& token : tokenize(source)) {
      bool kept = token.cls == TokenClass::String || token.cls == TokenClass::Comment ||
                  token.cls == TokenClass::Recipe;
      if (kept || token.cls != TokenClass::Junk) continue;
      size_t at = token.span.begin;
      if (at < done_ || text_.compare(at, kMark.size(), kMark) != 0) continue;
      size_t end = text_.find('@', at + kMark.size());
      if (end == std::string::npos || text_.find('\n', at) < end) return false;
      ++end;
      if ((at > 0 && is_word(text_[at - 1])) || (end < text_.size() && is_word(text_[end]))) return false;
      std::string number = std::to_string(originals_.size());
      number = "9" + std::string(end - at - 1 - std::min(number.size(), end - at - 1), '0') + number;
      if (number.size() != end - at || text_.find(number) != std::string::npos) return false;
      originals_.emplace_back(number, text_.substr(at, end - at));
      text_.replace(at, number.size(), number);
      done_ = end;
    }
    return !originals_.empty();
  }
  const std::string& text() const { return text_; }

  std::string take_back(std::string formatted) const {
    for (const auto& [number, original] : originals_) {
      size_t at = formatted.find(number);
      if (at != std::string::npos) formatted.replace(at, number.size(), original);
    }
    return formatted;
  }

 private:
  static constexpr std::string_view kMark = "@input.";
  std::string text_;
  size_t done_ = 0;
  std::vector<std::pair<std::string, std::string>> originals_;
};

}  // namespace

Result<std::string> format(const SourceFile& source, Diagnostics& diagnostics, const Options& options) {
  Diagnostics found;
  auto formatted = format_text(source, found, options);
  StandIns inputs;
  if (!formatted.ok() && formatted.status().code() == Code::Invalid && inputs.put(source)) {
    Diagnostics unheard;
    auto filled = format_text(SourceFile(source.id(), source.path(), inputs.text()), unheard, options);
    if (filled.ok()) formatted = inputs.take_back(std::move(*filled));
  }
  if (!formatted.ok()) {
    diagnostics.append(found);
    return formatted;
  }
  return source.crlf() ? with_crlf(*formatted) : std::move(*formatted);
}

}  // namespace radl::formatter
