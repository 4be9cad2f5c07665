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

// Of a folder inside of it, which is no link.
inline bool is_left_out(const std::filesystem::path& folder, Holding holding) {
  if (folder.filename() == kStateFolder) return true;
  std::error_code error;
  return holding == Holding::Sources && std::filesystem::exists(folder / kResultsMark, error);
}

}  // namespace radl
