// Google Cloud Storage's operations on whole objects.
#include "common/transfer/gcs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/digest.h"
#include "common/google/client.h"
#include "common/google/errors.h"
#include "common/json_values.h"
#include "common/text.h"
#include "common/transfer/answers.h"
#include "common/utc.h"

namespace radl::transfer {
namespace {

using Json = nlohmann::json;
using json::list_of;
using json::parse_json;
using json::text_of;

constexpr size_t kMostPages = 100'000;
constexpr const char* kFields = "name,size,generation,crc32c,updated";

uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

StoredChecksum crc32c_of(const std::string& base64) {
  if (base64.empty()) return {};
  return {StoredChecksum::Kind::Crc, Crc::Crc32c, base64, 0};
}

Object object_of(const Json& item) {
  return {text_of(item, "name"), text_of(item, "generation"), number(text_of(item, "size")),
          parse_utc(text_of(item, "updated")).value_or(0)};
}

// "crc32c=AAAAAA==,md5=..." of x-goog-hash, which may come as several headers.
std::string crc_in(const http::Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name != "x-goog-hash") continue;
    for (std::string_view part : split(value, ','))
      if (part = trim(part); part.starts_with("crc32c=")) return std::string(part.substr(7));
  }
  return "";
}

// What no object of this store has: a generation is a time in microseconds.
bool is_generation(const std::string& etag) {
  return !etag.empty() && etag.size() <= 19 && etag.find_first_not_of("0123456789") == etag.npos &&
         etag[0] != '0';
}

http::Headers condition_query(const PutCondition& condition) {
  if (condition.if_absent) return {{"ifGenerationMatch", "0"}};
  if (condition.if_match.empty()) return {};
  return {{"ifGenerationMatch", is_generation(condition.if_match) ? condition.if_match : "1"}};
}

}  // namespace

Gcs::Gcs(http::Client& http, GcsOptions options, std::string bucket)
    : RestStore(http, options.attempts), options_(std::move(options)), bucket_(std::move(bucket)) {}

std::string Gcs::address(const std::string& key) const {
  return "gs://" + bucket_ + (key.empty() ? "" : "/" + key);
}

std::string Gcs::json_url(const std::string& key) const {
  return options_.endpoint + "/storage/v1/b/" + http::percent_encode(bucket_) + "/o" +
         (key.empty() ? "" : "/" + http::percent_encode(key));
}

std::string Gcs::upload_url(const std::string& type, const std::string& key) const {
  return with_query(options_.endpoint + "/upload/storage/v1/b/" + http::percent_encode(bucket_) + "/o",
                    {{"uploadType", type}, {"name", key}, {"fields", kFields}});
}

Result<std::string> Gcs::object_url(const std::string& key, const Stop&) { return json_url(key); }

Result<std::string> Gcs::bytes_url(const std::string& key, const Stop&) {
  return options_.endpoint + "/download/storage/v1/b/" + http::percent_encode(bucket_) + "/o/" +
         http::percent_encode(key) + "?alt=media";
}

// Objects stored compressed are delivered compressed: checksum and size refer to that form.
http::Headers Gcs::usual_headers() const {
  http::Headers headers{{"Accept-Encoding", "gzip"}};
  if (!options_.billed_project.empty()) headers.emplace_back("x-goog-user-project", options_.billed_project);
  return headers;
}

Result<http::Headers> Gcs::authorization(const http::Request&, uint64_t, const Stop& stop) {
  if (!options_.tokens) return http::Headers{};
  auto token = options_.tokens->token(stop);
  if (!token.ok()) return token.status();
  std::lock_guard lock(mutex_);
  token_ = *token;
  return http::Headers{{"Authorization", "Bearer " + *token}};
}

bool Gcs::put_right(const http::Response& answer) {
  if (answer.status != 401 || !options_.tokens) return false;
  std::string used;
  {
    std::lock_guard lock(mutex_);
    used = token_;
  }
  options_.tokens->refused(used);
  return true;
}

Described Gcs::described(const http::Response& answer) const {
  uint64_t size = content_length(answer);
  if (auto total = parse_content_range(answer.header("content-range")).total) size = *total;
  return {std::string(answer.header("x-goog-generation")), size, crc32c_of(crc_in(answer.headers)), 0};
}

void Gcs::only_if(const std::string& etag, std::string& url, http::Headers&) const {
  url = with_query(url, {{"ifGenerationMatch", etag}, {"generation", etag}});
}

Status Gcs::error(const http::Response& answer, const std::string& key) const {
  const google::Said said = google::error_in(parse_json(answer.body));
  std::string message = said.message;
  if (message.empty() && answer.body.size() < 500 && answer.body.find('<') == answer.body.npos)
    message = trim(answer.body.substr(0, answer.body.find('\n')));
  if (answer.status == 404 && (key.empty() || message.find("bucket does not exist") != message.npos))
    return no_container(address(""));
  Code code = google::code_of(said, answer.status);
  if (answer.status == 412) code = Code::Conflict;
  if (answer.status == 408 || answer.status == 429 || answer.status >= 500) code = Code::Retry;
  Status failed(code, fmt::format("{}: HTTP status {}{}{}", address(key), answer.status,
                                  message.empty() ? "" : ": ", message));
  if (answer.status == 401)
    return std::move(failed).with_hint(
        options_.tokens ? "The credentials are not valid for Cloud Storage."
                        : "The bucket is not public and no credentials were found. Run `gcloud auth "
                          "application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS.");
  if (answer.status == 403)
    return std::move(failed).with_hint(
        "Grant the account roles/storage.objectUser on the bucket (to read only: "
        "roles/storage.objectViewer)");
  return failed;
}

