// Patterns that leave files out of a folder, in the form of git's .gitignore. Pure: nothing is read.
//
// docs/programs.md, "What is brought", says what a pattern means. Where a folder is left out, all below it
// is: no later `!` takes that back, as with git.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl {

class IgnoreRules {
 public:
  IgnoreRules() = default;
  // Of several patterns that match, the last decides. Invalid: one that could match nothing, with its text.
  static Result<IgnoreRules> of(const std::vector<std::string>& patterns);

  bool empty() const { return rules_.empty(); }
  // `path` is relative to the folder, with '/' between its parts.
  bool leaves_out(std::string_view path, bool is_folder) const;
  // The same for a walk from the top, which does not enter what is left out: the folders above are not looked
  // at.
  bool leaves_out_within(std::string_view path, bool is_folder) const;

 private:
  // What one part of a pattern matches.
  struct Piece {
    enum class Kind {
      Byte,     // `byte`
      Any,      // one byte but '/'
      OneOf,    // one byte of `set`
      Name,     // any bytes but '/': *
      Path,     // any bytes: ** at an end
      Folders,  // nothing, or any bytes and '/': **/
    } kind;
    char byte = 0;
    std::bitset<256> set = {};
  };
  struct Rule {
    std::vector<Piece> pieces;
    bool back = false;          // !
    bool folders_only = false;  // ends in '/'
    bool name_only = false;     // no '/' in it: of a file's name, at any depth
  };
  static Result<Rule> parse(std::string_view pattern);
  static Status parse_set(std::string_view pattern, size_t& at, Piece& piece);
  static bool matches(const std::vector<Piece>& pieces, std::string_view text);

  std::vector<Rule> rules_;
};

// The patterns of a file's text: without comments and empty lines.
std::vector<std::string> ignore_patterns_in(std::string_view text);

}  // namespace radl
