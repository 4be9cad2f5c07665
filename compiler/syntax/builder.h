// Builds tree nodes for the actions of grammar/radl.yy, and rejects syntax that the kind of file does not
// allow. Radl2Builder builds the additional nodes of `radl 2`.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/place.h"

namespace radl {

// True if the word is a unit after a number: GB, Mi, s, min ...
bool is_unit(std::string_view word);

class Builder {
 public:
  Builder(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics)
      : source_(source), tree_(tree), diagnostics_(diagnostics) {}

  // blocks: appended to the tree
  void feature_block(ast::Kind kind, Place place, Place keyword, Place name, ast::Features* body);
  void general(Place place, Place kind, Place name, ast::Features* body);
  void configure(Place place, Place keyword, Place name, ast::Recipe* recipe, List<ast::Resource*>* resources,
                 Place body);
  void deploy(Place place, Place keyword, Place name, ast::Expr* count, Place cloud);
  void contextualize(Place place, Place keyword, ast::Number* time, ast::Contextualize* made, Place body);
  void error_block(Place place);

  // words
  ast::Name word(Place place) const {
    return {source_.text().substr(place.begin, place.end - place.begin), at(place)};
  }
  void ec3_word(Place place);  // a keyword that EC3 allows as a name
  void reserved(Place place);

  // features
  ast::Features* list(ast::Features* list, ast::Feature* feature);
  ast::Features* features(Place place, ast::Features* list);
  ast::Feature* simple(Place place, Place name, ast::Op op, Place op_span, ast::Expr* value);
  ast::Feature* contains_value(Place place, Place name, Place op_span, ast::Expr* value);
  ast::Feature* group(Place place, Place name, Place op_span, ast::Features* group);
  ast::Feature* soft(Place place, ast::Expr* weight, ast::Features* group);
  ast::Feature* error_feature(Place place);

  // values
  ast::Expr* with_unit(Place place, ast::Number* number, Place unit);
  ast::Expr* ec3_reference(Place place, Place kind, Place target);
  ast::Expr* list_value(Place place, List<ast::Expr*>* items);
  List<ast::Expr*>* items(List<ast::Expr*>* items, ast::Expr* item);
  ast::Expr* unquoted(Place place);  // an error
  // Reports syntax that only radl 2 has.
  ast::Expr* needs_radl2(Place place, std::string_view what);
  ast::Expr* error_value(Place place);

  // parts of blocks; the first argument is null for the first part of a list
  ast::Contextualize* option(ast::Contextualize* made, Place place, Place name, ast::Op op, ast::Expr* value);
  ast::Contextualize* item(ast::Contextualize* made, ast::Item* item);
  ast::Item* new_item(Place place, Place system, Place configure);
  ast::Item* item_step(ast::Item* item, Place place, Place word, ast::Number* step);
  ast::Item* item_tool(ast::Item* item, Place place, Place word, Place tool);

 protected:
  // `members`: the node's first members, in declaration order.
  template <class T, class... Members>
  T* node(ast::Kind kind, Place place, Members... members) {
    return tree_.arena.make<T>(kind, at(place), members...);
  }
  template <class T, class... Members>
  T* node(Place place, Members... members) {
    static_assert(ast::Kinds<T>::from == ast::Kinds<T>::to);
    return node<T>(ast::Kinds<T>::from, place, members...);
  }
  Span at(Place place) const { return place.in(source_.id()); }
  ast::String* word_value(Place place);  // an unquoted cloud or zone
  bool radl2() const { return tree_.dialect == ast::Dialect::Radl2; }
  void syntax(DiagCode code, Place place, std::string message, std::string help = {});
  void ec3_use(ast::Ec3Use::What what, Place place, ast::Name word);
  void add(ast::Block* block);
  bool too_long(Place place);

  const SourceFile& source_;
  ast::Tree& tree_;
  Diagnostics& diagnostics_;
  int operators_ = 0;  // of the current feature or block
};

}  // namespace radl
