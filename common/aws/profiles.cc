#include "common/aws/profiles.h"

#include "common/text.h"
#include "common/user_text.h"

namespace radl::aws {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }

// A '#' or ';' after a space begins a comment.
std::string_view without_comment(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if ((text[i] == '#' || text[i] == ';') && is_space(text[i - 1])) return text.substr(0, i);
  }
  return text;
}

class Parser {
 public:
  Parser(const std::string& file, FileKind kind) : file_(file), kind_(kind) {}

  Status line(std::string_view raw) {
    ++number_;
    const std::string_view text = trim(raw);
    if (text.empty() || text[0] == '#' || text[0] == ';') return {};
    if (text[0] == '[') return header(text);
    // As AWS's own tools read them: what is indented further than the setting above it belongs to that, and a
    // section whose settings are all indented is one like others.
    const size_t indent = raw.find_first_not_of(" \t");
    if (!last_.empty() && indent > indent_) return nested(text);
    indent_ = indent;
    return setting(text);
  }
  Sections take() { return std::move(sections_); }

 private:
  Status wrong(const std::string& what) const {
    return invalid(file_ + ":" + std::to_string(number_) + ": " + what);
  }

  Status header(std::string_view text) {
    section_ = nullptr;
    last_.clear();
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return wrong("a section's name needs a \"]\" at its end");
    const std::string_view name = trim(text.substr(1, end - 1));
    if (name.empty()) return wrong("a section without a name");
    started_ = true;
    std::string key = key_of(name);
    if (key.empty()) return {};  // of a kind that is not ours
    // [profile default] counts more than [default], as in AWS's own tools.
    const bool plain = name == "default" && kind_ == FileKind::Config;
    if (plain && prefixed_default_) return {};
    if (key == "profile default" && !plain && kind_ == FileKind::Config) {
      if (!prefixed_default_) sections_.erase(key);
      prefixed_default_ = true;
    }
    section_ = &sections_[key];
    if (section_->line == 0) section_->file = file_, section_->line = number_;
    return {};
  }

  std::string key_of(std::string_view name) const {
    if (kind_ == FileKind::Credentials) return "profile " + std::string(name);
    if (name == "default") return "profile default";
    const size_t space = name.find_first_of(" \t");
    if (space == std::string_view::npos) return {};
    std::string_view rest = trim(name.substr(space));
    if (rest.size() >= 2 && (rest[0] == '"' || rest[0] == '\'') && rest.back() == rest[0])
      rest = rest.substr(1, rest.size() - 2);
    return std::string(name.substr(0, space)) + " " + std::string(rest);
  }

  // The text is never shown where it may be a secret: one without '=' may be a key's second half. `signs`:
  // what may stand between name and value.
  Status split(std::string_view text, const char* signs, std::string& name, std::string& value) const {
    const size_t equals = text.find_first_of(signs);
    if (equals == std::string_view::npos) return wrong("no \"=\": a setting is NAME = VALUE");
    name = to_lower(trim(text.substr(0, equals)));
    if (name.empty()) return wrong("no name before \"=\"");
    value = std::string(trim(without_comment(text.substr(equals + 1))));
    return {};
  }

  Status setting(std::string_view text) {
    if (!started_) return wrong("a setting before the first [section]");
    std::string name, value;
    if (Status s = split(text, "=:", name, value); !s.ok()) return s;
    last_ = name;
    if (section_) section_->settings[name] = {value, number_};
    return {};
  }

  // Below a setting without a value: settings of its own. Below one with a value: it goes on.
  Status nested(std::string_view text) {
    if (!section_) return {};
    Setting& parent = section_->settings[last_];
    if (!parent.value.empty()) {
      parent.value += "\n" + std::string(text);
      return {};
    }
    std::string name, value;
    if (Status s = split(text, "=", name, value); !s.ok()) return s;
    section_->settings[last_ + "." + name] = {value, number_};
    return {};
  }

  const std::string& file_;
  const FileKind kind_;
  int number_ = 0;
  bool started_ = false, prefixed_default_ = false;
  Sections sections_;
  Section* section_ = nullptr;
  std::string last_;   // name of the setting that a line which is indented further belongs to
  size_t indent_ = 0;  // of it
};

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
  text = without_mark(text);
  Parser parser(file, kind);
  for (std::string_view line : split(text, '\n')) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (Status s = parser.line(line); !s.ok()) return s;
  }
  return parser.take();
}

}  // namespace radl::aws
