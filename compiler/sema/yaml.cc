// Whether a recipe is the YAML that PyYAML's safe loader takes. libyaml is the same scanner and parser in C;
// what the loader checks beyond syntax is checked here: one document, known tags, no collections as keys, no
// alias without its anchor, dates that exist.
#include <yaml.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "compiler/sema/check.h"

namespace radl::sema {
namespace {

std::string_view text_of(const yaml_char_t* text) {
  return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

constexpr size_t kMaxNesting = 200;

bool known_tag(std::string_view tag) {
  constexpr std::string_view kStandard = "tag:yaml.org,2002:";
  if (tag.empty() || tag == "!") return true;
  if (!tag.starts_with(kStandard)) return false;
  static constexpr std::array<std::string_view, 13> kKnown = {"str",    "int",       "float", "bool", "null",
                                                              "map",    "seq",       "set",   "omap", "pairs",
                                                              "binary", "timestamp", "value"};
  for (std::string_view known : kKnown)
    if (tag.substr(kStandard.size()) == known) return true;
  return false;
}

// yyyy-mm-dd that is no day of the calendar.
bool impossible_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  auto number = [&](size_t at, size_t size) {
    int value = 0;
    for (char c : text.substr(at, size))
      value = c < '0' || c > '9' || value < 0 ? -1 : value * 10 + (c - '0');
    return value;
  };
  int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  if (year < 0 || month < 0 || day < 0) return false;
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year == 0 || month < 1 || month > 12 || day < 1) return true;
  bool leap = month == 2 && (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
  return day > kDays[month - 1] + (leap ? 1 : 0);
}

// Follows the events of one document.
class Loader {
 public:
  // What the loader would refuse at this event; empty when nothing.
  std::string take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        return ++documents_ > 1 ? "a recipe is one document" : "";
      case YAML_ALIAS_EVENT: {
        std::string name(text_of(event.data.alias.anchor));
        if (!anchors_.contains(name)) return "the alias `*" + name + "` has no anchor";
        return node(anchors_of_collections_.contains(name), false);
      }
      case YAML_SCALAR_EVENT: {
        const auto& scalar = event.data.scalar;
        std::string_view value(reinterpret_cast<const char*>(scalar.value), scalar.length);
        bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE && !scalar.tag;
        if (plain && impossible_date(value)) return "there is no such day";
        return begin(scalar.anchor, scalar.tag, false, plain && value == "<<");
      }
      case YAML_SEQUENCE_START_EVENT: {
        std::string fault =
            begin(event.data.sequence_start.anchor, event.data.sequence_start.tag, true, false);
        return fault.empty() ? enter({false, false}) : fault;
      }
      case YAML_MAPPING_START_EVENT: {
        std::string fault = begin(event.data.mapping_start.anchor, event.data.mapping_start.tag, true, false);
        return fault.empty() ? enter({true, true}) : fault;
      }
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        if (!levels_.empty()) levels_.pop_back();
        return {};
      default:
        return {};
    }
  }

 private:
  struct Level {
    bool map, key;  // key: the next node is one
  };

  // libyaml's time grows with the square of the depth.
  std::string enter(Level level) {
    levels_.push_back(level);
    return levels_.size() > kMaxNesting
               ? "it is nested deeper than " + std::to_string(kMaxNesting) + " levels"
               : "";
  }

  std::string begin(const yaml_char_t* anchor, const yaml_char_t* tag, bool collection, bool merge) {
    if (!known_tag(text_of(tag))) return "the tag `" + std::string(text_of(tag)) + "` is not known";
    if (anchor) {
      std::string name(text_of(anchor));
      anchors_.insert(name);
      if (collection) anchors_of_collections_.insert(name);
    }
    return node(collection, merge);
  }

  std::string node(bool collection, bool merge) {
    bool was_merge = merge_;
    merge_ = false;
    if (levels_.empty() || !levels_.back().map) return {};
    bool key = levels_.back().key;
    levels_.back().key = !key;
    if (key && collection)
      return "a map or a list cannot be a key (a value that begins with `{{` needs quotes)";
    if (!key && was_merge && !collection) return "`<<` takes a map";
    merge_ = key && merge;
    return {};
  }

  std::vector<Level> levels_;
  std::set<std::string> anchors_, anchors_of_collections_;
  int documents_ = 0;
  bool merge_ = false;
};

// Owns libyaml's parser and its current event.
struct Parser {
  yaml_parser_t parser;
  yaml_event_t event;
  bool have_event = false;

  explicit Parser(std::string_view text) {
    yaml_parser_initialize(&parser);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Parser() {
    drop();
    yaml_parser_delete(&parser);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  void drop() {
    if (have_event) yaml_event_delete(&event);
    have_event = false;
  }
  bool next() {
    drop();
    have_event = yaml_parser_parse(&parser, &event) != 0;
    return have_event;
  }
};

size_t byte_of(std::string_view text, const yaml_mark_t& mark) {
  size_t at = 0;
  for (size_t line = 0; line < mark.line; ++line) {
    size_t newline = text.find('\n', at);
    if (newline == std::string_view::npos) return text.size();
    at = newline + 1;
  }
  return std::min(at + mark.column, text.size());
}

}  // namespace

std::optional<YamlFault> yaml_fault(std::string_view text) {
  if (text.starts_with("$ANSIBLE_VAULT")) return std::nullopt;
  Parser yaml(text);
  Loader loader;
  for (;;) {
    if (!yaml.next()) {
      std::string message = yaml.parser.problem ? yaml.parser.problem : "it cannot be read";
      return YamlFault{byte_of(text, yaml.parser.problem_mark), message};
    }
    std::string fault = loader.take(yaml.event);
    if (!fault.empty()) return YamlFault{byte_of(text, yaml.event.start_mark), fault};
    if (yaml.event.type == YAML_STREAM_END_EVENT) return std::nullopt;
  }
}

}  // namespace radl::sema
