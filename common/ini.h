// INI files as the command line tools of clouds keep them: ~/.aws/config, gcloud's and az's configurations
// (Python's configparser).
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
  int line = 0;      // of its header
  // By name in lower case; those of a nested block as "s3.addressing_style".
  std::map<std::string, IniSetting> settings;
};

// The sections in the order of the file, also those that it names twice. '#' and ';' begin a comment at the
// start of a line and after a blank. A line that is indented further than the setting above it belongs to
// that setting: it continues its value, or is a setting of its own if that has no value.
// Invalid with file and line: a setting before the first section, a line without '=' or ':', a header without
// ']', an empty name. The text of a line is never in an error: it may be a secret.
Result<std::vector<IniSection>> parse_ini(std::string_view text, const std::string& file);

// The value that counts, of the last section of that name that has the setting; "" if there is none.
std::string ini_value(const std::vector<IniSection>& sections, const std::string& section,
                      const std::string& name);

}  // namespace radl
