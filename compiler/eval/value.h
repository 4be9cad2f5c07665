// Values of radl 2 expressions. Cheap to copy: lists and maps are shared and never changed.
//
// A number keeps the unit that it was written with until something is computed with it. A string may have
// parts that are known only after apply. A value that came from a sensitive input is marked, and so is all
// that is made from it or chosen by it. What such a value holds is given against a Permission only: all other
// readers find "", 0 and no.
//
// No value is too large to be looked at as a whole: kMaxWeight and kMaxValueDepth hold from the construction
// on.
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
  Error,  // was reported already: everything made from it is silent
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

inline constexpr uint32_t kMaxWeight = 1'000'000;  // of one value, with all that it holds
inline constexpr int kMaxValueDepth = 200;         // of lists and maps within each other
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
  static Value joined(Items parts);  // String when every part is known
  // Error, with its excess, when it would be larger than a value may be: whoever asked for it reports that.
  static Value list(Items items);
  static Value map(Entries entries);
  static Value system(std::string name);
  static Value node(std::string system, int ordinal);
  static Value space(const Namespace* space);

  Kind kind() const { return kind_; }
  bool is_error() const { return kind_ == Kind::Error; }
  Excess excess() const { return excess_; }  // of Error: why there is no value, not reported yet
  bool is_number() const { return kind_ == Kind::Integer || kind_ == Kind::Real; }
  bool is_text() const { return kind_ == Kind::String || kind_ == Kind::Joined; }
  // Holds an unknown part, at any depth.
  bool has_unknown() const { return unknown_; }
  // Values in it, itself included, each as often as it would be printed. Saturates.
  uint32_t weight() const { return weight_; }
  int depth() const { return depth_; }  // of lists and maps within each other

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
  // The file in which a string was written (0: given from outside): paths of this computer are relative to
  // it.
  uint32_t file() const { return file_; }
  Value& written_in(uint32_t file) {
    file_ = file;
    return *this;
  }

  // Where a secret came from: "input.token" while the value is exactly that input, "" when something was made
  // from it.
  bool sensitive() const { return sensitive_; }
  const std::string& secret_name() const { return secret_; }
  Value& mark_sensitive(std::string name = {});
  // Takes over the marks of what it was made from.
  Value& taint(const Value& from);

 private:
  explicit Value(Kind kind) : kind_(kind) {}

  void count(const Value& part);
  double real_number() const { return kind_ == Kind::Real ? real_ : static_cast<double>(integer_); }
  Value within_limits() &&;
  // Names of nodes and of what is known after apply are in plans: a secret never chooses them (evaluate.cc).
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

// What stands before a dot: `input`, `module`, an instance.
class Namespace {
 public:
  virtual ~Namespace() = default;
  // nullopt when there is no such name. `at`: where it is asked for.
  virtual std::optional<Value> member(std::string_view name, Span at) const = 0;
  virtual std::vector<std::string> names() const = 0;
  // Whether names() are all that there will be; false after a report that this is just being decided.
  virtual bool complete(Span) const { return true; }
  // Whether `each` decides which names there are: then has() says no to any other name. Otherwise a name that
  // is not declared is a mistake.
  virtual bool open() const { return false; }
  virtual std::string what() const = 0;  // "input", "output of module 'cifar'"
  // Why a name that could be there is not, to be said beside the error; "" where there is nothing to say.
  virtual std::string absence(std::string_view) const { return ""; }
  // The present name of a member that was renamed; "" for any other.
  virtual std::string renamed(std::string_view) const { return ""; }
  // A function that the file declares, and the names that its body sees; null if there is none.
  struct Declared {
    const ast::Let* function = nullptr;
    const Namespace* names = nullptr;
  };
  virtual Declared function(std::string_view) const { return {}; }
};

// Names that hold for a part of an expression only: the variables of a comprehension, of `each`, of a
// template.
struct Binding {
  std::string_view name;
  const Value* value;
  const Binding* outer;
  std::string_view let = {};  // in the expansion of `each`: the `let` of the instance that it stands for
};

// Equal as the language's `==` sees it: 2 == 2.0, 1K == 1000; nothing equals a value of another kind. What it
// says about a secret is a secret.
bool equal(const Value& a, const Value& b, Permission);
// -1, 0, 1 for two numbers, each times its scale (units.h, CommonUnit). Integers are compared as what they
// are, also with reals: not all of them beyond 2^53 have a double of their own.
int compare_numbers(const Value& a, double scale_a, const Value& b, double scale_b, Permission);
// As it stands in a string: 2G, true, 1.5, a JSON string for lists and maps. nullopt for what has no string
// form, and without permission for what is sensitive.
std::optional<std::string> display(const Value& value);
std::optional<std::string> display(const Value& value, Permission);
// As JSON; what is not known yet is null.
std::string json_text(const Value& value, Permission);

// The same as a value, with the marks of what it was made from. nullopt for what has no string form.
std::optional<Value> as_string(const Value& value);

// A value as JSON of the IR. Secrets go to `secrets` under their own name or, when made from one, under
// `place`. A system becomes the list of its nodes' addresses by `nodes_of`, a node its address.
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
