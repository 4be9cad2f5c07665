// A recipe's values as PyYAML's safe loader reads them, and their text as its `safe_dump` writes it. EC3
// composes recipes as such values, and Ansible receives that text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace radl::ec3 {

struct Yaml;
using YamlPtr = std::shared_ptr<Yaml>;  // an alias shares its value

struct Yaml {
  enum class Kind : uint8_t { Null, Bool, Integer, Float, String, Other, List, Map } kind = Kind::Null;
  bool boolean = false;
  double real = 0;   // Float
  std::string text;  // String; Integer: its decimal digits; Other: as written
  std::string tag;   // Other and collections: a full YAML tag (`!!set`); usually empty
  std::vector<YamlPtr> items;
  std::vector<std::pair<YamlPtr, YamlPtr>> entries;  // keys are unique

  static YamlPtr null() { return std::make_shared<Yaml>(); }
  static YamlPtr string(std::string_view text);
  static YamlPtr integer(std::string digits);
  static YamlPtr real_number(double value);
  static YamlPtr boolean_value(bool value);
  static YamlPtr list() { return of(Kind::List); }
  static YamlPtr map() { return of(Kind::Map); }

  bool is(Kind which) const { return kind == which; }
  // True for null, 0, "" and empty collections: Python's false values.
  bool empty() const;
  // The value of a string key; nullptr if missing.
  YamlPtr find(std::string_view key) const;
  void set(std::string_view key, YamlPtr value);
  void erase(std::string_view key);

 private:
  static YamlPtr of(Kind kind);
};

// nullopt if the text is not YAML (sema::yaml_fault gives the reason). A text without a document is null.
std::optional<YamlPtr> load_yaml(std::string_view text);

// Block style, keys in order, 80 columns, ASCII. A collection that occurs more than once gets an anchor.
std::string dump_yaml(const Yaml& value);

// Compares like Python: 1 equals 1.0 and true; the order of keys does not matter.
bool same_yaml(const YamlPtr& a, const YamlPtr& b);

// Deep copy: changes do not affect the original. Values shared within the original are shared within the
// copy.
YamlPtr copy_yaml(const YamlPtr& value);

// True if a collection contains itself, directly or not.
bool contains_itself(const YamlPtr& value);
// Empties all collections, so that cyclic ones are freed too. The value is unusable
// afterwards.
void release(const YamlPtr& value);

// The type that PyYAML infers for an unquoted word.
Yaml::Kind plain_kind(std::string_view word);

}  // namespace radl::ec3
