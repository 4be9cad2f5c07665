// Whether a recipe is the YAML that PyYAML's safe loader takes. libyaml is the same scanner and parser in C.
// Checked here is what PyYAML's own scanner refuses beyond it (tabs between words, `?` in a word inside of
// brackets) and what its loader does: one document, known tags and values that fit them, no collections as
// keys, no alias without its anchor, no duplicate anchor, dates that exist.
#include <yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <vector>

#include "common/shorten.h"
#include "common/text.h"
#include "compiler/compat/yaml/yaml_fault.h"

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

bool digits(std::string_view text, std::string_view which = "0123456789") {
  return !text.empty() && text.find_first_not_of(which) == text.npos;
}

// An integer as PyYAML writes it: sign, `_` anywhere, 0b, 0x, 0 for octal, 1:30.
bool whole_number(std::string_view given) {
  std::string text;
  for (char c : given)
    if (c != '_') text += c;
  std::string_view rest = text;
  if (rest.starts_with("-") || rest.starts_with("+")) rest.remove_prefix(1);
  if (rest == "0") return true;
  if (rest.starts_with("0b")) return digits(rest.substr(2), "01");
  if (rest.starts_with("0x")) return digits(rest.substr(2), "0123456789abcdefABCDEF");
  if (rest.starts_with("0")) return digits(rest, "01234567");
  std::string parts(rest);
  std::replace(parts.begin(), parts.end(), ':', '0');
  return digits(parts) && !rest.starts_with(":") && !rest.ends_with(":") && rest.find("::") == rest.npos;
}

// The value of a scalar that bears one of YAML's own tags; "" when it fits.
std::string misfit(std::string_view tag, std::string_view value) {
  std::string lower = to_lower(value);
  bool wrong = false;
  if (tag == "int") {
    wrong = !whole_number(value);
  } else if (tag == "float") {
    std::string text;
    for (char c : lower)
      if (c != '_') text += c;
    std::string_view rest = text;
    if (rest.starts_with("-") || rest.starts_with("+")) rest.remove_prefix(1);
    double number = 0;
    auto end = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    wrong = rest != ".inf" && rest != ".nan" && rest.find(':') == rest.npos &&
            (end.ec == std::errc::invalid_argument || end.ptr != rest.data() + rest.size());
  } else if (tag == "bool") {
    static constexpr std::array<std::string_view, 6> kWords = {"yes", "no", "true", "false", "on", "off"};
    wrong = std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
  } else if (tag == "timestamp") {
    wrong = value.size() < 8 || !digits(value.substr(0, 4)) || value[4] != '-';
  } else if (tag == "binary") {
    size_t sixes = 0;
    for (char c : value) sixes += std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '/';
    wrong = (sixes + static_cast<size_t>(std::count(value.begin(), value.end(), '='))) % 4 != 0;
  } else if (tag == "value") {
    wrong = true;
  }
  return wrong ? "`" + shorten(value, 40) + "` does not fit its tag `!!" + std::string(tag) + "`" : "";
}

// What PyYAML takes for a number although nothing is left of it. (`=` and `<<` have a type there, but no
// value.)
bool no_value(std::string_view text) {
  if (text.starts_with("-") || text.starts_with("+")) text.remove_prefix(1);
  return (text.starts_with("0x") || text.starts_with("0b")) && digits(text.substr(2), "_");
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
        bool collection = anchors_of_collections_.contains(name);
        return node(collection, false, collection);
      }
      case YAML_SCALAR_EVENT: {
        const auto& scalar = event.data.scalar;
        std::string_view value(reinterpret_cast<const char*>(scalar.value), scalar.length);
        bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE && !scalar.tag;
        if (plain && impossible_date(value)) return "there is no such day";
        bool key = !levels_.empty() && levels_.back().map && levels_.back().key;
        if (plain && !key && (no_value(value) || value == "=" || value == "<<"))
          return "`" + std::string(value) + "` has no value: put it in quotes";
        // Inside brackets PyYAML ends a word at `?`, and then finds no comma.
        if (scalar.style == YAML_PLAIN_SCALAR_STYLE && flow() && value.find('?') != value.npos)
          return "a string with `?` inside of brackets needs quotes";
        std::string_view tag = text_of(scalar.tag);
        constexpr std::string_view kStandard = "tag:yaml.org,2002:";
        std::string fault = tag.starts_with(kStandard) ? misfit(tag.substr(kStandard.size()), value) : "";
        return fault.empty() ? begin(scalar.anchor, scalar.tag, false, plain && value == "<<") : fault;
      }
      case YAML_SEQUENCE_START_EVENT: {
        std::string fault =
            begin(event.data.sequence_start.anchor, event.data.sequence_start.tag, true, false);
        bool brackets = event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        return fault.empty() ? enter({false, false, flow() || brackets, merges_}) : fault;
      }
      case YAML_MAPPING_START_EVENT: {
        std::string fault = begin(event.data.mapping_start.anchor, event.data.mapping_start.tag, true, false);
        bool brackets = event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        return fault.empty() ? enter({true, true, flow() || brackets, false}) : fault;
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
    bool flow;      // inside brackets
    bool merged;    // the list behind `<<`, of maps
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
      if (!anchors_.insert(name).second) return "the anchor `&" + name + "` is a duplicate";
      if (collection) anchors_of_collections_.insert(name);
    }
    return node(collection, merge, collection);
  }

  bool flow() const { return !levels_.empty() && levels_.back().flow; }

  std::string node(bool collection, bool merge, bool map) {
    bool was_merge = merge_;
    merge_ = merges_ = false;
    if (!levels_.empty() && levels_.back().merged && !map) return "`<<` takes a map, or a list of maps";
    if (levels_.empty() || !levels_.back().map) return {};
    bool key = levels_.back().key;
    levels_.back().key = !key;
    if (key && collection)
      return "a map or a list cannot be a key (a value that begins with `{{` needs quotes)";
    if (!key && was_merge && !collection) return "`<<` takes a map";
    merge_ = key && merge;
    merges_ = !key && was_merge;
    return {};
  }

  std::vector<Level> levels_;
  std::set<std::string> anchors_, anchors_of_collections_;
  int documents_ = 0;
  bool merge_ = false;   // the last key was `<<`
  bool merges_ = false;  // the node that just began is its value
};

