#include "common/ini.h"

#include "common/text.h"
#include "common/user_text.h"

namespace radl {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view without_comment(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if ((text[i] == '#' || text[i] == ';') && is_blank(text[i - 1])) return text.substr(0, i);
  }
  return text;
}

class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file) {}

  Status line(std::string_view raw) {
    ++number_;
    const std::string_view text = trim(raw);
    if (text.empty() || text[0] == '#' || text[0] == ';') return {};
    if (text[0] == '[') return header(text);
    if (sections_.empty()) return wrong("a setting before the first [section]");
    // A section whose settings are all indented is one like others.
    const size_t indent = raw.find_first_not_of(" \t");
    if (!last_.empty() && indent > indent_) return nested(text);
    indent_ = indent;
    return setting(text, "=:", "");
  }
  std::vector<IniSection> take() { return std::move(sections_); }

 private:
  Status wrong(const std::string& what) const {
    return invalid(file_ + ":" + std::to_string(number_) + ": " + what);
  }

  Status header(std::string_view text) {
    last_.clear();
    const size_t end = text.find(']');
    if (end == text.npos) return wrong("a section's name needs a \"]\" at its end");
    const std::string_view name = trim(text.substr(1, end - 1));
    if (name.empty()) return wrong("a section without a name");
    sections_.push_back({std::string(name), number_, {}});
    return {};
  }

  // `signs`: what may separate name and value. `parent`: the setting that it is nested in.
  Status setting(std::string_view text, const char* signs, const std::string& parent) {
    const size_t equals = text.find_first_of(signs);
    if (equals == text.npos) return wrong("no \"=\": a setting is NAME = VALUE");
    const std::string name = to_lower(trim(text.substr(0, equals)));
    if (name.empty()) return wrong("no name before \"=\"");
    if (parent.empty()) last_ = name;
    sections_.back().settings[parent.empty() ? name : parent + "." + name] = {
        std::string(trim(without_comment(text.substr(equals + 1)))), number_};
    return {};
  }

  Status nested(std::string_view text) {
    IniSetting& parent = sections_.back().settings[last_];
    if (parent.value.empty()) return setting(text, "=", last_);
    parent.value += "\n" + std::string(text);
    return {};
  }

  const std::string& file_;
  int number_ = 0;
  std::vector<IniSection> sections_;
  std::string last_;   // name of the setting that a line which is indented further belongs to
  size_t indent_ = 0;  // of it
};

}  // namespace

Result<std::vector<IniSection>> parse_ini(std::string_view text, const std::string& file) {
  Parser parser(file);
  for (std::string_view line : split(without_mark(text), '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (Status s = parser.line(line); !s.ok()) return s;
  }
  return parser.take();
}

std::string ini_value(const std::vector<IniSection>& sections, const std::string& section,
                      const std::string& name) {
  std::string found;
  for (const IniSection& one : sections) {
    auto setting = one.settings.find(name);
    if (one.name == section && setting != one.settings.end()) found = setting->second.value;
  }
  return found;
}

}  // namespace radl
