// Builds the nodes that exist only in `radl 2`, for the actions of grammar/radl2.yy.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/syntax/builder.h"

namespace radl {

class Radl2Builder : public Builder {
 public:
  using Builder::Builder;

  // ids: the word after a block's keyword, for the next block
  void plain_id() { id_ = nullptr; }
  void computed_id(ast::Expr* text) { id_ = text; }

  void whole_expression(ast::Expr* value) { expression_ = value; }
  ast::Expr* expression() const { return expression_; }

  // blocks
  void version(Place place, ast::Expr* number);
  void features_block(ast::Kind kind, Place place, Place keyword, Place name, ast::Features* body);
  void use_block(Place place, Place keyword, ast::Expr* module, Place name, ast::Features* body);
  void configure_block(Place place, Place keyword, Place name, ast::Recipe* recipe,
                       List<ast::Resource*>* resources, Place body);
  void deploy_block(Place place, Place keyword, Place name, ast::Expr* count, ast::Expr* cloud,
                    ast::Expr* when);
  // A cloud or a zone: a single word stands for itself; any other value without quotes is an error.
  ast::Expr* place_value(ast::Expr* value);
  // `parameters`: of a function; null for a value.
  void let(Place place, Place keyword, Place name, List<ast::Name>* parameters, ast::Expr* value);
  ast::Feature* computed(Place place, Place name, ast::Expr* named, ast::Op op, Place op_place,
                         ast::Expr* value);
  ast::Feature* each_feature(Place place, ast::Each* each, ast::Features* inner, Place body);
  ast::Feature* let_feature(Place place, Place name, ast::Expr* value);
  ast::Features* features_of_body(Place place, ast::Features* features);
  void moved(Place place, Place keyword, ast::Expr* from, ast::Expr* to);
  void assertion(Place place, Place keyword, ast::Expr* condition, ast::Expr* message);
  ast::Each* each(Place place, Place first, Place second, ast::Expr* list);
  void begin_each();
  void each_block(Place place, Place head, ast::Each* each, Place body);

  // values
  ast::Expr* unary(Place place, ast::UnaryOp op, ast::Expr* operand);
  ast::Expr* binary(Place place, ast::BinaryOp op, Place op_span, ast::Expr* left, ast::Expr* right);
  ast::Expr* if_else(Place place, ast::Expr* condition, ast::Expr* then_value, ast::Expr* else_value);
  ast::Expr* reference(Place place);
  ast::String* text_parts();
  ast::String* add_part(ast::String* text, ast::StringPart* part);
  ast::StringPart* interpolation(Place place, ast::Expr* value);
  ast::Expr* member_of(Place place, ast::Expr* base, Place name);
  ast::Expr* element_of(Place place, ast::Expr* base, ast::Expr* index, Place brackets);
  ast::Call* argument(ast::Call* call, ast::Expr* value);
  ast::Call* named_argument(ast::Call* call, Place place, Place name, ast::Expr* value);
  ast::Expr* call_value(Place place, Place function, ast::Call* call);
  List<ast::Each*>* loop(List<ast::Each*>* loops, ast::Each* each);
  // `[x for a in list for x in a if condition]`: concatenates the lists of the inner loops.
  ast::Expr* list_made(Place place, ast::Expr* value, List<ast::Each*>* loops, ast::Expr* condition);
  ast::Entry* entry(Place place, Place name, ast::Expr* key, ast::Expr* value);
  ast::MapValue* map_entry(ast::MapValue* map, ast::Entry* entry);
  ast::Expr* map_value(Place place, ast::MapValue* map);
  ast::Expr* map_made(Place place, ast::Entry* entry, ast::Each* each, ast::Expr* condition);
  // A string with ${ } or a text block, whose indentation is removed.
  ast::Expr* text_value(Place place, Place begin, ast::String* text);
  ast::Expr* template_value(Place place, ast::String* text);

  // parts of blocks
  ast::Resource* resource_of(Place place, Place type, ast::Expr* name, ast::Features* body);
  ast::Resource* each_resource(Place place, ast::Each* each, List<ast::Resource*>* inner);
  ast::Resource* let_resource(Place place, Place name, ast::Expr* value);
  List<ast::Resource*>* add_resource(List<ast::Resource*>* list, ast::Resource* resource);
  List<ast::Name>* name_list(List<ast::Name>* list, Place name);
  void take_name(Place name, bool first);
  List<ast::Name>* taken_names() { return taken_; }
  // A computed configure name, for the next targets().
  List<ast::Name>* computed_recipe(ast::Expr* name);
  // Returns the first of the items that `system [a, b] configure [c, d]` means; the others are its `inner`.
  ast::Item* targets(Place place, List<ast::Name>* systems, ast::Expr* computed, List<ast::Name>* configures);
  ast::Item* after_name(ast::Item* names, Place name);
  ast::Item* after_computed(ast::Item* names, Place place, ast::Expr* name);
  ast::Item* item_after_all(ast::Item* item, Place place, ast::Item* names);
  ast::Item* item_step_of(ast::Item* item, Place place, Place word, ast::Expr* step);
  ast::Item* item_when(ast::Item* item, Place place, Place word, ast::Expr* condition);
  ast::Item* each_item(Place place, ast::Each* each, ast::Contextualize* inner);
  ast::Item* let_item(Place place, Place name, ast::Expr* value);
  void contextualize_items(Place place, Place keyword, ast::Number* time, ast::Contextualize* items,
                           Place body);
  ast::Contextualize* add_item(ast::Contextualize* made, ast::Item* item);

 private:
  ast::Block* last_block() { return tree_.blocks.back(); }
  void name_last();
  void readable(const ast::Name& name);
  ast::Each* let_each(Place place, Place name, ast::Expr* value);
  template <class Entry>
  List<Entry*> within_lets(const List<Entry*>& entries);
  template <class Entry>
  void refuse_lets(const List<Entry*>& entries);
  void place_features(const ast::Features& features);
  ast::Comprehension* comprehension(Place place, ast::Expr* value, const ast::Each& each,
                                    ast::Expr* condition);
  ast::Expr* member(Place place, ast::Expr* base, Place name);
  ast::Expr* index(Place place, ast::Expr* base, ast::Expr* index, Place brackets);
  ast::Expr* finish_text(Place place, ast::String* text);
  void split_path(List<ast::PathPart>& parts, ast::Name name);

  ast::Expr* expression_ = nullptr;
  std::optional<std::string_view> plain_name(const ast::Expr* written);

  ast::Expr* id_ = nullptr;
  ast::Expr* recipe_ = nullptr;  // of the current item: the configure, if only expansion names it
  List<ast::Name>* taken_ = nullptr;
  struct Outside {
    List<ast::Block*> blocks;  // of the tree, set aside while the blocks of an `each` are read
    Outside* before;
  };
  Outside* outside_ = nullptr;
};

}  // namespace radl
