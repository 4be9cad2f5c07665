// Defines what radlc excludes when it sends a user's folder to nodes: its own files, and caches.
#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "common/ignore_rules.h"

namespace radl {

inline constexpr std::string_view kStateFolder = ".radl";
// Caches of other programs, which change at any time. Running a program locally or `git status` must not
// change its digest.
inline constexpr std::string_view kCaches[] = {"__pycache__", ".git"};
inline constexpr std::string_view kResultsMark = ".radl-results";  // marks a folder of results
inline constexpr std::string_view kIgnoreFile = ".radlignore";     // at the top of a program's source

// What kind of content a user's folder has.
enum class Holding {
  All,      // everything but states, which change during the transfer
  Sources,  // also excludes caches, and results, which would change the program's digest at each run
};

// Adds the files that the user excludes.
struct Contents {
  Holding holding = Holding::All;
  IgnoreRules ignored = {};
};

// True if the folder holds an infrastructure's state (docs/state.md), wherever `--state` put it. Does not
// open the database: closing it again would drop this process's locks on it.
inline bool is_state(const std::filesystem::path& folder) {
  std::error_code error;
  for (const char* name : {"state.db", "id", "lock"}) {
    if (!std::filesystem::is_regular_file(folder / name, error)) return false;
  }
  return true;
}

// For a subfolder that is not a link.
inline bool is_left_out(const std::filesystem::path& folder, Holding holding) {
  if (folder.filename() == kStateFolder || is_state(folder)) return true;
  if (holding == Holding::All) return false;
  std::error_code error;
  return std::ranges::find(kCaches, folder.filename().native()) != std::end(kCaches) ||
         std::filesystem::exists(folder / kResultsMark, error);
}

// Classifies an entry in a top-down walk that never enters excluded folders. `relative`: path relative to the
// folder.
enum class Belongs { Yes, Never, Ignored };
inline Belongs belongs(const std::filesystem::directory_entry& entry, const std::string& relative,
                       const Contents& contents) {
  const bool folder = !entry.is_symlink() && entry.is_directory();
  if (folder && is_left_out(entry.path(), contents.holding)) return Belongs::Never;
  if (contents.holding == Holding::Sources && relative == kIgnoreFile) return Belongs::Never;
  return contents.ignored.leaves_out_within(relative, folder) ? Belongs::Ignored : Belongs::Yes;
}

}  // namespace radl
