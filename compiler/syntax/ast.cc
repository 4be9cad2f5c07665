#include "compiler/syntax/ast.h"

namespace radl::ast {

std::string_view op_text(Op op) {
  static constexpr std::string_view texts[] = {"", "=", "<", ">", "<=", ">=", "contains"};
  return texts[static_cast<size_t>(op)];
}

std::string_view op_text(BinaryOp op) {
  static constexpr std::string_view texts[] = {
      "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or"};
  return texts[static_cast<size_t>(op)];
}

std::string_view kind_name(Kind kind) {
  static constexpr std::string_view names[] = {
      "version",       "description", "network",     "system",  "ansible",       "general",  "input",
      "output",        "use",         "configure",   "deploy",  "contextualize", "let",      "assert",
      "moved",         "each",        "error block", "feature", "recipe",        "resource", "option",
      "item",          "number",      "string",      "random",  "boolean",       "list",     "reference",
      "reference",     "unary",       "binary",      "if",      "call",          "map",      "select",
      "comprehension", "bound",       "group",       "secret",  "error value"};
  static_assert(std::size(names) == static_cast<size_t>(Kind::ErrorValue) + 1);
  return names[static_cast<size_t>(kind)];
}

const Expr& without_quotes(const Expr& written) {
  auto* text = as<String>(&written);
  return text != nullptr && text->parts.size() == 1 && text->parts[0].value ? *text->parts[0].value : written;
}

}  // namespace radl::ast
