#include "runtime/auth/auth_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "common/files.h"
#include "common/http/closed_address.h"
#include "common/process/process.h"
#include "common/replaced.h"
#include "common/text.h"
#include "common/user_text.h"

namespace radl {
namespace {

// The pieces between separators outside of quotes; a last one of spaces alone does not count.
std::vector<std::string> split_outside_quotes(std::string_view text, char separator, bool keep_quotes) {
  std::vector<std::string> pieces;
  std::string piece;
  char quote = 0;
  for (char c : text) {
    const bool quotes = (c == '\'' || c == '"') && (quote == 0 || quote == c);
    if (quotes) {
      quote = quote == 0 ? c : 0;
      if (keep_quotes) piece.push_back(c);
    } else if (c == separator && quote == 0) {
      pieces.push_back(std::move(piece));
      piece.clear();
    } else {
      piece.push_back(c);
    }
  }
  if (!trim(piece).empty()) pieces.push_back(std::move(piece));
  return pieces;
}

std::string with_line_breaks(std::string text) { return replaced(std::move(text), "\\n", "\n"); }

// The inside of NAME(...), or nothing.
std::optional<std::string> call_of(std::string_view value, std::string_view name) {
  if (!value.starts_with(name) || !value.ends_with(")") || value.size() <= name.size() + 1 ||
      value[name.size()] != '(')
    return std::nullopt;
  return std::string(trim(value.substr(name.size() + 1, value.size() - name.size() - 2)));
}

std::vector<std::string> split_at_spaces(const std::string& text) {
  std::vector<std::string> words;
  for (std::string_view word : split(text, ' ')) {
    if (!trim(word).empty()) words.emplace_back(trim(word));
  }
  return words;
}

Result<std::string> output_of(const std::vector<std::string>& argv, const AuthReading& reading) {
  auto done = run_process(reading.environment, {.argv = argv,
                                                .inherited = kUsersVariables,
                                                .deadline = std::chrono::seconds(60),
                                                .stop = reading.stop});
  if (!done.ok()) return done.status();
  if (done->exit_status != 0)
    return Status(Code::Auth, argv[0] + " failed with exit status " + std::to_string(done->exit_status));
  return std::move(done->out);
}

// Letters beyond ASCII count as such after the first character.
bool is_id(std::string_view text) {
  auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  if (text.empty() || !(letter(text[0]) || text[0] == '_' || text[0] == '.')) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

class Parser {
 public:
  explicit Parser(const AuthReading& reading) : reading_(reading) { file_.path = reading.name; }

  Result<AuthFile> lines(std::string_view text) {
    int number = 0;
    for (std::string_view raw : split(text, '\n')) {
      ++number;
      const std::string_view line = trim(raw);
      if (line.empty() || line[0] == '#') continue;
      AuthLine credential;
      credential.line = number;
      take_line(line, credential);
      if (Status s = add(std::move(credential)); !s.ok()) return s;
    }
    return std::move(file_);
  }

  Result<AuthFile> json(std::string_view text) {
    const auto list = nlohmann::json::parse(text, nullptr, false);
    if (!list.is_array()) return invalid(reading_.name + " begins with \"[\" but is not a JSON list");
    for (size_t i = 0; i < list.size(); ++i) {
      AuthLine credential;
      credential.line = int(i) + 1;
      const std::string where = reading_.name + ": entry " + std::to_string(i + 1);
      if (!list[i].is_object()) return invalid(where + " is not an object");
      for (const auto& [key, value] : list[i].items()) {
        if (value.is_object() || value.is_array())
          return invalid(where + ": \"" + key + "\" is not a string");
        if (!value.is_null())
          credential.values[key] = value.is_string() ? value.get<std::string>() : value.dump();
      }
      if (Status s = add(std::move(credential)); !s.ok()) return s;
    }
    return std::move(file_);
  }

 private:
  std::string place(int line) const { return reading_.name + ":" + std::to_string(line); }

  void take_line(std::string_view line, AuthLine& credential) {
    int number = 0;
    for (const std::string& piece : split_outside_quotes(line, ';', true)) {
      ++number;
      const auto parts = split_outside_quotes(piece, '=', false);
      if (parts.size() != 2) {
        file_.notes.push_back(place(credential.line) + ": piece " + std::to_string(number) +
                              " is not KEY = VALUE" +
                              (parts.size() > 2 ? " (a value with \"=\" must be quoted)" : "") +
                              ": it and the rest of the line are ignored");
        return;
      }
      take(std::string(trim(parts[0])), with_line_breaks(std::string(trim(parts[1]))), credential);
    }
  }

  void take(const std::string& key, const std::string& value, AuthLine& credential) {
    Result<std::string> got = value;
    if (auto path = call_of(value, "file")) {
      got = reading_.read ? reading_.read(*path) : read_file(*path, size_t{1} << 20);
    } else if (auto command = call_of(value, "command")) {
      const auto argv = split_at_spaces(*command);
      if (argv.empty()) {
        got = invalid("command() names no program");
      } else {
        got = reading_.run ? reading_.run(argv) : output_of(argv, reading_);
      }
      if (got.ok()) std::erase_if(*got, [](char c) { return c == '\n' || c == '\r'; });
    }
    if (got.ok())
      credential.values[key] = std::move(*got);
    else
      credential.missing[key] = got.status().message();
  }

  Status add(AuthLine credential) {
    const std::string where = place(credential.line);
    credential.type = extract(credential, "type");
    credential.id = extract(credential, "id");
    if (credential.type.empty()) return invalid(where + ": the credential has no type");
    if (credential.id.empty()) {
      credential.id = credential.type + std::to_string(file_.lines.size());
    } else if (!is_id(credential.id)) {
      return invalid(where +
                     ": the id is not a letter, \"_\" or \".\", followed by letters, digits, \"_\", "
                     "\".\" and \"-\"");
    }
    if (const AuthLine* other = file_.find(credential.id))
      return invalid(where + ": the id \"" + credential.id + "\" is that of line " +
                     std::to_string(other->line) + " as well");
    file_.lines.push_back(std::move(credential));
    return {};
  }

  static std::string extract(AuthLine& credential, const std::string& key) {
    auto node = credential.values.extract(key);
    return node ? std::move(node.mapped()) : "";
  }

  const AuthReading& reading_;
  AuthFile file_;
};

}  // namespace

std::string AuthFile::place(const AuthLine& line) const {
  return path + ":" + std::to_string(line.line) + ": " + line.id;
}

std::string AuthFile::origin(const AuthLine& line) const { return "\"" + line.id + "\" of " + path; }

Result<std::string> AuthFile::value(const AuthLine& line, const std::string& key) const {
  if (auto at = line.missing.find(key); at != line.missing.end())
    return Status(Code::Auth, place(line) + ": " + key + ": " + at->second);
  const auto at = line.values.find(key);
  return at == line.values.end() ? std::string() : std::string(trim(at->second));
}

std::vector<const AuthLine*> AuthFile::of_type(std::string_view type) const {
  std::vector<const AuthLine*> found;
  for (const AuthLine& line : lines) {
    if (line.type == type) found.push_back(&line);
  }
  return found;
}

const AuthLine* AuthFile::find(std::string_view id) const {
  for (const AuthLine& line : lines) {
    if (line.id == id) return &line;
  }
  return nullptr;
}

Result<AuthFile> parse_auth(std::string_view text, const AuthReading& reading) {
  text = without_mark(text);
  Parser parser(reading);
  return trim(text).starts_with("[") ? parser.json(text) : parser.lines(text);
}

Result<std::optional<AuthFile>> load_auth(const Environment& environment, const std::string& option,
                                          const Stop& stop) {
  std::string path = option, from = "--auth";
  for (const char* variable : {"RADL_AUTH", "IM_AUTH"}) {
    if (!path.empty()) break;
    path = environment(variable);
    from = variable;
  }
  if (path.empty()) return std::optional<AuthFile>();
  auto text = read_user_text(path, size_t{16} << 20);
  if (!text.ok()) return Status(text.status()).at(from);
  auto file = parse_auth(*text, {.name = path, .stop = stop, .environment = environment});
  if (!file.ok()) return file.status();
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 077) != 0)
    file->notes.push_back(path + ": others on this computer can read it: chmod 600");
  return std::optional<AuthFile>(std::move(*file));
}

Status check_addresses(const AuthLine& line) {
  for (const auto& [key, value] : line.values) {
    const bool address =
        key == "host" || key == "endpoint" || key.ends_with("_url") || key.ends_with("_host");
    if (!address || trim(value).empty()) continue;
    if (Status open = http::check_open_host(std::string(trim(value))); !open.ok())
      return std::move(open).at(line.id + ": " + key);
  }
  return {};
}

}  // namespace radl
