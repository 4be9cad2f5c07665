#include "runtime/serve/hidden_paths.h"

#include <filesystem>
#include <string_view>

namespace radl::serve {
namespace {

// Where a path ends in a text, or its parts do.
constexpr std::string_view kEnds = "/\"'`\\ \t\n,;:()<>";

// How many bytes after the folder the client does not know: "/workspaces/ID/files/".
size_t hidden_after(std::string_view rest) {
  for (const std::string_view kind : {"/workspaces/", "/infrastructures/", "/programs/"}) {
    if (!rest.starts_with(kind)) continue;
    const size_t end = rest.find_first_of(kEnds, kind.size());
    if (end == rest.npos || rest[end] != '/') return kind.size();  // its ID alone
    return rest.substr(end).starts_with("/files/") ? end + 7 : end + 1;
  }
  return rest.starts_with('/') ? 1 : 0;
}

}  // namespace

HiddenPaths::HiddenPaths(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const fs::path& form :
       {fs::absolute(folder, error).lexically_normal(), fs::canonical(folder, error), fs::path(folder)}) {
    std::string text = form.string();
    while (text.ends_with('/')) text.pop_back();
    if (text.size() > 1) folders_.push_back(std::move(text));
  }
}

std::string HiddenPaths::hide(std::string text) const {
  for (const std::string& folder : folders_)
    for (size_t at = 0; (at = text.find(folder, at)) != text.npos;) {
      const size_t end = at + folder.size();
      // "/srv/radlc2" is not below "/srv/radlc".
      if (end < text.size() && kEnds.find(text[end]) == kEnds.npos) {
        at = end;
        continue;
      }
      text.erase(at, folder.size() + hidden_after(std::string_view(text).substr(end)));
    }
  return text;
}

}  // namespace radl::serve
