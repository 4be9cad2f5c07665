#include "common/http/url.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>

#include "common/text.h"

namespace radl::http {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string printable_url(std::string_view url) {
  std::string text(url.substr(0, url.find_first_of("?#")));
  const size_t host = text.find("://");
  if (host == std::string::npos) return text;
  const size_t end = text.find('/', host + 3), at = text.rfind('@', end);
  if (at != std::string::npos && at > host) text.erase(host + 3, at - host - 2);
  return text;
}

std::string percent_encode(std::string_view text, bool keep_slash) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (char ch : text) {
    const auto c = static_cast<unsigned char>(ch);
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || (c == '/' && keep_slash);
    if (plain) {
      out.push_back(ch);
    } else {
      out += {'%', kDigits[c >> 4], kDigits[c & 15]};
    }
  }
  return out;
}

Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) return invalid("\"%\" without two hexadecimal digits");
    out.push_back(char(high * 16 + low));
    i += 2;
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::string_view part : split(query, '&')) {
    const size_t equals = part.find('=');
    auto name = percent_decode(part.substr(0, equals));
    auto value = percent_decode(equals == part.npos ? "" : part.substr(equals + 1));
    if (name.ok() && value.ok() && !name->empty()) pairs.emplace_back(std::move(*name), std::move(*value));
  }
  return pairs;
}

std::string query_string(const std::vector<std::pair<std::string, std::string>>& query) {
  std::vector<std::pair<std::string, std::string>> encoded;
  for (const auto& [name, value] : query) encoded.emplace_back(percent_encode(name), percent_encode(value));
  std::sort(encoded.begin(), encoded.end());
  std::string out;
  for (const auto& [name, value] : encoded) out += (out.empty() ? "" : "&") + name + "=" + value;
  return out;
}

std::string Url::authority() const {
  const std::string name = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  const bool usual = (scheme == "http" && port == "80") || (scheme == "https" && port == "443");
  return port.empty() || usual ? name : name + ":" + port;
}

Result<Url> parse_url(const std::string& url) {
  std::unique_ptr<CURLU, void (*)(CURLU*)> handle(curl_url(), curl_url_cleanup);
  if (!handle ||
      curl_url_set(handle.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
    return invalid("\"" + printable_url(url) + "\" is not a URL");
  }
  auto part = [&](CURLUPart which) {
    char* text = nullptr;
    std::string value;
    if (curl_url_get(handle.get(), which, &text, 0) == CURLUE_OK) value = text;
    curl_free(text);
    return value;
  };
  Url u;
  u.scheme = part(CURLUPART_SCHEME);
  u.user = part(CURLUPART_USER);
  u.password = part(CURLUPART_PASSWORD);
  u.host = part(CURLUPART_HOST);
  if (u.host.size() > 1 && u.host.front() == '[') u.host = u.host.substr(1, u.host.size() - 2);
  u.port = part(CURLUPART_PORT);
  u.path = part(CURLUPART_PATH);
  u.query = part(CURLUPART_QUERY);
  return u;
}

bool same_origin(const std::string& a, const std::string& b) {
  const auto one = parse_url(a), other = parse_url(b);
  auto plain = [](const Url& url) { return url.user.empty() && url.password.empty() && !url.host.empty(); };
  return one.ok() && other.ok() && plain(*one) && plain(*other) &&
         equal_ignoring_case(one->scheme, other->scheme) &&
         equal_ignoring_case(one->authority(), other->authority());
}

Result<Url> parse_http_url(const std::string& url, std::string_view from) {
  auto parsed = parse_url(url);
  if (parsed.ok() && (parsed->scheme == "http" || parsed->scheme == "https") && !parsed->host.empty())
    return parsed;
  // Text that is not a URL may be a secret in the wrong place.
  const bool shown = url.find("://") != std::string::npos;
  return invalid(std::string(from) + (shown ? ": \"" + printable_url(url) + "\"" : "") +
                 " is not an http or https URL");
}

}  // namespace radl::http
