#include "runtime/steps/native/looking.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

namespace radl::native {

std::string look_text(size_t index, const std::string& look) {
  // A subshell that is not part of a list, where errexit would be ignored.
  return fmt::format("I={}\n( set -e\n{}) </dev/null\nr=$?\n", index, look);
}

Result<std::string> look_script(const std::vector<Item>& items, const std::vector<const Kind*>& kinds,
                                size_t& first) {
  const std::string fails = "[ $r = 0 ] || { say failed $r; exit 1; }\n";
  std::string paths, path_by_path, others;
  for (; first < items.size(); ++first) {
    auto path = kinds[first]->path_look(items[first]);
    if (!path) return path.status();
    auto look = kinds[first]->look(items[first]);
    if (!look) return look;
    (*path ? path_by_path : others) += look_text(first, *look) + fails;
    if (*path)
      paths += fmt::format(" \\\n{} {} {}", first, (*path)->wanted.empty() ? "''" : (*path)->wanted,
                           (*path)->path);
  }
  if (paths.empty()) return others;
  return fmt::format("if look_paths{}\nthen :\nelse\n{}fi </dev/null\n{}", paths, path_by_path, others);
}

void Looked::begin(size_t first) {
  for (size_t i = first; i < seen.size(); ++i) {
    seen[i].clear();
    lines[i].clear();
  }
}

bool Looked::read(const std::string& text, const std::string& mark, std::vector<std::string>& facts) {
  bool begun = false, ended = false;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line) && !ended;) {
    begun |= line == "begin " + mark;
    ended |= line == "end " + mark;
    std::vector<std::string> parts;
    std::istringstream in(line);
    for (std::string part; std::getline(in, part, '\t');) parts.push_back(part);
    if (parts.size() == 5 && parts[0] == "facts") {
      facts = std::move(parts);
      continue;
    }
    const size_t index = parts.size() < 2 ? seen.size() : std::strtoul(parts[0].c_str(), nullptr, 10);
    if (index >= seen.size()) continue;
    seen[index][parts[1]] = parts.size() > 2 ? parts[2] : "";
    lines[index] += (lines[index].empty() ? "" : "\n") + line;
  }
  return begun && ended;
}

}  // namespace radl::native