Result<Described> Gcs::look(const std::string& key, std::time_t* modified, const Stop& stop) {
  auto answer = call({.url = with_query(json_url(key), {{"fields", kFields}}), .stop = stop});
  if (!answer.ok()) return answer.status();
  if (!answer->ok()) return error(*answer, key);
  const Json item = parse_json(answer->body);
  const Object found = object_of(item);
  if (found.etag.empty()) return Status(Code::Corrupt, address(key) + ": the answer describes no object");
  if (modified != nullptr) *modified = found.modified;
  return Described{found.etag, found.size, crc32c_of(text_of(item, "crc32c")), 0};
}

Result<Object> Gcs::made(const std::string& key, const std::string& text, const std::string& crc) const {
  const Json item = parse_json(text);
  Object object = object_of(item);
  object.key = key;
  if (object.etag.empty()) return Status(Code::Corrupt, address(key) + ": the answer describes no object");
  const std::string stored = text_of(item, "crc32c");
  if (!stored.empty() && stored != crc)
    return Status(Code::Corrupt,
                  fmt::format("{}: the stored checksum is {}, the sent one {}", address(key), stored, crc));
  return object;
}

// The object's description and its bytes in one request: Google compares the checksum.
Result<Object> Gcs::put(const std::string& key, std::string bytes, const PutCondition& condition,
                        const Stop& stop) {
  const std::string crc = checksum_text(crc32c(bytes));
  const std::string boundary = "radl-" + to_hex(random_bytes(16));
  http::Request request;
  request.body = fmt::format(
      "--{0}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{1}\r\n--{0}\r\nContent-Type: "
      "application/octet-stream\r\n\r\n",
      boundary, Json{{"name", key}, {"crc32c", crc}}.dump(-1, ' ', false, Json::error_handler_t::replace));
  request.body += bytes;
  request.body += fmt::format("\r\n--{}--\r\n", boundary);
  bytes.clear();
  Call what{.method = "POST",
            .url = with_query(upload_url("multipart", key), condition_query(condition)),
            .stop = stop};
  what.headers.emplace_back("Content-Type", "multipart/related; boundary=" + boundary);
  what.once = condition.if_absent || !condition.if_match.empty();
  auto answer = call(what, std::move(request));
  if (!answer.ok()) return answer.status();
  if (auto refused = condition_answer(*answer, condition, address(key))) return *refused;
  if (!answer->ok()) return error(*answer, key);
  return made(key, answer->body, crc);
}

Result<Object> Gcs::copy(const std::string& from, const std::string& to, const Stop& stop) {
  std::string token;
  for (size_t turn = 0; turn < kMostPages; ++turn) {
    Call what{.method = "POST",
              .url = json_url(from) + "/rewriteTo/b/" + http::percent_encode(bucket_) + "/o/" +
                     http::percent_encode(to),
              .headers = {{"Content-Type", "application/json"}},
              .stop = stop};
    if (!token.empty()) what.url = with_query(what.url, {{"rewriteToken", token}});
    auto answer = call(what);
    if (!answer.ok()) return answer.status();
    if (!answer->ok()) return error(*answer, from);
    const Json document = parse_json(answer->body);
    token = text_of(document, "rewriteToken");
    if (json::flag_of(document, "done", token.empty())) {
      Object object = object_of(json::member(document, "resource"));
      if (object.etag.empty()) return head(to, stop);
      object.key = to;
      return object;
    }
  }
  return Status(Code::Timeout, address(from) + ": the copy did not finish in time");
}

Result<std::vector<Object>> Gcs::list(const std::string& prefix, const Stop& stop) {
  std::vector<Object> all;
  std::set<std::string> pages;
  for (std::string page;;) {
    http::Headers query{{"prefix", prefix},
                        {"maxResults", "1000"},
                        {"fields", "nextPageToken,items(name,size,generation,updated)"}};
    if (!page.empty()) query.emplace_back("pageToken", page);
    auto answer = call({.url = with_query(json_url(""), query), .stop = stop});
    if (!answer.ok()) return answer.status();
    if (!answer->ok()) return error(*answer, "");
    const Json document = parse_json(answer->body);
    if (!document.is_object()) return Status(Code::Corrupt, address("") + ": the response is not a list");
    for (const Json& item : list_of(document, "items")) {
      Object object = object_of(item);
      if (object.key.empty() || !object.key.starts_with(prefix))
        return Status(Code::Corrupt, address("") + ": invalid entry \"" + object.key + "\" in the list");
      all.push_back(std::move(object));
    }
    page = text_of(document, "nextPageToken");
    if (page.empty()) break;
    if (!pages.insert(page).second)
      return Status(Code::Corrupt, address("") + ": the pages of the list repeat");
  }
  std::sort(all.begin(), all.end(), [](const Object& a, const Object& b) { return a.key < b.key; });
  return all;
}

}  // namespace radl::transfer
