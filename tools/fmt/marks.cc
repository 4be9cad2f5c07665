#include "tools/fmt/marks.h"

#include <algorithm>

#include "compiler/syntax/walk.h"

namespace radl::formatter {
namespace {

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

int Marks::index_at(uint32_t offset) const {
  auto behind = std::upper_bound(begins_.begin(), begins_.end(), offset);
  if (behind == begins_.begin()) return -1;
  auto index = static_cast<size_t>(behind - begins_.begin() - 1);
  return offset < begins_[index] + pieces_[index].text.size() ? static_cast<int>(index) : -1;
}

int Marks::first_from(uint32_t offset) const {
  return static_cast<int>(std::lower_bound(begins_.begin(), begins_.end(), offset) - begins_.begin());
}

Piece* Marks::starting_at(uint32_t offset) {
  int index = index_at(offset);
  return index >= 0 && begins_[static_cast<size_t>(index)] == offset ? &at(index) : nullptr;
}

void Marks::entry(Span span) {
  if (Piece* piece = starting_at(span.begin)) piece->entry = true;
}

Piece* Marks::group(Span span) {
  int open = index_at(span.begin), close = span.end > 0 ? index_at(span.end - 1) : -1;
  if (open < 0 || close <= open) return nullptr;
  at(open).closes_at = close;
  return &at(open);
}

void Marks::value(const ast::Expr& expr) {
  join(expr);
  if (auto* list = ast::as<ast::ListValue>(&expr)) {
    group(list->span);
    for (const ast::Expr* item : list->items) entry(item->span);
  }
  if (expr.kind == ast::Kind::String) return;  // a string with ${ } is one piece
  each_part(expr, [this](const ast::Expr& part) { value(part); });
}

void Marks::join(const ast::Expr& expr) {
  if (auto* number = ast::as<ast::Number>(&expr)) {
    // `1 .5` is a number and a unit; glued it would be another number.
    Piece* unit = number->unit ? starting_at(number->unit.span.begin) : nullptr;
    if (unit && is_word_start(unit->text[0])) unit->glued = true;
  } else if (auto* unary = ast::as<ast::Unary>(&expr)) {
    int op = index_at(unary->span.begin);
    if (unary->op == ast::UnaryOp::Minus && op >= 0 && at(op).text == "-") glue_behind(op);
  } else if (auto* call = ast::as<ast::Call>(&expr)) {
    int name = call->function.span.known() ? index_at(call->function.span.begin) : -1;
    if (name >= 0) glue_behind(name);
  } else if (auto* reference = ast::as<ast::Reference>(&expr)) {
    path(reference->span, reference->parts);
  } else if (auto* select = ast::as<ast::Select>(&expr)) {
    path(select->span, select->parts);
  }
}

void Marks::path(Span span, const List<ast::PathPart>& parts) {
  int before = index_at(span.begin);
  for (const ast::PathPart& part : parts) {
    // `input.x` is one piece; `[0]` and a `.ip` behind it are others. `system 'x'` is written as two words.
    int index = index_at(part.span.begin);
    if (index >= 0 && index != before && (at(index).text[0] == '[' || at(index).text[0] == '.'))
      at(index).glued = true;
    before = index;
  }
}

void Marks::glue_behind(int index) {
  auto next = static_cast<size_t>(index) + 1;
  if (next < pieces_.size() && !pieces_[next].comment()) pieces_[next].glued = true;
}

}  // namespace radl::formatter
