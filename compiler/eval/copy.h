// Copies of parts of a syntax tree in which the variables of `each` are replaced by their values.
#pragma once

#include <string_view>

#include "compiler/eval/value.h"
#include "compiler/syntax/ast.h"

namespace radl {

// Variables and their values, innermost first. Values must outlive the copies.
using Variables = expr::Binding;

class Copier {
 public:
  explicit Copier(Arena& arena) : arena_(arena) {}

  ast::Expr* copy(const ast::Expr* value, const Variables* variables);
  ast::Features copy(const ast::Features& features, const Variables* variables);
  ast::Feature* copy(const ast::Feature& feature, const Variables* variables);
  List<ast::Resource*> copy(const List<ast::Resource*>& resources, const Variables* variables);
  ast::Item* copy(const ast::Item& item, const Variables* variables);
  ast::Block* copy(const ast::Block& block, const Variables* variables);
  // A word that is a variable becomes the text, or the system's name, that it holds.
  ast::Name copy(const ast::Name& name, const Variables* variables);

 private:
  template <class T>
  T* same(const T& node) {
    return arena_.make<T>(node);
  }
  ast::Bound* bound(const ast::Name& name, const expr::Value* value);
  List<ast::PathPart> parts(const List<ast::PathPart>& parts, size_t from, const Variables* variables);
  ast::Expr* reference(const ast::Reference& reference, const Variables* variables);
  ast::Expr* comprehension(const ast::Comprehension& made, const Variables* variables);
  ast::Entry entry(const ast::Entry& entry, const Variables* variables);

  Arena& arena_;
};

// The innermost of that name; null if there is none.
const Variables* find_variable(std::string_view name, const Variables* variables);

}  // namespace radl
