// The values of a recipe as PyYAML's safe loader has them, and their text as its `safe_dump` writes it: EC3
// composes recipes as such values, and Ansible is given that text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace radl::ec3 {

struct Yaml;
using YamlPtr = std::shared_ptr<Yaml>;  // an alias is the same value again

struct Yaml {
  enum class Kind : uint8_t { Null, Bool, Integer, Float, String, Other, List, Map } kind = Kind::Null;
  bool boolean = false;
  double real = 0;   // Float
  std::string text;  // String; Integer: its decimal digits; Other: as it was written
  std::string tag;   // Other and collections: a tag of YAML's own (`!!set`), in full; mostly empty
  std::vector<YamlPtr> items;
  std::vector<std::pair<YamlPtr, YamlPtr>> entries;  // no key twice

  static YamlPtr null() { return std::make_shared<Yaml>(); }
  static YamlPtr string(std::string_view text);
  static YamlPtr integer(std::string digits);
  static YamlPtr real_number(double value);
  static YamlPtr boolean_value(bool value);
  static YamlPtr list() { return of(Kind::List); }
  static YamlPtr map() { return of(Kind::Map); }

  bool is(Kind which) const { return kind == which; }
  // null, 0, "", an empty collection: what Python calls false.
  bool empty() const;
  // The value behind a key that is this string; nullptr when there is none.
  YamlPtr find(std::string_view key) const;
  void set(std::string_view key, YamlPtr value);
  void erase(std::string_view key);

 private:
  static YamlPtr of(Kind kind);
};

// nullopt: it is not YAML (sema::yaml_fault says why). A text without a document is null.
std::optional<YamlPtr> load_yaml(std::string_view text);

// Block style, keys in order, 80 columns, ASCII; an anchor where a collection stands more than once.
std::string dump_yaml(const Yaml& value);

// As Python compares: 1 equals 1.0 and true; maps without order.
bool same_yaml(const YamlPtr& a, const YamlPtr& b);

// A value of its own: nothing that is done to the copy is seen in the original. What is shared in it stays
// so.
YamlPtr copy_yaml(const YamlPtr& value);

// Whether a collection stands somewhere within itself.
bool contains_itself(const YamlPtr& value);
// Empties all collections, so that those which contain themselves go as well. The value is of no use
// afterwards.
void release(const YamlPtr& value);

// The type that PyYAML gives a word without quotes.
Yaml::Kind plain_kind(std::string_view word);

}  // namespace radl::ec3
