#include "common/aws/sigv4.h"

#include <algorithm>
#include <map>

#include "common/digest.h"
#include "common/utc.h"

namespace radl::aws {
namespace {

// Lower-case names; values trimmed, inner runs of spaces made one; values of one name joined by commas.
std::map<std::string, std::string> canonical_headers(const http::Headers& headers) {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : headers) {
    std::string key, text;
    for (char c : name) key.push_back(c >= 'A' && c <= 'Z' ? char(c + 32) : c);
    for (char c : value) {
      if (c == '\t' || c == '\n' || c == '\r') c = ' ';
      if (c == ' ' && (text.empty() || text.back() == ' ')) continue;
      text.push_back(c);
    }
    if (!text.empty() && text.back() == ' ') text.pop_back();
    auto [at, fresh] = all.emplace(key, text);
    if (!fresh) at->second += "," + text;
  }
  return all;
}

// RFC 3986 section 5.2.4 and empty segments, for every service but S3.
std::string normalise(std::string_view path) {
  std::vector<std::string_view> kept;
  for (size_t at = 0; at < path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string_view segment = path.substr(at, end - at);
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!segment.empty() && segment != ".") {
      kept.push_back(segment);
    }
    at = end + 1;
  }
  std::string out;
  for (auto s : kept) out += "/" + std::string(s);
  const bool folder = !path.empty() && (path.back() == '/' || path.ends_with("/.") || path.ends_with("/.."));
  if (out.empty() || folder) out += "/";
  return out;
}

std::string canonical_path(const std::string& path, const std::string& service) {
  if (service == "s3" || service == "s3express") return http::percent_encode(path.empty() ? "/" : path, true);
  // Encoded as sent, and encoded again for the signature.
  return http::percent_encode(http::percent_encode(normalise(path), true), true);
}

struct Canonical {
  std::string signed_headers, request;
};

Canonical canonical_request(const ToSign& r, const http::Headers& headers, const http::Headers& query,
                            const std::string& service) {
  Canonical c;
  std::string lines;
  for (const auto& [name, value] : canonical_headers(headers)) {
    lines += name + ":" + value + "\n";
    c.signed_headers += (c.signed_headers.empty() ? "" : ";") + name;
  }
  c.request = r.method + "\n" + canonical_path(r.path, service) + "\n" + http::query_string(query) + "\n" +
              lines + "\n" + c.signed_headers + "\n" + r.body_sha256;
  return c;
}

std::string signature(const std::string& canonical, const Credentials& credentials,
                      const SigningScope& scope) {
  const std::string date = utc_text(scope.time, "%Y%m%d");
  const std::string text = "AWS4-HMAC-SHA256\n" + utc_text(scope.time, "%Y%m%dT%H%M%SZ") + "\n" + date + "/" +
                           scope.region + "/" + scope.service + "/aws4_request\n" + sha256_hex(canonical);
  std::string key = hmac_sha256("AWS4" + credentials.secret_key, date);
  key = hmac_sha256(key, scope.region);
  key = hmac_sha256(key, scope.service);
  key = hmac_sha256(key, "aws4_request");
  return to_hex(hmac_sha256(key, text));
}

std::string credential(const Credentials& c, const SigningScope& s) {
  return c.access_key + "/" + utc_text(s.time, "%Y%m%d") + "/" + s.region + "/" + s.service + "/aws4_request";
}

}  // namespace

http::Headers sign_v4(const ToSign& r, const Credentials& credentials, const SigningScope& scope) {
  http::Headers added = {{"X-Amz-Date", utc_text(scope.time, "%Y%m%dT%H%M%SZ")}};
  if (r.send_body_hash) added.emplace_back("X-Amz-Content-Sha256", r.body_sha256);
  if (!credentials.session_token.empty())
    added.emplace_back("X-Amz-Security-Token", credentials.session_token);
  http::Headers all = r.headers;
  all.emplace_back("Host", r.host);
  all.insert(all.end(), added.begin(), added.end());
  const Canonical c = canonical_request(r, all, r.query, scope.service);
  added.emplace_back("Authorization", "AWS4-HMAC-SHA256 Credential=" + credential(credentials, scope) +
                                          ", SignedHeaders=" + c.signed_headers +
                                          ", Signature=" + signature(c.request, credentials, scope));
  return added;
}

http::Headers presign_v4(const ToSign& r, const Credentials& credentials, const SigningScope& scope,
                         int seconds) {
  http::Headers signed_headers = r.headers;
  signed_headers.emplace_back("Host", r.host);
  std::string names;
  for (const auto& [name, value] : canonical_headers(signed_headers))
    names += (names.empty() ? "" : ";") + name;
  http::Headers query = r.query;
  query.emplace_back("X-Amz-Algorithm", "AWS4-HMAC-SHA256");
  query.emplace_back("X-Amz-Credential", credential(credentials, scope));
  query.emplace_back("X-Amz-Date", utc_text(scope.time, "%Y%m%dT%H%M%SZ"));
  query.emplace_back("X-Amz-Expires", std::to_string(seconds));
  query.emplace_back("X-Amz-SignedHeaders", names);
  if (!credentials.session_token.empty())
    query.emplace_back("X-Amz-Security-Token", credentials.session_token);
  const Canonical c = canonical_request(r, signed_headers, query, scope.service);
  query.emplace_back("X-Amz-Signature", signature(c.request, credentials, scope));
  return query;
}

}  // namespace radl::aws
