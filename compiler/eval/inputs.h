// Inputs: their declarations, the sources of their values, and type checks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
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
  Object,   // object(cpu = integer, zone = optional(string, 'a')): a map with exactly these entries
  Options,  // options(training): properties of a resource type, given as a map or individually
};

// A type with its element types.
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
  std::optional<expr::Value> otherwise;  // default of an optional field; nullopt: `none`
};
std::optional<InputType> find_input_type(std::string_view name);  // "text" is a synonym for "string"

// The content of an `input` block. Keeps expressions unevaluated, because a default may use other inputs.
struct InputDeclaration {
  InputType type = InputType::String;  // spec.kind
  TypeSpec spec;
  std::string description;
  const ast::Expr* default_value = nullptr;
  std::optional<expr::Value> min, max;
  std::vector<expr::Value> one_of;
  std::string pattern;
  const ast::Expr *condition = nullptr, *message = nullptr;  // must be true for its value
  bool sensitive = false;
  bool unread = false;  // part of the block has syntax errors; it may be the default
};

// Reports errors in the block. `evaluate` is for the constants min, max and one_of.
InputDeclaration declare_input(const ast::FeatureBlock& block, Diagnostics& diagnostics,
                               const std::function<expr::Value(const ast::Expr&)>& evaluate);

// Converts a string from the command line, the environment or a terminal to the type; nullopt if it does not
// fit. A list is JSON or comma-separated, a map is JSON, a boolean is yes/no/true/false, a size 4G, a
// duration 90s.
std::optional<expr::Value> input_from_text(const TypeSpec& type, std::string_view text);
std::optional<expr::Value> input_from_json(const TypeSpec& type, const ir::Json& json);

// Limits the nesting of JSON values from outside, which could exhaust the stack. Checked before parsing.
inline constexpr int kMaxInputDepth = 64;

// Converts the value to the form of its type (an integer for 2.0, a list for one system) or reports an error
// at `at`. The error names the source if the value came from outside ("--input").
expr::Value fit_input(const InputDeclaration& declaration, std::string_view name, expr::Value value, Span at,
                      Diagnostics& diagnostics, std::string_view source = {});

// Values given from outside, highest priority first, with their source ("--input").
class GivenInputs {
 public:
  // Reads the input files and reports errors in them.
  GivenInputs(const CompileOptions& options, Diagnostics& diagnostics);

  struct Given {
    std::optional<std::string> text;
    ir::Json json;       // if text is missing
    std::string source;  // "--input", a file's path, "RADL_INPUT_x"
  };
  const Given* find(std::string_view name) const;
  bool unread() const { return unread_; }  // part of a file is unreadable, so it may define any input
  // Names given by --input and in files (not by the environment, which is shared).
  std::vector<std::pair<std::string, std::string>> explicit_names() const;  // name, source

 private:
  void read_file(const std::string& path, Diagnostics& diagnostics);

  std::map<std::string, Given, std::less<>> given_;
  bool unread_ = false;
};

}  // namespace radl::passes
