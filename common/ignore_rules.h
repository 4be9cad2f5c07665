// Patterns that exclude files of a folder, in the syntax of git's .gitignore. Pure: reads no files.
//
// docs/programs.md, "What radlc sends", explains the patterns. Excluding a folder excludes everything below
// it: as in git, no later `!` includes it again.
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
  // The last matching pattern decides. Invalid: a pattern that could match nothing; the error quotes it.
  static Result<IgnoreRules> of(const std::vector<std::string>& patterns);

  bool empty() const { return rules_.empty(); }
  // `path` is relative to the folder, with '/' as separator.
  bool leaves_out(std::string_view path, bool is_folder) const;
  // Same for a top-down walk that never enters excluded folders: does not check the parent
  // folders.
  bool leaves_out_within(std::string_view path, bool is_folder) const;

 private:
  // One element of a compiled pattern.
  struct Piece {
    enum class Kind {
      Byte,     // `byte`
      Any,      // any byte except '/'
      OneOf,    // one byte of `set`
      Name,     // any bytes except '/': *
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

// The patterns in an ignore file, without comments and empty lines.
std::vector<std::string> ignore_patterns_in(std::string_view text);

}  // namespace radl