// Tabs outside of quotes, block scalars (`|`, `>`) and comments: PyYAML rejects each of them.
class Tabs {
 public:
  explicit Tabs(std::string_view text) : text_(text), any_(text.find('\t') != text.npos) {}

  // The offset of the first one before the end of this event; npos when there is none.
  size_t take(const yaml_event_t& event) {
    if (!any_) return std::string_view::npos;
    size_t begin = byte_at(event.start_mark.index);
    if (size_t tab = between(begin); tab != text_.npos) return tab;
    if (event.type != YAML_SCALAR_EVENT) return text_.npos;
    size_t end = byte_at(event.end_mark.index);
    from_ = std::max(from_, end);
    if (event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return text_.npos;
    size_t tab = text_.substr(begin, end - begin).find('\t');
    return tab == text_.npos ? tab : begin + tab;
  }

 private:
  size_t between(size_t end) {
    for (; from_ < end; ++from_) {
      if (text_[from_] == '\t') return from_;
      if (text_[from_] == '#') from_ = std::min(text_.find('\n', from_), end) - 1;
    }
    return text_.npos;
  }

  // libyaml counts characters.
  size_t byte_at(size_t index) {
    for (; index_ < index && byte_ < text_.size(); ++index_) do
        ++byte_;
      while (byte_ < text_.size() && (text_[byte_] & 0xC0) == 0x80);
    return byte_;
  }

  std::string_view text_;
  bool any_;
  size_t from_ = 0, byte_ = 0, index_ = 0;
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

// Translates libyaml's message about the place `at` for authors of recipes.
std::string in_words(std::string_view problem, std::string_view text, size_t at) {
  size_t newline = text.substr(0, at).rfind('\n');
  std::string_view before = text.substr(0, at);
  if (newline != text.npos) before.remove_prefix(newline + 1);
  bool first = trim(before).empty();
  char here = at < text.size() ? text[at] : '\0';
  if (problem.starts_with("mapping values"))
    return before.find(": ") != before.npos ? "a string that holds `: ` needs quotes"
                                            : "no `:` is expected here: does the line before lack its own, "
                                              "or is this one indented too far?";
  if (here == '\t' || problem.starts_with("found a tab"))
    return "YAML is indented with spaces, not with tabs";
  if (problem.starts_with("found character that cannot start")) {
    if (text.substr(at).starts_with("@end")) return "`@end` must be at the start of its line";
    return "a string that begins with `" + std::string(1, here) + "` needs quotes";
  }
  if (problem == "did not find expected key" && first && here == '-')
    return "`-` begins a list where the next key of a map is expected";
  if (problem == "did not find expected key" && first) return "this line is indented like none before it";
  if (problem == "did not find expected key" && (before.ends_with('\'') || before.ends_with('"')))
    return "the text in quotes ends before this";
  if (problem == "did not find expected '-' indicator")
    return "in a list, each element begins with `-`, all in one column";
  if (problem.starts_with("block sequence entries"))
    return "no `-` is expected here: is the indentation right?";
  if (problem == "did not find expected ',' or ']'") return "`,` or `]` is missing before this";
  if (problem == "did not find expected ',' or '}'") return "`,` or `}` is missing before this";
  if (problem == "found unexpected end of stream") return "this string in quotes is never closed";
  if (problem == "could not find expected ':'") return "`:` is missing behind this";
  if (problem == "found unknown escape character")
    return "`\\` begins an escape in double quotes, and this is not a valid one: use single quotes";
  return std::string(problem);
}

}  // namespace

std::optional<YamlFault> yaml_fault(std::string_view text) {
  if (text.starts_with("$ANSIBLE_VAULT")) return std::nullopt;
  Parser yaml(text);
  Loader loader;
  Tabs tabs(text);
  for (;;) {
    if (!yaml.next()) {
      std::string_view problem = yaml.parser.problem ? yaml.parser.problem : "it cannot be read";
      // Where it began, not where it was missed.
      bool begun = problem == "found unexpected end of stream" || problem == "could not find expected ':'";
      size_t at = byte_of(text, begun ? yaml.parser.context_mark : yaml.parser.problem_mark);
      return YamlFault{at, in_words(problem, text, at)};
    }
    if (size_t tab = tabs.take(yaml.event); tab != text.npos)
      return YamlFault{
          tab, "a tab is not allowed here, only spaces: between words, or in a string without quotes"};
    std::string fault = loader.take(yaml.event);
    if (!fault.empty()) return YamlFault{byte_of(text, yaml.event.start_mark), fault};
    if (yaml.event.type == YAML_STREAM_END_EVENT) return std::nullopt;
  }
}

}  // namespace radl::sema
