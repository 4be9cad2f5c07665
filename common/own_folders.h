// Folders that radlc itself writes to, where they lie in a folder that a user sends to nodes.
#pragma once

#include <filesystem>
#include <string_view>

namespace radl {

inline constexpr std::string_view kStateFolder = ".radl";
inline constexpr std::string_view kResultsMark = ".radl-results";  // a file in a folder of results

// What a user's folder is taken to hold.
enum class Holding {
  All,      // but for states, which change while it is sent
  Sources,  // and but for folders of results, which would make each run another program's
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

// Of a folder inside of it, which is no link.
inline bool is_left_out(const std::filesystem::path& folder, Holding holding) {
  if (folder.filename() == kStateFolder || is_state(folder)) return true;
  std::error_code error;
  return holding == Holding::Sources && std::filesystem::exists(folder / kResultsMark, error);
}

}  // namespace radl
