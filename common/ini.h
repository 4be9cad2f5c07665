// INI files of cloud command-line tools: ~/.aws/config, and the configurations of gcloud and az (Python's
// configparser).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl {

struct IniSetting {
  std::string value;
  int line = 0;
};

struct IniSection {
  std::string name;  // between the brackets
  int line = 0;      // line of the header
  // By lower-case name. A setting of a nested block is named like "s3.addressing_style".
  std::map<std::string, IniSetting> settings;
};

// Returns the sections in file order, including repeated ones. '#' and ';' begin a comment at the start of a
// line or after a blank. A line indented further than the setting above belongs to that setting: it continues
// the value, or is a nested setting if there is no value. Invalid, with file and line: a setting before the
// first section, a line without '=' or ':', a header without ']', or an empty name. Errors never quote a
// line, which may hold a secret.
Result<std::vector<IniSection>> parse_ini(std::string_view text, const std::string& file);

// The value from the last section of that name that has the setting; "" if there is none.
std::string ini_value(const std::vector<IniSection>& sections, const std::string& section,
                      const std::string& name);

}  // namespace radl
