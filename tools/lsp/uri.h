// file:// URIs and paths (RFC 8089, RFC 3986 percent-encoding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace radl::lsp {

// "/a b" for "file:///a%20b"; nullopt for another scheme or a remote host.
std::optional<std::string> path_of_uri(std::string_view uri);
// "file:///a%20b" for "/a b". The path should be absolute.
std::string uri_of_path(std::string_view path);

}  // namespace radl::lsp
