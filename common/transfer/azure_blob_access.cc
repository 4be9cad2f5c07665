// Azure Blob Storage's credentials, and signatures of requests and URLs.
#include <fmt/format.h>

#include <ctime>
#include <map>

#include "common/azure/session.h"
#include "common/digest.h"
#include "common/text.h"
#include "common/transfer/azure_blob.h"
#include "common/user_text.h"
#include "common/utc.h"

namespace radl::transfer {
namespace {

constexpr const char* kVersion = "2021-12-02";  // of the REST API
// Of Azurite, and known to everybody. Source: Microsoft Learn, "Connect to Azurite with SDKs and tools".
constexpr const char* kEmulatorAccount = "devstoreaccount1";
constexpr const char* kEmulatorKey =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

std::string of_host(const std::string& url) {
  auto parsed = http::parse_url(url);
  return parsed.ok() ? parsed->host.substr(0, parsed->host.find('.')) : "";
}

// "Name=value;Name=value"
std::map<std::string, std::string> pairs_of(const std::string& text) {
  std::map<std::string, std::string> pairs;
  for (std::string_view part : split(text, ';')) {
    part = trim(part);
    if (const size_t equals = part.find('='); equals != part.npos)
      pairs[std::string(part.substr(0, equals))] = part.substr(equals + 1);
  }
  return pairs;
}

Status take_key(AzureBlobOptions& options, const std::string& text, const std::string& name) {
  auto key = base64_decode(text);
  if (!key.ok() || key->empty()) return invalid(name + " is not an account key (base64)");
  options.key = std::move(*key);
  return {};
}

Status take_endpoint(AzureBlobOptions& options, std::string text, const std::string& name) {
  while (text.ends_with('/')) text.pop_back();
  auto url = http::parse_http_url(text, name);
  if (!url.ok()) return url.status();
  if (!url->query.empty())
    return invalid(name + ": \"" + http::printable_url(text) +
                   "\" contains a query; an endpoint must not have one");
  options.endpoint = std::move(text);
  return {};
}

class AzureTokens : public TokenSource {
 public:
  AzureTokens(http::Client& http, azure::Settings settings) : session_(http, std::move(settings)) {}
  Result<std::string> token(const Stop& stop) override {
    auto made = session_.token(kScope, stop);
    if (!made.ok()) return made.status();
    std::lock_guard lock(mutex_);
    last_ = *made;
    return last_->value;
  }
  void refused(const std::string& token) override {
    std::lock_guard lock(mutex_);
    if (last_ && last_->value == token) session_.refused(kScope, last_);
  }

