// The syntax tree of RADL 1, EC3's dialect and the `radl 2` extensions.
//
// Nodes live in the tree's arena, are plain data, and point into the SourceMap's bytes: the map must outlive
// the tree. Every node has its source span. Nothing is interpreted: numbers keep their digits, recipes and
// comments their bytes. The tree is complete even after syntax errors: an Error node replaces each unparsable
// part, and later passes ignore it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "compiler/syntax/arena.h"
#include "compiler/syntax/ast_values.h"

namespace radl::ast {

// ---- features
// -----------------------------------------------------------------------------------------------

struct Feature;

// ( feature and feature ... )
struct Features {
  bool present = false;  // the parentheses were written
  Span span;             // with the parentheses
  List<Feature*> items;
};

enum class FeatureKind : uint8_t {
  Simple,    // name op value
  Contains,  // name contains ( group )
  Soft,      // soft weight ( group )
  Each,      // radl 2: each x in list ( group ); expansion replaces it with the other forms
  Error,
};
struct Feature : Node {
  FeatureKind form{};
  Op op{};
  bool strict = false;  // from radl 2: a feature that nothing reads is an error
  Name name;
  Span op_span;
  Expr* value = nullptr;      // Simple
  Number* weight = nullptr;   // Soft
  Features* group = nullptr;  // Contains, Soft, Each
  Expr* named = nullptr;      // radl 2: the name as a string with ${ }; expansion fills `name`
  Each* each = nullptr;       // Each
};

// ---- blocks
// ----------------------------------------------------------------------------------------------

struct Block : Node {
  Name keyword;           // as written: "system", "include", ...
  Name name;              // the id; absent for contextualize and errors
  Expr* named = nullptr;  // radl 2: the ID as a string with ${ }; expansion fills `name`
};

struct Version : Block {  // `radl 2`, first in the file
  int number = 0;
};

// KEYWORD NAME ( features ): Description, Network, System, Ansible, General (EC3: include, file, ...), Input,
// Output. A network or system without parentheses (body.present false) is a reference.
struct FeatureBlock : Block {
  Features body;
};

struct Use : Block {  // use 'module' as NAME ( features ); name is the NAME
  String* module = nullptr;
  Features body;
};

// @begin ... @end. `text` is the recipe by the reference's definition: the rest of the @begin line with its
// newline, then all lines.
struct Recipe : Node {
  std::string_view text;
};

// radl 2: TYPE 'name' ( properties ), inside configure; or each NAME in LIST ( resources ).
struct Resource : Node {
  Name type;
  Expr* name = nullptr;
  Features body;
  Each* each = nullptr;
  List<Resource*> inner;
};

struct Configure : Block {
  bool has_body = false;      // false: a reference
  Recipe* recipe = nullptr;   // null with has_body and no resources: "no recipe"
  List<Resource*> resources;  // radl 2
  Span body_span;             // with the parentheses
};

struct Deploy : Block {    // name is the system's
  Expr* count = nullptr;   // RADL 1: Number
  Expr* cloud = nullptr;   // a String; null: absent
  Expr* when = nullptr;    // radl 2
  bool of_system = false;  // radl 2: made from `count` in the system itself
};

// radl 2: let NAME = value, let NAME(a, b) = value
struct Let : Block {
  Expr* value = nullptr;
  List<Name> parameters;  // of a function; else empty
};

// radl 2: assert ( condition, message )
struct Assert : Block {
  Expr *condition = nullptr, *message = nullptr;
};

// radl 2: moved ( from, to )
struct Moved : Block {
  Expr *from = nullptr, *to = nullptr;
};

// radl 2: each NAME in LIST ( blocks )
struct EachBlock : Block {
  Each each;
  Span body_span;  // with the parentheses
  List<Block*> blocks;
};

struct Option : Node {
  Name name;
  Op op{};
  Expr* value = nullptr;
};

struct Item : Node {  // system S configure C [step N] [with T] [after X, Y]
  Name system, configure;
  Number* step = nullptr;
  Name tool;
  List<Name> after;         // radl 2, like the members below
  List<Expr*> after_named;  // as strings with ${ }; expansion adds to `after`
  Expr* systems = nullptr;  // an expression instead of `system`
  Expr* named = nullptr;    // the configure as a string with ${ }; expansion fills `configure`
  Expr* when = nullptr;
  Expr* step_of = nullptr;  // the step as an expression; expansion fills `step`
  Each* each = nullptr;     // each NAME in LIST ( items )
  List<Item*> inner;
};

struct Contextualize : Block {
  Number* max_time = nullptr;
  Span body_span;
  List<Option*> options;
  List<Item*> items;
};

// ---- the tree
// -----------------------------------------------------------------------------------------------

enum class TriviaKind : uint8_t { Comment, Junk };
struct Trivia {  // in source order; comments without their newline
  TriviaKind kind;
  Span span;
};

enum class Dialect : uint8_t { Radl1, Ec3, Radl2 };

// A use of syntax that only EC3's parser accepts. An error in a file that is not recognized as EC3's.
struct Ec3Use {
  enum class What : uint8_t {
    ContainsValue,
    ReferenceValue,
    GeneralBlock,
    LateDescription,
    KeywordAsName
  } what;
  Span span;
  Name word;
};

struct Tree {
  const SourceFile* source = nullptr;
  Dialect dialect = Dialect::Radl1;
  List<Block*> blocks;
  List<Trivia> trivia;
  List<Ec3Use> ec3_uses;
  bool ec3_mark = false;  // the file contains a mark of EC3's dialect (docs/decisions)
  bool syntax_errors = false;
  Arena arena;
};

// Checked downcast: as<ast::FeatureBlock>(block) is null if the node has another kind.
template <class T>
struct Kinds;
#define RADL_AST_KIND(type, first, last)                       \
  template <>                                                  \
  struct Kinds<type> {                                         \
    static constexpr Kind from = Kind::first, to = Kind::last; \
  };
RADL_AST_KIND(Version, Version, Version)
RADL_AST_KIND(FeatureBlock, Description, Output)
RADL_AST_KIND(Use, Use, Use)
RADL_AST_KIND(Configure, Configure, Configure)
RADL_AST_KIND(Deploy, Deploy, Deploy)
RADL_AST_KIND(Contextualize, Contextualize, Contextualize)
RADL_AST_KIND(Let, Let, Let)
RADL_AST_KIND(Assert, Assert, Assert)
RADL_AST_KIND(Moved, Moved, Moved)
RADL_AST_KIND(EachBlock, Each, Each)
RADL_AST_KIND(Block, Version, ErrorBlock)
RADL_AST_KIND(Feature, Feature, Feature)
RADL_AST_KIND(Recipe, Recipe, Recipe)
RADL_AST_KIND(Resource, Resource, Resource)
RADL_AST_KIND(Option, Option, Option)
RADL_AST_KIND(Item, Item, Item)
RADL_AST_KIND(Number, Number, Number)
RADL_AST_KIND(String, String, String)
RADL_AST_KIND(Random, Random, Random)
RADL_AST_KIND(Boolean, Boolean, Boolean)
RADL_AST_KIND(ListValue, ListValue, ListValue)
RADL_AST_KIND(Reference, Reference, Reference)
RADL_AST_KIND(Ec3Reference, Ec3Reference, Ec3Reference)
RADL_AST_KIND(Unary, Unary, Unary)
RADL_AST_KIND(Binary, Binary, Binary)
RADL_AST_KIND(If, If, If)
RADL_AST_KIND(Call, Call, Call)
RADL_AST_KIND(MapValue, MapValue, MapValue)
RADL_AST_KIND(Select, Select, Select)
RADL_AST_KIND(Comprehension, Comprehension, Comprehension)
RADL_AST_KIND(Bound, Bound, Bound)
RADL_AST_KIND(Expr, Number, ErrorValue)
#undef RADL_AST_KIND

template <class T>
const T* as(const Node* node) {
  return node && node->kind >= Kinds<T>::from && node->kind <= Kinds<T>::to ? static_cast<const T*>(node)
                                                                            : nullptr;
}

std::string_view kind_name(Kind kind);

// The value of `'${value}'` without the quotes, so that `none` stays none; any other expression unchanged.
const Expr& without_quotes(const Expr& written);

}  // namespace radl::ast
