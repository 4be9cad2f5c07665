#include "common/http/proxy.h"

#include "common/http/url.h"
#include "common/text.h"

namespace radl::http {
namespace {

// "[::1]:8080" -> "::1", "8080"; no port: "".
std::pair<std::string, std::string> split_port(std::string_view entry) {
  const size_t colon = entry.rfind(':');
  const bool bracketed = entry.starts_with('[');
  if (colon == entry.npos || colon + 1 == entry.size() || (bracketed && entry[colon - 1] != ']') ||
      (!bracketed && entry.find(':') != colon) ||
      entry.find_first_not_of("0123456789", colon + 1) != entry.npos)
    return {std::string(entry), ""};
  std::string_view host = entry.substr(0, colon);
  if (bracketed) host = host.substr(1, host.size() - 2);
  return {to_lower(host), std::string(entry.substr(colon + 1))};
}

bool is_below(std::string_view host, std::string_view domain) {
  while (domain.starts_with('*') || domain.starts_with('.')) domain.remove_prefix(1);
  if (domain.empty()) return true;
  if (!host.ends_with(domain)) return false;
  return host.size() == domain.size() || host[host.size() - domain.size() - 1] == '.';
}

}  // namespace

bool needs_no_proxy(const std::string& url, std::string_view no_proxy) {
  if (no_proxy.find(':') == no_proxy.npos) return false;
  const auto server = parse_url(url);
  if (!server.ok()) return false;
  const std::string port = !server->port.empty() ? server->port : server->scheme == "https" ? "443" : "80";
  for (std::string_view list : split(no_proxy, ',')) {
    for (std::string_view entry : split(list, ' ')) {
      const auto [host, its_port] = split_port(trim(entry));
      if (!its_port.empty() && its_port == port && is_below(to_lower(server->host), host)) return true;
    }
  }
  return false;
}

std::string no_proxy_of(const Environment& environment) {
  return first_set(environment, {"no_proxy", "NO_PROXY"});
}

std::string proxy_of(const std::string& url, const Environment& environment) {
  // HTTP_PROXY in capitals is what a CGI server sets from a request's header.
  return to_lower(url.substr(0, 6)) == "https:"
             ? first_set(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
             : first_set(environment, {"http_proxy", "all_proxy", "ALL_PROXY"});
}

}  // namespace radl::http
