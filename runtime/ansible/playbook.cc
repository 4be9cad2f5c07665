#include "runtime/ansible/playbook.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "common/user_text.h"
#include "common/yaml_document.h"

namespace radl::recipes {
namespace {

struct Insertion {
  size_t at;       // offset in the recipe
  size_t replace;  // bytes that it replaces
  std::string text;
};

// A text without a byte order mark, with \n at the end of each line.
std::string normal(const std::string& recipe) {
  const std::string_view text = without_mark(recipe);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i];
  }
  return out;
}

Status fault_at(size_t line, size_t column, const std::string& what) {
  return {Code::Invalid, fmt::format("line {}, column {} of the recipe: {}", line, column, what)};
}
Status fault_at(const YamlNode& node, const std::string& what) {
  const YamlNode::Place place = node.begin();
  return fault_at(place.line, place.column, what);
}

// What a value on one line covers, from its first byte to the end of the line or a comment.
size_t value_length(const std::string& text, size_t begin) {
  size_t end = text.find('\n', begin);
  if (end == std::string::npos) end = text.size();
  size_t comment = text.find(" #", begin);
  if (comment < end) end = comment;
  return end - begin;
}

Status edit_play(const std::string& text, const YamlNode& play, const Header& header,
                 std::vector<Insertion>& edits) {
  if (!play.is_map()) return fault_at(play, "a play must be a map");
  std::vector<std::string> lines;
  bool has_hosts = false, has_become = false, has_facts = false;
  for (const auto& [name, value] : play.entries()) {
    const std::string key = name.text();
    if (key == "import_playbook" || key == "include") return {};  // brings its own plays
    has_become |= key == "become";
    has_facts |= key == "gather_facts";
    if (key != "hosts") continue;
    has_hosts = true;
    const size_t begin = value.begin().offset;
    if (value.is_scalar() && !value.is_null() && !play.flow()) {
      edits.push_back({begin, value_length(text, begin), "\"" + header.host + "\""});
    } else if (value.is_list() && value.flow()) {
      edits.push_back({begin, value.end().offset - begin, "\"" + header.host + "\""});
    } else {
      return fault_at(value, "`hosts` must be a string or a list in brackets (it is replaced by the node)");
    }
  }
  if (!has_hosts) lines.push_back("hosts: \"" + header.host + "\"");
  if (!has_become && header.become) lines.push_back("become: true");
  if (!has_facts) lines.push_back("gather_facts: false");
  const YamlNode::Place begin = play.begin();
  const size_t at = begin.offset;
  std::string insert;
  const bool flow = play.flow();
  for (const auto& line : lines) insert += line + (flow ? ", " : "\n" + std::string(begin.column - 1, ' '));
  edits.push_back({flow ? at + 1 : at, 0, insert});
  return {};
}

}  // namespace

Result<std::string> make_playbook(const std::string& recipe, const Header& header) {
  std::string text = normal(recipe);
  YamlDocument document;
  YamlFault fault;
  if (!document.load(text, fault)) return fault_at(fault.line, fault.column, "not YAML: " + fault.problem);
  const YamlNode plays = document.root();
  if (!plays.is_list()) return fault_at(plays, "a recipe must be a list of plays");
  std::vector<Insertion> edits;
  for (const YamlNode& play : plays.items()) {
    if (Status s = edit_play(text, play, header, edits); !s.ok()) return s;
  }
  std::sort(edits.begin(), edits.end(), [](const auto& a, const auto& b) { return a.at > b.at; });
  for (const auto& edit : edits) text.replace(edit.at, edit.replace, edit.text);
  return text.ends_with('\n') ? text : text + "\n";
}

namespace {

// The end of hostvars[...], which begins with its bracket at `at`; 0 where it does not end soon.
size_t after_index(std::string_view text, size_t at) {
  int depth = 0;
  for (const size_t limit = std::min(text.size(), at + 500); at < limit; ++at) {
    depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return 0;
}

// What the inventory itself says of a host, as in hostvars[groups['x'][0]]['IM_NODE_PRIVATE_IP'].
bool in_inventory(std::string_view variable) {
  variable.remove_prefix(std::min(variable.find_first_not_of(" .['\"\\"), variable.size()));
  for (std::string_view known : {"IM_", "ansible_host", "ansible_port", "ansible_user", "ansible_ssh_"}) {
    if (!variable.starts_with(known)) continue;
    variable.remove_prefix(known.size());
    return known.ends_with('_') || variable.empty() ||
           !(std::isalnum(static_cast<unsigned char>(variable[0])) || variable[0] == '_');
  }
  return false;
}

// True where a recipe reads more of another host than the inventory says.
bool asks_other_hosts(std::string_view recipe) {
  constexpr std::string_view name = "hostvars";
  for (size_t at = recipe.find(name); at != std::string_view::npos; at = recipe.find(name, at + 1)) {
    const size_t bracket = recipe.find_first_not_of(' ', at + name.size());
    if (bracket == std::string_view::npos || recipe[bracket] != '[') return true;
    const size_t end = after_index(recipe, bracket);
    if (end == 0 || !in_inventory(recipe.substr(end, 100))) return true;
  }
  return false;
}

}  // namespace

bool uses_facts(const std::string& recipe) {
  static const re2::RE2 fact(
      R"(ansible_facts|\bansible_(all_ipv4|architecture|default_ipv4|devices|distribution|dns|domain|env|eth|fqdn|hostname|interfaces|kernel|)"
      R"(lsb|machine|memfree|memtotal|memory|mounts|nodename|os_family|pkg_mgr|processor|product|python|selinux|service_mgr|swap|system|userspace|virtualization|date_time|user_)\w*)");
  return asks_other_hosts(recipe) || re2::RE2::PartialMatch(recipe, fact);
}

}  // namespace radl::recipes
