// The Infrastructure Manager's auth file: credentials, one a line, by id.
//
// A line is `key = value ; key = value`. It is split at ';' and each piece at '=', both outside of '...' and
// "...", whose quotes are dropped; one kind of quote is literal inside the other. A piece that is not exactly
// one key and one value ends the line: what follows it is ignored (reported in `notes`). Spaces around are
// trimmed. The two characters \n in a value are a line break. A value file(PATH) is the file's content,
// command(CMD) the program's output without line breaks, split at spaces and run without a shell. Blank lines
// and lines that begin with '#' do not count. A file that begins with '[' is a JSON list of objects with the
// same keys, taken as they are.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/environment.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl {

struct AuthLine {
  std::string id;    // as given, or the type and its place in the file: "EC20" for the first credential
  std::string type;  // "EC2"; case matters
  int line = 0;
  std::map<std::string, std::string> values;  // the other keys. Secrets: never shown
  // Of values that could not be had (a file that cannot be read): why, by key, without any value.
  std::map<std::string, std::string> missing;
};

struct AuthFile {
  std::string path;
  std::vector<AuthLine> lines;
  std::vector<std::string>
      notes;  // "auth.dat:3: ..." for what was ignored, and for a file that others can read

  // "auth.dat:3: one": how errors name a line of the file.
  std::string place(const AuthLine& line) const;
  // "\"one\" of auth.dat": how users read where a credential comes from.
  std::string origin(const AuthLine& line) const;
  // A value of a line, without spaces around; "": it has none. Auth: it could not be had, and why.
  Result<std::string> value(const AuthLine& line, const std::string& key) const;
  std::vector<const AuthLine*> of_type(std::string_view type) const;
  const AuthLine* find(std::string_view id) const;
};

struct AuthReading {
  std::string name = "auth file";  // in messages
  Stop stop;
  Environment environment;  // of the programs that it names
  // For tests: the content of a file, a program's output.
  std::function<Result<std::string>(const std::string& path)> read;
  std::function<Result<std::string>(const std::vector<std::string>& argv)> run;
};

// Invalid with name and line: an id that is none (a letter, '_' or '.', then letters, digits, '_', '.', '-')
// or stands for two, a line without a type, JSON that is no list of objects. Never with a value.
Result<AuthFile> parse_auth(std::string_view text, const AuthReading& reading);

// The file that --auth, else RADL_AUTH, else IM_AUTH names; nothing where none of them does.
Result<std::optional<AuthFile>> load_auth(const Environment& environment, const std::string& option,
                                          const Stop& stop = {});

// Auth: a value of the line is an address that a service does not open for users whom it does not trust with
// its computer (common/http/closed_address.h). What addresses lead to, redirects and catalogs, the HTTP
// client of a confined user checks with each connection; this reports it at once.
Status check_addresses(const AuthLine& line);

}  // namespace radl
