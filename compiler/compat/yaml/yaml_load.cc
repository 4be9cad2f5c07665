// libyaml's events to values, by the rules of YAML 1.1 as PyYAML's safe loader has them.
#include <yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <regex>

#include "common/text.h"
#include "compiler/compat/yaml/yaml_fault.h"
#include "compiler/compat/yaml/yaml_value.h"

namespace radl::ec3 {
namespace {

using Kind = Yaml::Kind;

constexpr std::string_view kStandard = "tag:yaml.org,2002:";
constexpr size_t kLongestWord = 200;  // of a number or time; longer words are strings

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool matches(std::string_view word, const std::regex& pattern) {
  return std::regex_match(word.begin(), word.end(), pattern);
}

std::string without(std::string_view text, char what) {
  std::string out;
  for (char c : text)
    if (c != what) out += c;
  return out;
}

std::string decimal(unsigned __int128 value, bool negative) {
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
  while (value /= 10);
  return negative && digits != "0" ? "-" + digits : digits;
}

// `0b1010`, `017`, `0x1F`, `1:30` and `1_000` as decimal digits; "" when it is longer than 128 bits.
std::string integer_digits(std::string_view word) {
  std::string text = without(word, '_');
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.erase(0, 1);
  if (text.find(':') == text.npos && (text == "0" || !text.starts_with('0')))
    return negative && text != "0" ? "-" + text : text;
  unsigned __int128 value = 0;
  auto add = [&](unsigned base, unsigned digit) {
    bool fits = value <= (~static_cast<unsigned __int128>(0) - digit) / base;
    value = value * base + digit;
    return fits;
  };
  if (text.find(':') != text.npos) {
    for (std::string_view rest = text;;) {
      size_t colon = std::min(rest.find(':'), rest.size());
      if (!add(60, static_cast<unsigned>(std::atoi(std::string(rest.substr(0, colon)).c_str())))) return {};
      if (colon == rest.size()) return decimal(value, negative);
      rest.remove_prefix(colon + 1);
    }
  }
  unsigned base = text.starts_with("0b") ? 2 : text.starts_with("0x") ? 16 : 8;
  for (char c : std::string_view(text).substr(base == 8 ? 1 : 2)) {
    unsigned digit = c <= '9' ? unsigned(c - '0') : unsigned((c | 0x20) - 'a') + 10;
    if (!add(base, digit)) return {};
  }
  return decimal(value, negative);
}

double real_value(std::string_view word) {
  std::string text = to_lower(without(word, '_'));
  double sign = text.starts_with('-') ? -1 : 1;
  if (text.starts_with('-') || text.starts_with('+')) text.erase(0, 1);
  if (text == ".inf") return sign * std::numeric_limits<double>::infinity();
  if (text == ".nan") return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  for (std::string_view rest = text;;) {
    size_t colon = std::min(rest.find(':'), rest.size());
    value = value * 60 + std::strtod(std::string(rest.substr(0, colon)).c_str(), nullptr);
    if (colon == rest.size()) return sign * value;
    rest.remove_prefix(colon + 1);
  }
}

YamlPtr scalar_of(Kind kind, std::string_view word) {
  switch (kind) {
    case Kind::Null:
      return Yaml::null();
    case Kind::Bool:
      return Yaml::boolean_value(one_of(to_lower(word), {"yes", "true", "on"}));
    case Kind::Integer:
      if (std::string digits = integer_digits(word); !digits.empty()) return Yaml::integer(digits);
      return Yaml::string(word);
    case Kind::Float:
      return Yaml::real_number(real_value(word));
    case Kind::Other: {
      YamlPtr made = Yaml::string(word);
      made->kind = Kind::Other;
      return made;
    }
    default:
      return Yaml::string(word);
  }
}

// A scalar with a tag of YAML's own.
YamlPtr tagged(std::string_view tag, std::string_view word) {
  std::string_view name = tag.substr(kStandard.size());
  if (name == "str") return Yaml::string(word);
  if (name == "null") return Yaml::null();
  if (name == "bool") return scalar_of(Kind::Bool, word);
  if (name == "int") return scalar_of(Kind::Integer, word);
  if (name == "float") return scalar_of(Kind::Float, word);
  YamlPtr made = scalar_of(Kind::Other, word);
  if (name != "timestamp") made->tag = std::string(tag);
  return made;
}

std::string_view text_of(const yaml_char_t* text) {
  return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

// Builds the value of one document. yaml_fault has validated the text, so any error here is a bug in radlc,
// except an anchor within itself.
class Loader {
 public:
  bool take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_ALIAS_EVENT: {
        auto known = anchors_.find(text_of(event.data.alias.anchor));
        return known != anchors_.end() && put(known->second);
      }
      case YAML_SCALAR_EVENT:
        return scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        begin(Yaml::list(), event.data.sequence_start.anchor, event.data.sequence_start.tag);
        return true;
      case YAML_MAPPING_START_EVENT:
        begin(Yaml::map(), event.data.mapping_start.anchor, event.data.mapping_start.tag);
        return true;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        return end();
      default:
        return true;
    }
  }

