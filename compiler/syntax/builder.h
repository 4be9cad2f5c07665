// Makes tree nodes for the grammar's actions, and refuses what the kind of file at hand may not use.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/place.h"

namespace radl {

// A word that is the unit of a number: GB, Mi, s, min ...
bool is_unit(std::string_view word);

class Builder {
 public:
  Builder(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics)
      : source_(source), tree_(tree), diagnostics_(diagnostics) {}

  // blocks: appended to the tree
  void version(Place place, ast::Expr* number);
  void feature_block(ast::Kind kind, Place place, Place keyword, Place name, ast::Features* body);
  void general(Place place, Place kind, Place name, ast::Features* body);
  void use(Place place, Place keyword, ast::Expr* module, Place name, ast::Features* body);
  void configure(Place place, Place keyword, Place name, ast::Recipe* recipe, List<ast::Resource*>* resources,
                 Place body);
  void deploy(Place place, Place keyword, Place name, ast::Expr* count, Place cloud);
  void contextualize(Place place, Place keyword, ast::Number* time, ast::Contextualize* made, Place body);
  void error_block(Place place);
  void whole_expression(ast::Expr* value) { expression_ = value; }
  ast::Expr* expression() const { return expression_; }

  // words
  ast::Name word(Place place) const { return {source_.text(at(place)), at(place)}; }
  void ec3_word(Place place);      // a keyword that EC3 lets be a name
  void feature_word(Place place);  // the same as a feature's name; radl 2 takes it too
  void reserved(Place place);

  // features
  ast::Features* list(ast::Features* list, ast::Feature* feature);
  ast::Features* joined(ast::Features* list, const ast::Features* more);
  ast::Features* features(Place place, ast::Features* list);
  ast::Feature* simple(Place place, Place name, ast::Op op, Place op_span, ast::Expr* value);
  ast::Feature* contains_value(Place place, Place name, Place op_span, ast::Expr* value);
  ast::Feature* group(Place place, Place name, Place op_span, ast::Features* group);
  ast::Feature* soft(Place place, ast::Expr* weight, ast::Features* group);
  ast::Feature* error_feature(Place place);

  // values
  ast::Expr* with_unit(Place place, ast::Number* number, Place unit);
  ast::Expr* ec3_reference(Place place, Place kind, Place target);
  ast::Expr* unary(Place place, ast::UnaryOp op, ast::Expr* operand);
  ast::Expr* binary(Place place, ast::BinaryOp op, Place op_span, ast::Expr* left, ast::Expr* right);
  ast::Expr* if_else(Place place, ast::Expr* condition, ast::Expr* then_value, ast::Expr* else_value);
  ast::Expr* call(Place place, Place function, List<ast::Expr*>* arguments);
  ast::Expr* parenthesised(Place place, ast::Expr* value);
  ast::Expr* list_value(Place place, List<ast::Expr*>* items);
  List<ast::Expr*>* items(List<ast::Expr*>* items, ast::Expr* item);
  ast::Expr* reference(Place place);
  ast::Expr* member(Place place, ast::Expr* base, Place name);
  ast::Expr* index(Place place, ast::Expr* base, ast::Expr* index, Place brackets);
  ast::Expr* error_value(Place place);
  ast::String* text_parts();
  ast::String* add_part(ast::String* text, ast::StringPart* part);
  ast::StringPart* interpolation(Place place, ast::Expr* value);
  ast::Expr* finish_text(Place place, ast::String* text);

  // parts of blocks; the first argument is null for the first part of a list
  List<ast::Resource*>* resource(List<ast::Resource*>* list, Place place, Place type, ast::Expr* name,
                                 ast::Features* body);
  ast::Contextualize* option(ast::Contextualize* made, Place place, Place name, ast::Op op, ast::Expr* value);
  ast::Contextualize* item(ast::Contextualize* made, ast::Item* item);
  ast::Item* new_item(Place place, Place system, Place configure);
  ast::Item* item_step(ast::Item* item, Place place, Place word, ast::Number* step);
  ast::Item* item_tool(ast::Item* item, Place place, Place word, Place tool);
  ast::Item* item_after(ast::Item* item, Place place, Place name);
  ast::Item* item_after_more(ast::Item* item, Place place, Place comma, Place name);

 protected:
  template <class T>
  T* node(ast::Kind kind, Place place) {
    T* made = tree_.arena.make<T>();
    made->kind = kind;
    made->span = at(place);
    return made;
  }
  Span at(Place place) const { return place.in(source_.id()); }
  bool radl2() const { return tree_.dialect == ast::Dialect::Radl2; }
  void syntax(DiagCode code, Place place, std::string message, std::string help = {});
  // Reports what only radl 2 has; true when the file is radl 2.
  bool needs_radl2(Place place, std::string_view what);
  void ec3_use(ast::Ec3Use::What what, Place place, ast::Name word);
  void add(ast::Block* block);
  bool too_long(Place place);
  void split_path(List<ast::PathPart>& parts, ast::Name name);

  const SourceFile& source_;
  ast::Tree& tree_;
  Diagnostics& diagnostics_;
  ast::Expr* expression_ = nullptr;
  int operators_ = 0;  // of the feature at hand
};

}  // namespace radl
