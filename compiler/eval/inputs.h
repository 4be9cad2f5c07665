// Inputs: their declaration, where a value comes from, and whether it fits.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/eval/value.h"
#include "compiler/resources/resource_schema.h"
#include "compiler/syntax/ast.h"

namespace radl::passes {

enum class InputType {
  Any,
  Integer,
  Number,
  String,
  Boolean,
  Size,
  Duration,
  List,
  Map,
  System,
  Systems,
  Object,   // object(cpu = integer, zone = optional(string, 'a')): a map with just these entries
  Options,  // options(training): properties of a type of resource, given as one map or one by one
};

// A type with what its elements are.
struct TypeSpec {
  InputType kind = InputType::String;
  std::shared_ptr<const TypeSpec> element;  // of list(...) and map(...); may be null
  struct Field;
  std::vector<Field> fields;                   // of object(...)
  const ir::ResourceType* resource = nullptr;  // of options(...)

  std::string name() const;  // "list(integer)"
};
struct TypeSpec::Field {
  std::string name;
  TypeSpec type;
  bool optional = false;
  std::optional<expr::Value> otherwise;  // of an optional one; none: `none`
};
std::optional<InputType> find_input_type(std::string_view name);  // "text" is another word for "string"

// What an `input` block says. Expressions are kept: a default may use other inputs.
struct InputDeclaration {
  InputType type = InputType::String;  // spec.kind
  TypeSpec spec;
  std::string description;
  const ast::Expr* default_value = nullptr;
  std::optional<expr::Value> min, max;
  std::vector<expr::Value> one_of;
  std::string pattern;
  const ast::Expr *condition = nullptr, *message = nullptr;  // what must hold for its value
  bool sensitive = false;
  bool unread = false;  // a part of the block could not be read: it may be the default
};

// Reports what is wrong with the block. `evaluate` is for min, max, one_of: constants.
InputDeclaration declare_input(const ast::FeatureBlock& block, Diagnostics& diagnostics,
                               const std::function<expr::Value(const ast::Expr&)>& evaluate);

// A string of the command line, the environment or a terminal as a value of the type; nullopt when it is
// none. Lists are JSON or strings joined by commas, maps JSON, yes/no/true/false a boolean, 4G a size, 90s a
// duration.
std::optional<expr::Value> input_from_text(const TypeSpec& type, std::string_view text);
std::optional<expr::Value> input_from_json(const TypeSpec& type, const ir::Json& json);

// Values from outside must not be able to exhaust the stack: JSON is looked at before it is parsed.
inline constexpr int kMaxInputDepth = 64;

// The value in the form that the type has (an integer for a number given as 2.0, a list for one system), or a
// report at `at`, with where the value was given from outside ("--input").
expr::Value fit_input(const InputDeclaration& declaration, std::string_view name, expr::Value value, Span at,
                      Diagnostics& diagnostics, std::string_view source = {});

// Values that were given from outside, strongest first, each with where it comes from ("--input").
class GivenInputs {
 public:
  // Reads the input files; what is wrong with them is reported.
  GivenInputs(const CompileOptions& options, Diagnostics& diagnostics);

  struct Given {
    std::optional<std::string> text;
    ir::Json json;       // when text is absent
    std::string source;  // "--input", a file's path, "RADL_INPUT_x"
  };
  const Given* find(std::string_view name) const;
  bool unread() const { return unread_; }  // a part of a file: it may have named an input that has no value
  // Names given by --input and in files (not the environment, which is everybody's).
  std::vector<std::pair<std::string, std::string>> explicit_names() const;  // name, source

 private:
  void read_file(const std::string& path, Diagnostics& diagnostics);

  std::map<std::string, Given, std::less<>> given_;
  bool unread_ = false;
};

}  // namespace radl::passes
