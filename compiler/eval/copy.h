// Copies parts of a syntax tree with the variables of `each` replaced by their values.
#pragma once

#include <string_view>

#include "compiler/eval/value.h"
#include "compiler/syntax/ast.h"

namespace radl {

// Variables and their values, innermost first. The values must outlive the copies.
using Variables = expr::Binding;

class Copier {
 public:
  explicit Copier(Arena& arena) : arena_(arena) {}

  ast::Expr* copy(const ast::Expr* value, const Variables* variables);
  ast::Features copy(const ast::Features& features, const Variables* variables);
  ast::Feature* copy(const ast::Feature& feature, const Variables* variables);
  ast::Resource* copy(const ast::Resource* resource, const Variables* variables);
  ast::Item* copy(const ast::Item& item, const Variables* variables);
  ast::Block* copy(const ast::Block& block, const Variables* variables);
  // Replaces a word that is a variable by the text or system name that the variable holds.
  ast::Name copy(const ast::Name& name, const Variables* variables);

 private:
  template <class T>
  T* same(const T& node) {
    return arena_.make<T>(node);
  }
  // Copies the node; the given members are copied too.
  template <class T, class... Members>
  T* with(const T& node, const Variables* variables, Members... members);
  template <class T>
  List<T> copy(const List<T>& list, const Variables* variables);
  ast::StringPart copy(const ast::StringPart& part, const Variables* variables);
  ast::PathPart copy(const ast::PathPart& part, const Variables* variables);
  ast::Entry copy(const ast::Entry& entry, const Variables* variables);
  ast::Each copy(const ast::Each& each, const Variables* variables);
  ast::Bound* bound(const ast::Name& name, const expr::Value* value);
  ast::Expr* reference(const ast::Reference& reference, const Variables* variables);
  ast::Expr* comprehension(const ast::Comprehension& made, const Variables* variables);

  Arena& arena_;
};

// The innermost variable of that name; null if there is none.
const Variables* find_variable(std::string_view name, const Variables* variables);

}  // namespace radl
