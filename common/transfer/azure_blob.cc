// Azure Blob Storage's operations on whole blobs.
#include "common/transfer/azure_blob.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <pugixml.hpp>
#include <set>

#include "common/digest.h"
#include "common/http/retry.h"
#include "common/transfer/answers.h"

namespace radl::transfer {
namespace {

constexpr long long kWrongClock = 240;  // seconds

std::string code_in(const http::Response& answer) {
  if (const std::string code(answer.header("x-ms-error-code")); !code.empty()) return code;
  return s3_field(answer.body, "Code");  // <Error><Code> here as there
}

StoredChecksum md5_in(const http::Response& answer) {
  // The Content-MD5 of a range covers only the range.
  std::string md5(answer.header("x-ms-blob-content-md5"));
  if (md5.empty() && answer.status != 206) md5 = answer.header("content-md5");
  if (md5.empty()) return {};
  return {StoredChecksum::Kind::Md5, Crc::Crc32c, md5, 0};
}

struct Explanation {
  const char* code;
  Code kind;
  const char* hint;
};
constexpr Explanation kExplanations[] = {
    {"BlobNotFound", Code::NotFound, ""},
    {"ResourceNotFound", Code::NotFound, ""},
    {"AuthenticationFailed", Code::Auth,
     "The key, signature or token is wrong or has expired, or a clock is wrong."},
    {"NoAuthenticationInformation", Code::Auth,
     "Run `az login`, or set AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY; the container is not public."},
    {"AuthorizationFailure", Code::Auth,
     "The key or signature is wrong, or the account's network rules block this computer."},
    {"AuthorizationPermissionMismatch", Code::Auth,
     "Assign the role \"Storage Blob Data Contributor\" on the container to this login."},
    {"AuthorizationServiceMismatch", Code::Auth, "Use a shared access signature that is valid for blobs."},
    {"AuthorizationResourceTypeMismatch", Code::Auth,
     "Use a shared access signature that is valid for these resources."},
    {"KeyBasedAuthenticationNotPermitted", Code::Auth, "The account does not accept keys. Run `az login`."},
    {"PublicAccessNotPermitted", Code::Auth,
     "The account requires credentials. Run `az login`, or set AZURE_STORAGE_KEY."},
    {"ConditionNotMet", Code::Conflict, ""},
    {"BlobAlreadyExists", Code::Exists, ""},
    {"LeaseIdMissing", Code::Conflict, "Another client holds a lease on the blob."},
    {"Md5Mismatch", Code::Corrupt, "The data changed on its way."},
    {"ContainerBeingDeleted", Code::Retry, "The container is being deleted."},
    {"ServerBusy", Code::Retry, "The store limits the rate of requests."},
    {"InternalError", Code::Retry, ""},
    {"OperationTimedOut", Code::Retry, ""},
    {"InvalidBlobOrBlock", Code::Invalid,
     "Another program started an upload to this blob. Remove the blob, or wait a week."},
    {"SnapshotsPresent", Code::Conflict, "Remove the blob's snapshots first."},
    {"BlobImmutableDueToPolicy", Code::Auth, "The container's immutability policy forbids changes."},
};

}  // namespace

AzureBlob::AzureBlob(http::Client& http, AzureBlobOptions options, std::string container)
    : RestStore(http, options.attempts), options_(std::move(options)), container_(std::move(container)) {}

std::string AzureBlob::address(const std::string& key) const {
  return "az://" + container_ + (key.empty() ? "" : "/" + key);
}

std::string AzureBlob::url(const std::string& key) const {
  return options_.endpoint + "/" + http::percent_encode(container_) +
         (key.empty() ? "" : "/" + http::percent_encode(key, true));
}

Result<std::string> AzureBlob::bytes_url(const std::string& key, const Stop&) { return url(key); }
Result<std::string> AzureBlob::object_url(const std::string& key, const Stop&) { return url(key); }

bool AzureBlob::put_right(const http::Response& answer) {
  if (!options_.key.empty()) {
    const std::time_t server = ::curl_getdate(std::string(answer.header("date")).c_str(), nullptr);
    const long long ahead = static_cast<long long>(server) - static_cast<long long>(std::time(nullptr));
    if (answer.status != 403 || server <= 0 || std::llabs(ahead - clock_offset_.load()) <= kWrongClock)
      return false;
    clock_offset_ = ahead;
    return true;
  }
  if (answer.status != 401 || !options_.tokens) return false;
  std::string used;
  {
    std::lock_guard lock(mutex_);
    used = token_;
  }
  options_.tokens->refused(used);
  return true;
}

Described AzureBlob::described(const http::Response& answer) const {
  Described found{unquote_etag(answer.header("etag")), content_length(answer), md5_in(answer), 0};
  if (auto total = parse_content_range(answer.header("content-range")).total) found.size = *total;
  return found;
}

void AzureBlob::only_if(const std::string& etag, std::string&, http::Headers& headers) const {
  headers.emplace_back("If-Match", "\"" + etag + "\"");
}

Status AzureBlob::error(const http::Response& answer, const std::string& key) const {
  const std::string code = code_in(answer);
  if (code == "ContainerNotFound" || (answer.status == 404 && key.empty())) return no_container(address(""));
  const std::string text =
      fmt::format("{}: {}", address(key), code.empty() ? fmt::format("HTTP status {}", answer.status) : code);
  for (const Explanation& known : kExplanations)
    if (code == known.code) return Status(known.kind, text).with_hint(known.hint);
  return {answer.status == 408 ? Code::Retry : http::status_of(answer, "").code(), text};
}

Result<Object> AzureBlob::put(const std::string& key, std::string bytes, const PutCondition& condition,
                              const Stop& stop) {
  Call what{.method = "PUT",
            .url = url(key),
            .headers = {{"x-ms-blob-type", "BlockBlob"},
                        {"Content-Type", "application/octet-stream"},
                        {"Content-MD5", md5_base64(bytes)}},
            .stop = stop};
  if (condition.if_absent) what.headers.emplace_back("If-None-Match", "*");
  if (!condition.if_match.empty()) what.headers.emplace_back("If-Match", "\"" + condition.if_match + "\"");
  what.once = condition.if_absent || !condition.if_match.empty();
  const uint64_t size = bytes.size();
  http::Request request;
  request.body = std::move(bytes);
  auto answer = call(what, std::move(request));
  if (!answer.ok()) return answer.status();
  if (auto refused = condition_answer(*answer, condition, address(key))) return *refused;
  if (!answer->ok()) return error(*answer, key);
  return Object{key, unquote_etag(answer->header("etag")), size, http_time(answer->header("last-modified"))};
}

Result<Object> AzureBlob::copy(const std::string& from, const std::string& to, const Stop& stop) {
  std::string source = url(from);
  if (const std::string secret = secret_query(); !secret.empty()) source += "?" + secret;
  auto answer = call({.method = "PUT",
                      .url = url(to),
                      .headers = {{"x-ms-copy-source", source}, {"Content-Type", "application/octet-stream"}},
                      .stop = stop});
  if (!answer.ok()) return answer.status();
  if (!answer->ok()) return error(*answer, from);
  std::string state(answer->header("x-ms-copy-status"));
  for (std::chrono::milliseconds pause{200}; state == "pending";
       pause = std::min(pause * 2, std::chrono::milliseconds(5000))) {
    if (!stop.sleep(pause)) return stop.check();
    auto look = call({.method = "HEAD", .url = url(to), .stop = stop});
    if (!look.ok()) return look.status();
    if (!look->ok()) return error(*look, to);
    state = look->header("x-ms-copy-status");
  }
  if (state != "success")
    return Status(Code::Retry, address(from) + ": the copy ended with \"" + state + "\"");
  return head(to, stop);
}

Result<std::vector<Object>> AzureBlob::list(const std::string& prefix, const Stop& stop) {
  std::vector<Object> all;
  std::set<std::string> pages;
  for (std::string marker;;) {
    http::Headers query{{"restype", "container"}, {"comp", "list"}, {"maxresults", "1000"}};
    if (!prefix.empty()) query.emplace_back("prefix", prefix);
    if (!marker.empty()) query.emplace_back("marker", marker);
    auto answer = call({.url = with_query(url(""), query), .stop = stop});
    if (!answer.ok()) return answer.status();
    if (!answer->ok()) return error(*answer, "");
    auto page = parse_azure_list(answer->body, prefix);
    if (!page.ok()) return Status(page.status()).at(address(""));
    for (Object& object : page->objects) all.push_back(std::move(object));
    marker = page->next;
    if (marker.empty()) break;
    if (!pages.insert(marker).second)
      return Status(Code::Corrupt, address("") + ": the pages of the list repeat");
  }
  std::sort(all.begin(), all.end(), [](const Object& a, const Object& b) { return a.key < b.key; });
  return all;
}

Result<AzurePage> parse_azure_list(std::string_view xml, std::string_view prefix) {
  const Status no_list(Code::Corrupt, "the response is not a list");
  pugi::xml_document document;
  // Text of spaces alone is text: keys may be so.
  if (!document.load_buffer(xml.data(), xml.size(), pugi::parse_default | pugi::parse_ws_pcdata_single))
    return no_list;
  const auto root = document.child("EnumerationResults");
  if (!root) return no_list;
  AzurePage page;
  for (const auto& blob : root.child("Blobs").children("Blob")) {
    const auto properties = blob.child("Properties");
    const auto name = blob.child("Name");
    Object object{name.child_value(), unquote_etag(properties.child_value("Etag")),
                  std::strtoull(properties.child_value("Content-Length"), nullptr, 10),
                  http_time(properties.child_value("Last-Modified"))};
    if (std::string_view(name.attribute("Encoded").value()) == "true") {
      auto decoded = http::percent_decode(object.key);
      if (!decoded.ok())
        return Status(Code::Corrupt, "the list's entry \"" + object.key + "\" is not as it must be");
      object.key = *decoded;
    }
    if (object.key.empty() || !object.key.starts_with(prefix))
      return Status(Code::Corrupt, "the list's entry \"" + object.key + "\" is not as it must be");
    page.objects.push_back(std::move(object));
  }
  page.next = root.child_value("NextMarker");
  return page;
}

}  // namespace radl::transfer
