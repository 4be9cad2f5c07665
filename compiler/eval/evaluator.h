// Evaluates one expression. Internal to compiler/eval; evaluate.h is the interface.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/eval/evaluate.h"
#include "compiler/eval/functions.h"

namespace radl::expr {

class Evaluator {
 public:
  explicit Evaluator(const Context& context)
      : context_(context), bindings_(context.bindings), depth_(context.depth) {}

  std::optional<std::vector<std::pair<Value, Value>>> elements(const Value& list, Span at);
  Value run(const ast::Expr& expression);

 private:
  Value dispatch(const ast::Expr& expression);
  Value number_value(const ast::Number& number);
  Value text_value(const ast::String& text);
  Value unary_value(const ast::Unary& unary);
  Value choice_value(const ast::If& choice);
  Value binary_value(const ast::Binary& last);
  Value applied(const ast::Binary& binary, const Value& left, bool alternatives = false);
  Value logic_value(const ast::Binary& binary, const Value& left);
  Value alternative(const ast::Binary& binary, const Value& left, bool more);
  Value optional_value(const ast::Expr& written);
  bool left_out(const ast::Reference& reference) const;
  Value call_value(const ast::Call& call);
  Value declared_value(const ast::Call& call, const Namespace::Declared& declared);
  Value unknown_function(const ast::Call& call);

  // evaluate_collections.cc: lists, maps, and iteration with `in`
  Value list_value(const ast::ListValue& list);
  static bool names_nodes(const Value& value);
  Value chosen(Value value, const Value& by, Span at);
  std::optional<std::string> key_of(const ast::Entry& entry);
  bool add_entry(const ast::Entry& entry, Entries& entries);
  Value map_value(const ast::MapValue& map);
  bool elements_of(const Value& list, Span at, std::vector<std::pair<Value, Value>>& out);
  Value made_value(const ast::Comprehension& made);
  std::optional<bool> condition_holds(const ast::Expr* condition, bool& hidden);

  // evaluate_paths.cc: names, members and elements
  Value reference_value(const ast::Reference& reference);
  Value follow(Value value, const List<ast::PathPart>& parts, size_t i, std::string so_far, Span at);
  Value select_value(const ast::Select& select);
  static std::string index_text(const ast::Expr* index);
  bool is_input(const ast::Name& name);
  Value unknown_name(const ast::Name& name, const Namespace* space, DiagCode code, std::string message);
  Value member_value(const Value& value, const ast::Name& name, const std::string& so_far, Span at);
  Value no_entry(const Value& map, std::string_view name, const std::string& so_far, Span at,
                 const std::string& written);
  bool names_system(const Value& value, Span at) const;
  bool takes(const Function& function, const Value& value) const;
  Value node_member(const Value& value, const ast::Name& name, Span at);
  Value element_value(const Value& value, const ast::PathPart& part, const std::string& so_far);
  Value named_element(const Value& space, const ast::PathPart& part, const std::string& so_far);
  Value nodes_of(const Value& systems, Span at);
  Value all_elements(const Value& value, Span at);

  Value report(DiagCode code, Span at, std::string message);
  Value too_deep(Span at);
  Value too_large(const Value& value, Span at);
  Value cannot_stand(const Value& value, Span at);
  bool known(const Value& value, Span at);
  Value wrong_operand(std::string_view op, const Value& value, Span at);

  const Context& context_;
  const Binding* bindings_;
  int depth_;
};

}  // namespace radl::expr
