#include "compiler/tools/fmt/format.h"

#include <memory>

#include "compiler/syntax/parser.h"

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

}  // namespace

Result<std::string> format(const SourceFile& source, Diagnostics& diagnostics, const Options& options) {
  auto tree = parse(source, diagnostics);
  if (tree->syntax_errors) return invalid(source.path() + " has syntax errors and was left alone");
  std::string text = layout(*tree, options);
  // Never write a text that says something else, or that the next run would change again.
  Diagnostics unheard;
  SourceFile again(source.id(), source.path(), text);
  auto tree_again = parse(again, unheard);
  if (!same_meaning(*tree, *tree_again) || layout(*tree_again, options) != text) {
    return internal_error("formatting " + source.path() + " would change it wrongly; it was left alone");
  }
  return source.crlf() ? with_crlf(text) : text;
}

}  // namespace radl::formatter