  YamlPtr value() const { return root_ ? root_ : Yaml::null(); }

 private:
  struct Open {
    YamlPtr value;
    std::string anchor;
    YamlPtr key;                  // a map's, while its value is awaited
    bool merge = false;           // that key is `<<`
    std::vector<YamlPtr> merged;  // the maps behind `<<`, the strongest last
  };

  bool scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    std::string_view word(reinterpret_cast<const char*>(scalar.value), scalar.length);
    std::string_view tag = text_of(scalar.tag);
    bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE && (tag.empty() || tag == "!");
    if (plain && word == "<<" && !open_.empty() && open_.back().value->is(Kind::Map) && !open_.back().key) {
      open_.back().key = Yaml::string("<<");
      open_.back().merge = true;
      return true;
    }
    YamlPtr made = tag.starts_with(kStandard) ? tagged(tag, word)
                   : plain                    ? scalar_of(plain_kind(word), word)
                                              : Yaml::string(word);
    if (scalar.anchor) anchors_[std::string(text_of(scalar.anchor))] = made;
    return put(made);
  }

  void begin(YamlPtr made, const yaml_char_t* anchor, const yaml_char_t* tag) {
    std::string_view name = text_of(tag);
    bool usual = name == std::string(kStandard) + (made->is(Kind::List) ? "seq" : "map");
    if (name.starts_with(kStandard) && !usual) made->tag = std::string(name);
    open_.push_back({std::move(made), std::string(text_of(anchor)), nullptr, false, {}});
  }

  bool end() {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (!done.merged.empty()) merge(*done.value, done.merged);
    if (!done.anchor.empty()) anchors_[done.anchor] = done.value;
    return put(done.value);
  }

  // What the map gives itself is stronger than what it merges.
  static void merge(Yaml& into, const std::vector<YamlPtr>& maps) {
    Yaml all;
    for (const YamlPtr& map : maps)
      for (const auto& [key, value] : map->entries) set(all, key, value);
    for (const auto& [key, value] : into.entries) set(all, key, value);
    into.entries = std::move(all.entries);
  }

  static void set(Yaml& map, const YamlPtr& key, const YamlPtr& value) {
    for (auto& [each, there] : map.entries) {
      if (!same_yaml(each, key)) continue;
      there = value;
      return;
    }
    map.entries.emplace_back(key, value);
  }

  bool put(const YamlPtr& value) {
    if (open_.empty()) {
      root_ = value;
      return true;
    }
    Open& in = open_.back();
    if (in.value->is(Kind::List)) {
      in.value->items.push_back(value);
      return true;
    }
    if (!in.key) {
      in.key = value;
      return !value->is(Kind::List) && !value->is(Kind::Map);
    }
    YamlPtr key = std::move(in.key);
    in.key = nullptr;
    if (std::exchange(in.merge, false)) {
      if (value->is(Kind::List))
        in.merged.insert(in.merged.begin(), value->items.rbegin(), value->items.rend());
      else
        in.merged.push_back(value);
      return value->is(Kind::Map) || value->is(Kind::List);
    }
    set(*in.value, key, value);
    return true;
  }

  std::vector<Open> open_;
  std::map<std::string, YamlPtr, std::less<>> anchors_;
  YamlPtr root_;
};

}  // namespace

Kind plain_kind(std::string_view word) {
  static const std::regex real(
      R"([-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|\.[0-9][0-9_]*([eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))");
  static const std::regex integer(
      R"([-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+)");
  static const std::regex time(
      R"([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?([Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(\.[0-9]*)?([ \t]*(Z|[-+][0-9][0-9]?(:[0-9]{2})?))?)");
  if (word.empty() || one_of(word, {"~", "null", "Null", "NULL"})) return Kind::Null;
  if (one_of(word, {"yes", "Yes", "YES", "no", "No", "NO", "true", "True", "TRUE", "on", "On", "ON", "false",
                    "False", "FALSE", "off", "Off", "OFF"}))
    return Kind::Bool;
  bool may_be_number = word.find_first_of("-+.0123456789") == 0 && word.size() <= kLongestWord;
  if (!may_be_number) return word == "=" || word == "<<" ? Kind::Other : Kind::String;
  if (matches(word, real)) return Kind::Float;
  if (matches(word, integer)) return Kind::Integer;
  return matches(word, time) ? Kind::Other : Kind::String;
}

std::optional<YamlPtr> load_yaml(std::string_view text) {
  if (text.starts_with("$ANSIBLE_VAULT")) return Yaml::string(text);
  if (sema::yaml_fault(text)) return std::nullopt;
  yaml_parser_t parser;
  yaml_parser_initialize(&parser);
  std::unique_ptr<yaml_parser_t, decltype(&yaml_parser_delete)> owner(&parser, yaml_parser_delete);
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  Loader loader;
  for (bool done = false; !done;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&parser, &event)) return std::nullopt;
    done = event.type == YAML_STREAM_END_EVENT;
    bool fine = loader.take(event);
    yaml_event_delete(&event);
    if (!fine) return std::nullopt;
  }
  return loader.value();
}

}  // namespace radl::ec3
