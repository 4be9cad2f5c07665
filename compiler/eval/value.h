// Values of radl 2 expressions. Cheap to copy: lists and maps are shared and immutable.
//
// A number keeps its unit until something is computed with it. A string may have parts that are known
// only after apply. A value from a sensitive input is marked, and so is everything computed from it
// or selected by it. Its content is accessible only with a Permission; other readers get "", 0 and
// false.
//
// The size of every value is limited by kMaxWeight and kMaxValueDepth from its construction on, so
// every value can be processed as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/eval/permission.h"
#include "compiler/ir/ir.h"
#include "compiler/source/source.h"

namespace radl::ast {
struct Let;
}

namespace radl::expr {

class Value;
class Namespace;
using Items = std::vector<Value>;
using Entries = std::map<std::string, Value>;

enum class Kind : uint8_t {
  Error,  // already reported; results computed from it are Error too
  Null,
  Boolean,
  Integer,
  Real,
  String,
  Unknown,  // an attribute that is known only after apply
  Joined,   // string with unknown parts: Items of String and Unknown
  List,
  Map,
  System,     // a system, by its full name
  Node,       // one node of a system
  Namespace,  // input, module, an instance of a module
};
std::string_view kind_name(Kind kind);  // for messages: "a number", "a string"

inline constexpr uint32_t kMaxWeight = 1'000'000;  // of a value with everything in it
inline constexpr int kMaxValueDepth = 200;         // of nested lists and maps
enum class Excess : uint8_t { None, Weight, Depth };

class Value {
 public:
  Value() = default;  // Error
  static Value null();
  static Value boolean(bool value);
  static Value integer(int64_t value, std::string unit = {});
  static Value real(double value, std::string unit = {});
  static Value string(std::string value);
  static Value unknown(std::string attribute);
  static Value joined(Items parts);  // a String if every part is known
  // Returns Error with its excess if the value would be too large; the caller reports it.
  static Value list(Items items);
  static Value map(Entries entries);
  static Value system(std::string name);
  static Value node(std::string system, int ordinal);
  static Value space(const Namespace* space);

  Kind kind() const { return kind_; }
  bool is_error() const { return kind_ == Kind::Error; }
  Excess excess() const { return excess_; }  // of an Error: its cause, not reported yet
  bool is_number() const { return kind_ == Kind::Integer || kind_ == Kind::Real; }
  bool is_text() const { return kind_ == Kind::String || kind_ == Kind::Joined; }
  // True if it contains an unknown part at any depth.
  bool has_unknown() const { return unknown_; }
  // Number of values in it including itself, counted as often as they would be printed. Saturates.
  uint32_t weight() const { return weight_; }
  int depth() const { return depth_; }  // of nested lists and maps

  bool as_boolean() const { return !sensitive_ && integer_ != 0; }
  bool as_boolean(Permission) const { return integer_ != 0; }
  int64_t as_integer() const { return hidden() ? 0 : integer_; }  // of Integer; ordinal of Node
  int64_t as_integer(Permission) const { return integer_; }
  double as_real() const { return hidden() ? 0 : real_number(); }
  double as_real(Permission) const { return real_number(); }
  // String; Unknown: the attribute; System, Node: the system
  const std::string& as_text() const { return hidden() ? kNothing : text_; }
  const std::string& as_text(Permission) const { return text_; }
  const std::string& unit() const { return unit_; }
  const Items& items() const;      // List, Joined
  const Entries& entries() const;  // Map
  const Namespace* space() const { return space_; }
  // The file in which a string was written (0: given from outside), the base of relative local
  // paths.
  uint32_t file() const { return file_; }
  Value& written_in(uint32_t file) {
    file_ = file;
    return *this;
  }

  // Origin of a secret: "input.token" if the value is exactly that input, "" if it was
  // computed.
  bool sensitive() const { return sensitive_; }
  const std::string& secret_name() const { return secret_; }
  Value& mark_sensitive(std::string name = {});
  // Adopts the marks of the value that it was computed from.
  Value& taint(const Value& from);

