// Makes tree nodes for the grammar's actions, and refuses what the kind of file at hand may not use.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace radl {

class Builder {
 public:
  Builder(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics)
      : source_(source), tree_(tree), diagnostics_(diagnostics) {}

  // sentences: appended to the tree
  void version(Span span, ast::Expr* number);
  void block(ast::Kind kind, Span span, Span keyword, ast::Name name, ast::Features* body);
  void general(Span span, ast::Name kind, ast::Name name, ast::Features* body);
  void use(Span span, Span keyword, ast::Expr* module, ast::Name name, ast::Features* body);
  void configure(Span span, Span keyword, ast::Name name, ast::Recipe* recipe,
                 List<ast::Resource*>* resources, Span body);
  void deploy(Span span, Span keyword, ast::Name name, ast::Expr* count, ast::Name cloud);
  void contextualize(Span span, Span keyword, ast::Number* time, ast::Contextualize* made, Span body);
  void error_sentence(Span span);
  void whole_expression(ast::Expr* value) { expression_ = value; }
  ast::Expr* expression() const { return expression_; }

  // words
  ast::Name word(Span span) const { return {source_.text(span), span}; }
  ast::Name ec3_word(Span span);      // a keyword that EC3 lets be a name
  ast::Name feature_word(Span span);  // the same as a feature's name; radl 2 takes it too
  ast::Name reserved(ast::Name name);

  // features
  ast::Features* list(ast::Features* list, ast::Feature* feature);
  ast::Features* features(Span span, ast::Features* list);
  ast::Feature* simple(Span span, ast::Name name, ast::Op op, Span op_span, ast::Expr* value);
  ast::Feature* contains_value(Span span, ast::Name name, Span op_span, ast::Expr* value);
  ast::Feature* group(Span span, ast::Name name, Span op_span, ast::Features* group);
  ast::Feature* soft(Span span, ast::Expr* weight, ast::Features* group);
  ast::Feature* error_feature(Span span);

  // values
  ast::Expr* with_unit(Span span, ast::Number* number, ast::Name unit);
  ast::Expr* ec3_reference(Span span, Span kind, ast::Name target);
  ast::Expr* unary(Span span, ast::UnaryOp op, ast::Expr* operand);
  ast::Expr* binary(Span span, ast::BinaryOp op, Span op_span, ast::Expr* left, ast::Expr* right);
  ast::Expr* if_else(Span span, ast::Expr* condition, ast::Expr* then_value, ast::Expr* else_value);
  ast::Expr* call(Span span, ast::Name function, List<ast::Expr*>* arguments);
  ast::Expr* parenthesised(Span span, ast::Expr* value);
  ast::Expr* list_value(Span span, List<ast::Expr*>* items);
  List<ast::Expr*>* items(List<ast::Expr*>* items, ast::Expr* item);
  ast::Expr* reference(Span span, ast::Name name);
  ast::Expr* member(Span span, ast::Expr* base, ast::Name name);
  ast::Expr* index(Span span, ast::Expr* base, ast::Expr* index, Span brackets);
  ast::Expr* error_value(Span span);
  ast::String* text_parts();
  ast::String* add_part(ast::String* text, ast::StringPart part);
  ast::StringPart interpolation(Span span, ast::Expr* value);
  ast::Expr* finish_text(Span span, ast::String* text);

  // parts of sentences; the first argument is null for the first part of a list
  List<ast::Resource*>* resource(List<ast::Resource*>* list, Span span, ast::Name type, ast::Expr* name,
                                 ast::Features* body);
  ast::Contextualize* option(ast::Contextualize* made, Span span, ast::Name name, ast::Op op,
                             ast::Expr* value);
  ast::Contextualize* item(ast::Contextualize* made, ast::Item* item);
  ast::Item* new_item(Span span, ast::Name system, ast::Name configure);
  ast::Item* item_step(ast::Item* item, Span span, Span word, ast::Number* step);
  ast::Item* item_tool(ast::Item* item, Span span, Span word, ast::Name tool);
  ast::Item* item_after(ast::Item* item, Span span, ast::Name name);
  ast::Item* item_after_more(ast::Item* item, Span span, Span comma, ast::Name name);

 private:
  bool radl2() const { return tree_.dialect == ast::Dialect::Radl2; }
  void syntax(DiagCode code, Span span, std::string message, std::string help = {});
  // Reports what only radl 2 has; true when the file is radl 2.
  bool needs_radl2(Span span, std::string_view what);
  void ec3_use(ast::Ec3Use::What what, Span span, ast::Name word);
  void add(ast::Sentence* sentence);
  bool too_long(Span span);
  void split_reference(ast::Reference* reference, ast::Name name);

  const SourceFile& source_;
  ast::Tree& tree_;
  Diagnostics& diagnostics_;
  ast::Expr* expression_ = nullptr;
  int operators_ = 0;  // of the feature at hand
};

}  // namespace radl