 private:
  static constexpr const char* kScope = "https://storage.azure.com/.default";
  azure::Session session_;
  std::mutex mutex_;
  std::shared_ptr<const azure::Token> last_;
};

Result<AzureBlobOptions> of_connection_string(const std::string& text) {
  const std::string name = "AZURE_STORAGE_CONNECTION_STRING";
  auto pairs = pairs_of(text);
  AzureBlobOptions options;
  options.account = pairs["AccountName"];
  std::string endpoint = pairs["BlobEndpoint"];
  if (to_lower(pairs["UseDevelopmentStorage"]) == "true") {
    options.account = kEmulatorAccount;
    pairs["AccountKey"] = kEmulatorKey;
    endpoint = std::string("http://127.0.0.1:10000/") + kEmulatorAccount;
  }
  if (endpoint.empty() && !options.account.empty()) {
    const std::string protocol = pairs["DefaultEndpointsProtocol"], suffix = pairs["EndpointSuffix"];
    endpoint = (protocol.empty() ? "https" : protocol) + "://" + options.account + ".blob." +
               (suffix.empty() ? "core.windows.net" : suffix);
  }
  if (endpoint.empty()) return invalid(name + " contains neither AccountName nor BlobEndpoint");
  if (Status s = take_endpoint(options, endpoint, name + ": BlobEndpoint"); !s.ok()) return s;
  if (options.account.empty()) options.account = of_host(options.endpoint);
  if (!pairs["AccountKey"].empty()) {
    if (Status s = take_key(options, pairs["AccountKey"], name + ": AccountKey"); !s.ok()) return s;
  }
  options.sas = pairs["SharedAccessSignature"];
  return options;
}

}  // namespace

Result<std::shared_ptr<TokenSource>> azure_tokens(http::Client& http, const Lookup& environment) {
  auto settings = azure::load_settings(environment);
  if (!settings.ok() && settings.status().code() != Code::NotFound) return settings.status();
  std::shared_ptr<TokenSource> tokens;
  if (settings.ok()) tokens = std::make_shared<AzureTokens>(http, std::move(*settings));
  return tokens;
}

Result<AzureBlobOptions> azure_blob_options(const std::string& account_url, const Lookup& environment) {
  AzureBlobOptions options;
  if (const std::string text = environment("AZURE_STORAGE_CONNECTION_STRING"); !text.empty()) {
    auto given = of_connection_string(text);
    if (!given.ok()) return given.status();
    // An address that names another account is not opened with this one's key.
    if (account_url.empty() || given->endpoint == account_url) options = std::move(*given);
  }
  const std::string account = environment("AZURE_STORAGE_ACCOUNT");
  if (options.endpoint.empty() && !account.empty() &&
      (account_url.empty() || of_host(account_url) == account)) {
    options.account = account;
    options.endpoint = "https://" + account + ".blob.core.windows.net";
    if (!account_url.empty()) options.endpoint = account_url;
    if (const std::string other = environment("AZURE_STORAGE_SERVICE_ENDPOINT"); !other.empty())
      if (Status s = take_endpoint(options, other, "AZURE_STORAGE_SERVICE_ENDPOINT"); !s.ok()) return s;
    if (const std::string key = environment("AZURE_STORAGE_KEY"); !key.empty())
      if (Status s = take_key(options, key, "AZURE_STORAGE_KEY"); !s.ok()) return s;
    options.sas = environment("AZURE_STORAGE_SAS_TOKEN");
    if (Status plain = check_one_line("AZURE_STORAGE_SAS_TOKEN", options.sas); !plain.ok()) return plain;
  }
  if (options.endpoint.empty() && !account_url.empty()) {
    options.endpoint = account_url;
    options.account = of_host(account_url);
  }
  if (options.endpoint.empty())
    return Status(Code::Invalid, "az://CONTAINER/KEY: no storage account configured")
        .with_hint(
            "Set AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING, or write "
            "https://ACCOUNT.blob.core.windows.net/CONTAINER/KEY");
  if (options.sas.starts_with('?')) options.sas.erase(0, 1);
  return options;
}

std::string azure_shared_key(const AzureBlobOptions& options, const http::Request& request,
                             uint64_t body_bytes) {
  std::map<std::string, std::string> headers, parameters;
  for (const auto& [name, value] : request.headers) headers[to_lower(name)] = std::string(trim(value));
  std::string text = request.method;
  for (const char* name :
       {"content-encoding", "content-language", "content-length", "content-md5", "content-type", "date",
        "if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range"}) {
    text += "\n";
    if (std::string_view(name) == "content-length")
      text += body_bytes > 0 ? std::to_string(body_bytes) : "";
    else if (const auto given = headers.find(name); given != headers.end())
      text += given->second;
  }
  text += "\n";
  for (const auto& [name, value] : headers)
    if (name.starts_with("x-ms-")) text += name + ":" + value + "\n";
  const size_t question = request.url.find('?');
  auto url = http::parse_url(request.url.substr(0, question));
  text += "/" + options.account + (url.ok() ? url->path : "");
  if (question != request.url.npos) {
    for (auto& [name, value] : http::parse_query(std::string_view(request.url).substr(question + 1)))
      parameters[to_lower(name)] = std::move(value);
  }
  for (const auto& [name, value] : parameters) text += "\n" + name + ":" + value;
  return "SharedKey " + options.account + ":" + base64_encode(hmac_sha256(options.key, text));
}

Result<http::Headers> AzureBlob::authorization(const http::Request& request, uint64_t body_bytes,
                                               const Stop& stop) {
  http::Headers headers{{"x-ms-version", kVersion}};
  if (!options_.key.empty()) {
    const std::time_t now = std::time(nullptr) + std::time_t(clock_offset_.load());
    headers.emplace_back("x-ms-date", utc_text(now, "%a, %d %b %Y %H:%M:%S GMT"));
    http::Request signed_one = request;
    signed_one.headers.insert(signed_one.headers.end(), headers.begin(), headers.end());
    headers.emplace_back("Authorization", azure_shared_key(options_, signed_one, body_bytes));
  } else if (options_.sas.empty() && options_.tokens) {
    auto token = options_.tokens->token(stop);
    if (!token.ok()) return token.status();
    std::lock_guard lock(mutex_);
    token_ = *token;
    headers.emplace_back("Authorization", "Bearer " + *token);
  }
  return headers;
}

std::string azure_blob_sas(const AzureBlobOptions& options, const std::string& container,
                           const std::string& key, const std::string& permissions, std::time_t expires) {
  const std::string end = utc_text(expires);
  // Permissions, start, end, resource, identifier, addresses, protocol, version, kind of resource, snapshot,
  // encryption scope, and five headers of answers.
  const std::string text = fmt::format("{}\n\n{}\n/blob/{}/{}/{}\n\n\n\n{}\nb\n\n\n\n\n\n\n", permissions,
                                       end, options.account, container, key, kVersion);
  return http::query_string({{"sp", permissions},
                             {"se", end},
                             {"sv", kVersion},
                             {"sr", "b"},
                             {"sig", base64_encode(hmac_sha256(options.key, text))}});
}

Result<std::string> AzureBlob::presign(const std::string& method, const std::string& key, int seconds,
                                       const Stop&) {
  if (seconds < 1 || seconds > kLongestSignedUrl)
    return invalid("a shared access signature must be valid for 1 second to 7 days, not " +
                   std::to_string(seconds) + " s");
  if (options_.key.empty())
    return Status(Code::Auth, address(key) + ": signing a shared access signature needs the account key")
        .with_hint("Set AZURE_STORAGE_KEY, or a connection string with AccountKey.");
  const std::time_t expires = std::time(nullptr) + std::time_t(clock_offset_.load()) + seconds;
  return url(key) + "?" + azure_blob_sas(options_, container_, key, method == "GET" ? "r" : "cw", expires);
}

}  // namespace radl::transfer
