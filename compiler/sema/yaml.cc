// Whether a recipe is the YAML that PyYAML's safe loader takes, by yaml-cpp's events: one document, known
// tags, no collections as keys, no alias before its anchor.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <vector>

#include "compiler/sema/check.h"

namespace radl::sema {
namespace {

using YAML::Mark;

struct Refused {
  Mark mark;
  std::string message;
};

class Strict : public YAML::EventHandler {
 public:
  void OnDocumentStart(const Mark& mark) override {
    if (++documents_ > 1) throw Refused{mark, "a recipe is one document"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const Mark& mark, YAML::anchor_t) override { node(mark, false); }
  void OnAlias(const Mark& mark, YAML::anchor_t) override { node(mark, false); }
  void OnScalar(const Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    check_tag(mark, tag);
    bool key = at_key();
    node(mark, false);
    merge_ = key && value == "<<" && tag == "?";
  }
  void OnSequenceStart(const Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    merge_ = false;
    node(mark, true);
    levels_.push_back({false, false});
  }
  void OnSequenceEnd() override { levels_.pop_back(); }
  void OnMapStart(const Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    merge_ = false;
    node(mark, true);
    levels_.push_back({true, true});
  }
  void OnMapEnd() override { levels_.pop_back(); }

 private:
  struct Level {
    bool map, key;
  };
  bool at_key() const { return !levels_.empty() && levels_.back().map && levels_.back().key; }

  void node(const Mark& mark, bool collection) {
    if (merge_ && !collection && !at_key()) throw Refused{mark, "`<<` takes a map"};
    merge_ = false;
    if (levels_.empty() || !levels_.back().map) return;
    if (levels_.back().key && collection)
      throw Refused{mark, "a map or list cannot be a key (a value that begins with `{{` needs quotes)"};
    levels_.back().key = !levels_.back().key;
  }

  void check_tag(const Mark& mark, const std::string& tag) const {
    constexpr std::string_view kStandard = "tag:yaml.org,2002:";
    if (tag.empty() || tag == "?" || tag == "!") return;
    if (std::string_view(tag).starts_with(kStandard))
      for (std::string_view known : {"str", "int", "float", "bool", "null", "map", "seq", "set", "omap",
                                     "pairs", "binary", "timestamp", "merge", "value"})
        if (std::string_view(tag).substr(kStandard.size()) == known) return;
    throw Refused{mark, "the tag `" + tag + "` is not known"};
  }

  std::vector<Level> levels_;
  int documents_ = 0;
  bool merge_ = false;
};

// yaml-cpp takes some plain scalars that YAML reserves. Looks at the first character of each value on its
// line.
std::optional<YamlFault> reserved_start(std::string_view text) {
  int block_indent = -1;  // of the line that opened a block scalar
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    size_t indent = line.find_first_not_of(' ');
    bool blank = indent == std::string_view::npos;
    if (!blank && block_indent >= 0 && static_cast<int>(indent) > block_indent) {
      begin = end + 1;
      continue;
    }
    if (!blank) {
      block_indent = -1;
      if (line[indent] == '\t' && line.find_first_not_of(" \t") != std::string_view::npos &&
          line[line.find_first_not_of(" \t")] != '#')
        return YamlFault{begin + indent, "a tab cannot indent"};
      size_t at = indent;
      while (line.substr(at).starts_with("- "))
        at = std::min(line.find_first_not_of(' ', at + 1), line.size());
      size_t colon = line.find(": ", at);
      if (at < line.size() && line[at] != '#' && line[at] != '"' && line[at] != '\'' &&
          colon != std::string_view::npos) {
        size_t value = line.find_first_not_of(' ', colon + 1);
        if (value != std::string_view::npos && (line[value] == '@' || line[value] == '`'))
          return YamlFault{begin + value,
                           std::string("a value cannot begin with `") + line[value] + "` without quotes"};
      }
      std::string_view tail = line;
      while (tail.ends_with(' ')) tail.remove_suffix(1);
      for (std::string_view mark : {"|", ">", "|-", ">-", "|+", ">+"})
        if (tail.ends_with(std::string(" ") + std::string(mark))) block_indent = static_cast<int>(indent);
    }
    begin = end + 1;
  }
  return std::nullopt;
}

size_t offset_of(std::string_view text, const Mark& mark) {
  size_t at = 0;
  for (int line = 0; line < mark.line && at < text.size(); ++line)
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return std::min(at + static_cast<size_t>(std::max(mark.column, 0)), text.size());
}

}  // namespace

std::optional<YamlFault> yaml_fault(std::string_view text) {
  size_t start = text.find_first_not_of(" \t\n");  // blank is the empty document
  if (start == std::string_view::npos || text.starts_with("$ANSIBLE_VAULT")) return std::nullopt;
  if (auto fault = reserved_start(text)) return fault;
  std::istringstream input{std::string(text)};
  try {
    YAML::Parser parser(input);
    Strict events;
    while (parser.HandleNextDocument(events)) {
    }
  } catch (const Refused& refused) {
    return YamlFault{offset_of(text, refused.mark), refused.message};
  } catch (const YAML::Exception& error) {
    return YamlFault{offset_of(text, error.mark), error.msg};
  }
  return std::nullopt;
}

}  // namespace radl::sema
