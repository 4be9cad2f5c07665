#include "common/aws/profiles.h"

#include "common/text.h"

namespace radl::aws {
namespace {

// "profile x"; "" for a section of a kind that is not ours.
std::string key_of(std::string_view name, FileKind kind) {
  if (kind == FileKind::Credentials) return "profile " + std::string(name);
  if (name == "default") return "profile default";
  const size_t space = name.find_first_of(" \t");
  if (space == std::string_view::npos) return {};
  std::string_view rest = trim(name.substr(space));
  if (rest.size() >= 2 && (rest[0] == '"' || rest[0] == '\'') && rest.back() == rest[0])
    rest = rest.substr(1, rest.size() - 2);
  return std::string(name.substr(0, space)) + " " + std::string(rest);
}

}  // namespace

std::string Section::get(const std::string& name) const {
  const auto at = settings.find(name);
  return at == settings.end() ? "" : at->second.value;
}

std::string Section::place(const std::string& name) const {
  const auto at = settings.find(name);
  return file + ":" + std::to_string(at == settings.end() ? line : at->second.line);
}

Result<Sections> parse_profiles(std::string_view text, const std::string& file, FileKind kind) {
  auto read = parse_ini(text, file);
  if (!read.ok()) return read.status();
  Sections sections;
  bool prefixed_default = false;
  for (IniSection& one : *read) {
    const std::string key = key_of(one.name, kind);
    if (key.empty()) continue;
    // [profile default] counts more than [default], as in AWS's own tools.
    const bool plain = one.name == "default" && kind == FileKind::Config;
    if (plain && prefixed_default) continue;
    if (key == "profile default" && !plain && kind == FileKind::Config) {
      if (!prefixed_default) sections.erase(key);
      prefixed_default = true;
    }
    Section& section = sections[key];
    if (section.line == 0) section.file = file, section.line = one.line;
    for (auto& [name, setting] : one.settings) section.settings[name] = std::move(setting);
  }
  return sections;
}

}  // namespace radl::aws
