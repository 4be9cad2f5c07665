#include "common/http/failed_transfer.h"

#include <string>
#include <string_view>

namespace radl::http {
namespace {

constexpr const char* kProxyHint =
    "the proxy is that of HTTPS_PROXY, http_proxy or ALL_PROXY; NO_PROXY names hosts that need none";

// " (through the proxy HOST:PORT)" if libcurl reports that it could not connect to a proxy: its text names no
// user.
std::string through_proxy(const Request& r, const std::string& proxy, std::string_view text) {
  constexpr std::string_view kBegin = "Failed to connect to ", kPort = " port ";
  const size_t host = text.find(kBegin), port = text.find(kPort);
  if (host == text.npos || port == text.npos || port < host + kBegin.size()) return {};
  const std::string name(text.substr(host + kBegin.size(), port - host - kBegin.size()));
  std::string_view number = text.substr(port + kPort.size());
  number = number.substr(0, number.find_first_not_of("0123456789"));
  const auto url = parse_url(r.url);
  const std::string usual = url.ok() && url->scheme == "https" ? "443" : "80";
  const std::string own = !url.ok() || url->port.empty() ? usual : url->port;
  if (!url.ok() || (url->host == name && own == number) || proxy.find(name) == proxy.npos) return {};
  return " (through the proxy " + name + ":" + std::string(number) + ")";
}

}  // namespace

bool may_be_repeated(const Request& r) {
  const std::string& m = r.method;
  return r.idempotent || m == "GET" || m == "HEAD" || m == "PUT" || m == "DELETE" || m == "OPTIONS";
}

Status failed_transfer(CURLcode code, const Request& r, const std::string& proxy, bool sent,
                       const char* text) {
  const bool lost = sent && !may_be_repeated(r);
  const std::string what = r.method + " " + printable_url(r.url) + ": ";
  // Without the library's own text where that may repeat the URL.
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return {Code::Retry, what + "the host's name cannot be resolved"};
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Status(Code::Retry, what + "the proxy's name cannot be resolved").with_hint(kProxyHint);
    case CURLE_COULDNT_CONNECT:
      if (std::string through = through_proxy(r, proxy, text); !through.empty())
        return Status(Code::Retry, what + "cannot connect" + through).with_hint(kProxyHint);
      if (std::string_view(text).find("Unsupported proxy") != std::string_view::npos)
        return Status(Code::Invalid, what + "there are no proxies of that kind").with_hint(kProxyHint);
      return {Code::Retry, what + "cannot connect"};
    case CURLE_OPERATION_TIMEDOUT:
      return {lost ? Code::Lost : Code::Timeout, what + "timed out"};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
      return {Code::Auth,
              what + "its certificate is not trusted: " + (text[0] ? text : curl_easy_strerror(code))};
    case CURLE_SSL_CACERT_BADFILE:
      return {Code::Auth, what + "the certificates that are to be trusted cannot be loaded: " +
                              (text[0] ? text : curl_easy_strerror(code))};
    case CURLE_UNSUPPORTED_PROTOCOL:
      // The server speaks another protocol, which libcurl takes for HTTP/0.9.
      if (sent) return {lost ? Code::Lost : Code::Retry, what + "the answer is no HTTP"};
      return {Code::Invalid, what + "not an http or https URL"};
    case CURLE_WEIRD_SERVER_REPLY:
      return {lost ? Code::Lost : Code::Retry, what + "the answer is no HTTP"};
    case CURLE_URL_MALFORMAT:
      return {Code::Invalid, what + "not an http or https URL"};
    case CURLE_SEND_FAIL_REWIND:
      return {Code::Lost, what + "the connection broke after it was sent"};
    case CURLE_TOO_MANY_REDIRECTS:
      return {Code::Invalid, what + "redirected too often"};
    case CURLE_SSL_CONNECT_ERROR:
      if (std::string_view(text).find("wrong version number") != std::string_view::npos)
        return Status(Code::Retry, what + "no secure connection: the server does not speak TLS")
            .with_hint("use http instead of https, or another port");
      return {Code::Retry, what + "no secure connection: " + (text[0] ? text : curl_easy_strerror(code))};
    default:
      break;
  }
  // Only proxies receive CONNECT, so its response is not the server's.
  if (std::string_view(text).find("CONNECT") != std::string_view::npos)
    return Status(std::string_view(text).find("407") != std::string_view::npos ? Code::Auth : Code::Retry,
                  what + "the proxy does not lead there: " + text)
        .with_hint(kProxyHint);
  return {lost ? Code::Lost : Code::Retry, what + curl_easy_strerror(code)};
}

}  // namespace radl::http
