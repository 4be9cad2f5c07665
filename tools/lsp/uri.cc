#include "tools/lsp/uri.h"

#include "common/http/url.h"

namespace radl::lsp {

std::optional<std::string> path_of_uri(std::string_view uri) {
  constexpr std::string_view kScheme = "file:";
  if (uri.substr(0, kScheme.size()) != kScheme) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  if (uri.substr(0, 2) == "//") {
    uri.remove_prefix(2);
    size_t slash = uri.find('/');
    std::string_view host = uri.substr(0, slash);
    if (slash == std::string_view::npos || !(host.empty() || host == "localhost")) return std::nullopt;
    uri.remove_prefix(slash);
  }
  uri = uri.substr(0, uri.find_first_of("?#"));
  const Result<std::string> decoded = http::percent_decode(uri);
  const std::string path = decoded.ok() ? *decoded : std::string(uri);  // an editor that encodes nothing
  if (path.empty() || path[0] != '/' || path.find('\0') != std::string::npos) return std::nullopt;
  return path;
}

std::string uri_of_path(std::string_view path) { return "file://" + http::percent_encode(path, true); }

}  // namespace radl::lsp
