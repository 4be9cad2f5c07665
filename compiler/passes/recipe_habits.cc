#include "compiler/passes/recipe_habits.h"

#include <fmt/format.h>

#include <utility>

namespace radl {

std::string_view resource_type_called(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kCalled[] = {
      {"apt", "package"},   {"yum", "package"},   {"dnf", "package"},     {"packages", "package"},
      {"run", "command"},   {"shell", "command"}, {"exec", "command"},    {"script", "command"},
      {"copy", "upload"},   {"template", "file"}, {"systemd", "service"}, {"folder", "directory"},
      {"dir", "directory"}, {"setup", "command"}};
  for (const auto& [other, here] : kCalled)
    if (other == type) return here;
  return {};
}

std::string help_for_name_property(std::string_view type, std::string_view property) {
  struct Named {
    std::string_view type, subject, properties, example;
  };
  constexpr std::string_view kPath = " path dest dst destination name target ";
  constexpr Named kNamed[] = {
      {"command", "the command", " run cmd command script line ", "command 'make install' ( ... )"},
      {"package", "the package", " packages package name names pkg ", "package 'git'"},
      {"service", "the service", " service name unit ", "service 'nginx' ( ... )"},
      {"user", "the login", " user name username login ", "user 'ada' ( ... )"},
      {"file", "the path", kPath, "file '/etc/motd' ( ... )"},
      {"directory", "the path", kPath, "directory '/srv/data' ( ... )"},
      {"download", "the path", kPath, "download '/opt/tool' ( ... )"},
      {"upload", "the path", kPath, "upload '~/code' ( ... )"},
      {"mount", "the mount point", kPath, "mount '/data' ( ... )"}};
  for (const Named& one : kNamed) {
    if (one.type == type && one.properties.find(fmt::format(" {} ", property)) != one.properties.npos)
      return fmt::format("{} is the resource's name: `{}`", one.subject, one.example);
  }
  constexpr std::pair<std::string_view, std::string_view> kOfAnsible[] = {
      {"become", "leave it out: everything runs as root if the login has sudo"},
      {"sudo", "leave it out: everything runs as root if the login has sudo"},
      {"loop", "`each` repeats a resource: `each name in ['git', 'vim'] ( package name )`"},
      {"with_items", "`each` repeats a resource: `each name in ['git', 'vim'] ( package name )`"},
      {"notify",
       "a service restarts after a change of the resources before it: `service 'nginx' ( restart = yes )`"}};
  for (const auto& [other, help] : kOfAnsible)
    if (other == property) return std::string(help);
  return {};
}

}  // namespace radl