 private:
  explicit Value(Kind kind) : kind_(kind) {}

  void count(const Value& part);
  double real_number() const { return kind_ == Kind::Real ? real_ : static_cast<double>(integer_); }
  Value within_limits() &&;
  // Names of nodes and unknown attributes appear in plans, so a secret never selects them (evaluate.cc).
  bool hidden() const { return sensitive_ && (is_number() || kind_ == Kind::String); }

  static const std::string kNothing;

  Kind kind_ = Kind::Error;
  bool sensitive_ = false, unknown_ = false;
  Excess excess_ = Excess::None;
  uint16_t depth_ = 0;
  uint32_t weight_ = 1;
  uint32_t file_ = 0;
  int64_t integer_ = 0;
  double real_ = 0;
  std::string text_, unit_, secret_;
  std::shared_ptr<const Items> items_;
  std::shared_ptr<const Entries> entries_;
  const Namespace* space_ = nullptr;
};

// A name before a dot: `input`, `module`, an instance.
class Namespace {
 public:
  virtual ~Namespace() = default;
  // nullopt if there is no such name. `at`: position of the use.
  virtual std::optional<Value> member(std::string_view name, Span at) const = 0;
  virtual std::vector<std::string> names() const = 0;
  // True if names() is complete; false after reporting that it is still being decided.
  virtual bool complete(Span) const { return true; }
  // True if `each` decides which names exist, so that has() is false for all others. Otherwise an undeclared
  // name is an error.
  virtual bool open() const { return false; }
  virtual std::string what() const = 0;  // "input", "output of module 'cifar'"
  // Explains beside the error why a possible name is missing; "" if there is nothing to add.
  virtual std::string absence(std::string_view) const { return ""; }
  // The current name of a renamed member; "" for any other.
  virtual std::string renamed(std::string_view) const { return ""; }
  // A declared function, and the names visible in its body; null if there is none.
  struct Declared {
    const ast::Let* function = nullptr;
    const Namespace* names = nullptr;
  };
  virtual Declared function(std::string_view) const { return {}; }
};

// Names local to a part of an expression: the variables of a comprehension, an `each` or a
// template.
struct Binding {
  std::string_view name;
  const Value* value;
  const Binding* outer;
  std::string_view let = {};  // in the expansion of `each`: the enclosing `let` of the instance
};

// The language's `==`: 2 == 2.0, 1K == 1000; values of different kinds are never equal. The result for a
// secret is itself a secret.
bool equal(const Value& a, const Value& b, Permission);
// Compares two numbers, each times its scale (units.h, CommonUnit); returns -1, 0 or 1. Compares integers
// exactly, also with reals, since doubles cannot represent all integers beyond 2^53.
int compare_numbers(const Value& a, double scale_a, const Value& b, double scale_b, Permission);
// The value's text in a string: 2G, true, 1.5, JSON for lists and maps. nullopt if it has no text form, or if
// it is sensitive and no permission is given.
std::optional<std::string> display(const Value& value);
std::optional<std::string> display(const Value& value, Permission);
// JSON text; null for parts not known yet.
std::string json_text(const Value& value, Permission);

// Same as a value that keeps the marks of its source. nullopt if it has no text form.
std::optional<Value> as_string(const Value& value);

// Converts values to IR JSON. Stores secrets in `secrets` under their own name, or under `place` if they were
// computed. A system becomes the list of its nodes' addresses (`nodes_of`), a node its address.
class Emitter {
 public:
  using NodesOf = std::function<std::vector<std::string>(const std::string& system)>;
  Emitter(ir::Secrets* secrets, std::string place, NodesOf nodes_of = {})
      : secrets_(secrets), place_(std::move(place)), nodes_of_(std::move(nodes_of)) {}
  ir::Json emit(const Value& value);

 private:
  ir::Json hide(const Value& value, const std::string& text);

  ir::Secrets* secrets_;
  std::string place_;
  NodesOf nodes_of_;
  int made_ = 0;
};

}  // namespace radl::expr
