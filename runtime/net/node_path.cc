#include "runtime/net/node_path.h"

#include "common/shell_quote.h"

namespace radl {

std::string sftp_path(std::string_view path) {
  if (path == "~") return ".";
  if (path.starts_with("~/")) path.remove_prefix(2);
  return path.empty() ? "." : std::string(path);
}

std::string shell_path(std::string_view path) {
  if (path.starts_with('/')) return shell_quote(path);
  std::string below = sftp_path(path);
  return below == "." ? "\"$HOME\"" : "\"$HOME\"/" + shell_quote(below);
}

std::string parent_path(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

}  // namespace radl
