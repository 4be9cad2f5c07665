// What is no part of a folder that a user sends to nodes: what radlc itself writes there, and caches.
#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "common/ignore_rules.h"

namespace radl {

inline constexpr std::string_view kStateFolder = ".radl";
// Others' own, which they write at any time: trying a program out here, or `git status`, must not make it
// another one.
inline constexpr std::string_view kCaches[] = {"__pycache__", ".git"};
inline constexpr std::string_view kResultsMark = ".radl-results";  // a file in a folder of results
inline constexpr std::string_view kIgnoreFile = ".radlignore";     // a file at the top of a program's source

// What a user's folder is taken to hold.
enum class Holding {
  All,      // but for states, which change while it is sent
  Sources,  // and but for folders of results, which would make each run another program's, and caches
};

// And what its user leaves out of it.
struct Contents {
  Holding holding = Holding::All;
  IgnoreRules ignored = {};
};

// Whether it holds the state of an infrastructure (docs/state.md), wherever `--state` has put it. The
// database is not opened for that: closing it again would drop the locks that this process has on it.
inline bool is_state(const std::filesystem::path& folder) {
  std::error_code error;
  for (const char* name : {"state.db", "id", "lock"}) {
    if (!std::filesystem::is_regular_file(folder / name, error)) return false;
  }
  return true;
}

// For a folder inside it that is not a link.
inline bool is_left_out(const std::filesystem::path& folder, Holding holding) {
  if (folder.filename() == kStateFolder || is_state(folder)) return true;
  if (holding == Holding::All) return false;
  std::error_code error;
  return std::ranges::find(kCaches, folder.filename().native()) != std::end(kCaches) ||
         std::filesystem::exists(folder / kResultsMark, error);
}

// Of what is inside, in a walk from the top that does not enter what is no part: whether it is none for one
// of these reasons. `relative`: to the folder.
enum class Belongs { Yes, Never, Ignored };
inline Belongs belongs(const std::filesystem::directory_entry& entry, const std::string& relative,
                       const Contents& contents) {
  const bool folder = !entry.is_symlink() && entry.is_directory();
  if (folder && is_left_out(entry.path(), contents.holding)) return Belongs::Never;
  if (contents.holding == Holding::Sources && relative == kIgnoreFile) return Belongs::Never;
  return contents.ignored.leaves_out_within(relative, folder) ? Belongs::Ignored : Belongs::Yes;
}

}  // namespace radl
