// Values in the syntax tree (ast.h), and the members of every node.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/source/source.h"
#include "compiler/syntax/arena.h"

namespace radl::expr {
class Value;
}

namespace radl::ast {

enum class Kind : uint8_t {
  // blocks
  Version,
  Description,
  Network,
  System,
  Ansible,
  General,
  Input,
  Output,  // all but Version: FeatureBlock
  Use,
  Configure,
  Deploy,
  Contextualize,
  Let,
  Assert,
  Moved,
  Each,
  ErrorBlock,
  // parts of blocks
  Feature,
  Recipe,
  Resource,
  Option,
  Item,
  // values
  Number,
  String,
  Random,
  Boolean,
  ListValue,
  Reference,
  Ec3Reference,
  Unary,
  Binary,
  If,
  Call,
  MapValue,
  Select,
  Comprehension,
  Bound,
  Group,  // made by evaluation (compiler/eval/feature_value.h), as is a Secret
  Secret,
  ErrorValue,
};

struct Node {
  Kind kind;
  Span span;
};

// A word of the source; an empty text means absent.
struct Name {
  std::string_view text;
  Span span;
  explicit operator bool() const { return !text.empty(); }
};

enum class Op : uint8_t { None, Eq, Lt, Gt, Le, Ge, Contains };  // Contains before a value is EC3's
std::string_view op_text(Op op);

struct Expr : Node {};

// 4, 1.5, 2 GB. Distinguishes integers from floats: `3.` is a float.
struct NumberValue {
  std::string_view digits;  // as written, without unit
  bool is_float = false;
  bool big = false;     // an integer beyond int64: only `digits` and `real` are valid
  int64_t integer = 0;  // when !is_float && !big
  double real = 0;      // always valid
  Name unit;            // "GB"; may be absent
};
struct Number : Expr, NumberValue {};

// 'text'. In radl 2 files it may contain ${...}: then `parts` is not empty and `text` is unused.
struct StringPart {
  std::string_view text;  // decoded literal text, when value is null
  Expr* value = nullptr;
  Span span;
};
struct String : Expr {    // span includes the quotes
  std::string_view text;  // decoded (\' became ')
  List<StringPart> parts;
  bool word = false;  // written without quotes: a cloud or a zone
};

// True for system features whose value is a word or string like the cloud of a `deploy`: `cloud = ec2`.
inline bool is_place(std::string_view feature) {
  return feature == "cloud" || feature == "availability_zone";
}

struct Random : Expr {  // 'random(D)'
  int length = 0;
};

struct Boolean : Expr {  // radl 2: yes, no, true, false without quotes
  bool value = false;
};

struct ListValue : Expr {
  List<Expr*> items;
};

// input.x, cifar.model_path, worker[0].ip, worker[*].ip, and plain names. The first part is a name.
struct PathPart {
  Name name;              // member; absent for an index
  Expr* index = nullptr;  // [expr]; null and no name: [*]
  Span span;
};
struct Reference : Expr {
  List<PathPart> parts;
};

struct Ec3Reference : Expr {  // `system wn` as a value
  Name target_kind, target;
};

enum class UnaryOp : uint8_t { Minus, Not };
struct Unary : Expr {
  UnaryOp op{};
  Expr* operand = nullptr;
};

enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, Mod, Eq, Ne, Lt, Le, Gt, Ge, And, Or };
std::string_view op_text(BinaryOp op);
struct Binary : Expr {
  BinaryOp op{};
  Span op_span;
  Expr *left = nullptr, *right = nullptr;
};

struct If : Expr {  // if C then A else B
  Expr *condition = nullptr, *then_value = nullptr, *else_value = nullptr;
};

// NAME = value, in a map, a call or a map comprehension.
struct Entry {
  Name name;            // a word
  Expr* key = nullptr;  // otherwise a string or a parenthesized expression
  Expr* value = nullptr;
  Span span;
};

struct Call : Expr {
  Name function;
  List<Expr*> arguments;
  List<Entry> named;  // object(cpu = integer)
};

struct MapValue : Expr {  // { a = 1, 'b c' = 2 }
  List<Entry> entries;
};

// An index or member after a value that is not a reference: split(x, ',')[0], (a).b
struct Select : Expr {
  Expr* base = nullptr;
  List<PathPart> parts;
};

// NAME in list, or NAME, NAME in list: index (or key) and element.
struct Each {
  Name first, second;  // second may be absent
  Expr* list = nullptr;
  Span span;
  bool let = false;  // `let NAME = value` between resources or items: an `each` over that single value
};

// [ value for x in list if condition ], { key = value for k, v in map if condition }
struct Comprehension : Expr {
  bool makes_map = false;
  Entry element;  // for a list: only `value`
  Each each;
  Expr* condition = nullptr;  // may be absent
};

// Replaces a variable of `each` during expansion.
struct Bound : Expr {
  const expr::Value* value = nullptr;
  Name name;
};

}  // namespace radl::ast
