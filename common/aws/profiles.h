// Strict parser for AWS's shared files ~/.aws/config and ~/.aws/credentials.
// Source: AWS SDKs and Tools Reference Guide, "Shared config and credentials files".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/ini.h"
#include "common/status.h"

namespace radl::aws {

struct Section {
  std::string file;
  int line = 0;  // line of the section's header
  std::map<std::string, IniSetting> settings;

  bool has(const std::string& name) const { return settings.count(name) > 0; }
  std::string get(const std::string& name) const;  // "" if missing
  std::string place(
      const std::string& name) const;  // "/home/u/.aws/config:12": line of the setting, or of the section
};

enum class FileKind { Config, Credentials };

// Sections by kind and name: "profile default", "profile x", "sso-session y", "services z". In a config file,
// only [default] is a profile without the word "profile".
using Sections = std::map<std::string, Section>;

// Errors are those of parse_ini().
Result<Sections> parse_profiles(std::string_view text, const std::string& file, FileKind kind);

}  // namespace radl::aws
