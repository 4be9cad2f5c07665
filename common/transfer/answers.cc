#include "common/transfer/answers.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "common/aws/providers.h"

namespace radl::transfer {
namespace {

std::string_view local_name(const pugi::xml_node& node) {
  std::string_view name = node.name();
  const size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

std::string text_of(const pugi::xml_node& parent, std::string_view name) {
  for (const auto& child : parent.children()) {
    if (local_name(child) == name) return child.child_value();
  }
  return "";
}

std::optional<uint64_t> to_number(std::string_view text) {
  uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return v;
}

Status corrupt(const std::string& what) { return {Code::Corrupt, what}; }

Result<HdfsEntry> entry_of(const nlohmann::json& json) {
  try {
    const auto& length = json.at("length");
    if (!length.is_number_unsigned() || !json.at("modificationTime").is_number_integer())
      return corrupt("WebHDFS: a length or time in the response is not an integer");
    return HdfsEntry{json.at("pathSuffix").get<std::string>(),
                     json.at("type").get<std::string>() == "DIRECTORY", length.get<uint64_t>(),
                     json.at("modificationTime").get<int64_t>()};
  } catch (const nlohmann::json::exception& e) {
    return corrupt(std::string("WebHDFS: invalid response: ") + e.what());
  }
}

// The object's member of this name; null if either is missing.
nlohmann::json member(std::string_view text, const char* name) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains(name)) return {};
  return std::move(json[name]);  // a copy would recurse as deep as the answer is nested
}

Code hdfs_code(const std::string& exception, int status) {
  constexpr std::pair<std::string_view, Code> kCodes[] = {
      {"FileNotFoundException", Code::NotFound},
      {"AccessControlException", Code::Auth},
      {"SecurityException", Code::Auth},
      {"InvalidToken", Code::Auth},
      {"FileAlreadyExistsException", Code::Exists},
      {"SafeModeException", Code::Retry},
      {"StandbyException", Code::Retry},
      {"RetriableException", Code::Retry},
      {"DSQuotaExceededException", Code::Quota},
      {"NSQuotaExceededException", Code::Quota},
  };
  for (const auto& [name, code] : kCodes) {
    if (exception == name) return code;
  }
  return status >= 500 ? Code::Retry : Code::Invalid;
}

std::string text_member(const nlohmann::json& object, const char* name) {
  return object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : "";
}

}  // namespace

namespace {

// Text of spaces alone is text: keys may be so.
bool load(pugi::xml_document& doc, std::string_view xml) {
  return doc.load_buffer(xml.data(), xml.size(), pugi::parse_default | pugi::parse_ws_pcdata_single);
}

}  // namespace

namespace {

// Keys of a list. The list states whether they are encoded: like a form, with '+' for a space.
class Keys {
 public:
  explicit Keys(const pugi::xml_node& root) : encoded_(text_of(root, "EncodingType") == "url") {}
  Result<std::string> of(const pugi::xml_node& parent, std::string_view name) const {
    std::string text = text_of(parent, name);
    if (!encoded_) return text;
    std::replace(text.begin(), text.end(), '+', ' ');
    auto key = http::percent_decode(text);
    return key.ok() ? key : corrupt("invalid key \"" + text + "\" in the list");
  }

 private:
  const bool encoded_;
};

}  // namespace

Result<S3Page> parse_s3_list(std::string_view xml, std::string_view prefix) {
  pugi::xml_document doc;
  if (!load(doc, xml)) return corrupt("the list is not XML");
  const auto root = doc.document_element();
  if (local_name(root) != "ListBucketResult") return corrupt("the response is not a list");
  S3Page page;
  const Keys keys(root);
  for (const auto& child : root.children()) {
    if (local_name(child) != "Contents") continue;
    const auto size = to_number(text_of(child, "Size"));
    auto key = keys.of(child, "Key");
    if (!key.ok()) return key.status();
    Object object{std::move(*key), unquote_etag(text_of(child, "ETag")), size.value_or(0),
                  aws::parse_time(text_of(child, "LastModified")).value_or(0)};
    if (!size || !object.key.starts_with(prefix))
      return corrupt("invalid entry \"" + object.key + "\" in the list");
    page.objects.push_back(std::move(object));
  }
  if (text_of(root, "IsTruncated") == "true") {
    page.next = text_of(root, "NextContinuationToken");
    if (page.next.empty()) return corrupt("the list is truncated but lacks a token for its next page");
  }
  return page;
}

Result<S3UploadPage> parse_s3_uploads(std::string_view xml) {
  pugi::xml_document doc;
  if (!load(doc, xml) || local_name(doc.document_element()) != "ListMultipartUploadsResult")
    return corrupt("the response is not a list of uploads");
  const auto root = doc.document_element();
  S3UploadPage page;
  const Keys keys(root);
  for (const auto& child : root.children()) {
    if (local_name(child) != "Upload") continue;
    const auto begun = aws::parse_time(text_of(child, "Initiated"));
    auto key = keys.of(child, "Key");
    if (!key.ok()) return key.status();
    S3UploadPage::Begun upload{std::move(*key), text_of(child, "UploadId"), begun.value_or(0)};
    if (!begun || upload.key.empty() || upload.id.empty())
      return corrupt("invalid entry in the list of uploads");
    page.uploads.push_back(std::move(upload));
  }
  if (text_of(root, "IsTruncated") == "true") {
    auto next = keys.of(root, "NextKeyMarker");
    if (!next.ok()) return next.status();
    page.next_key = std::move(*next);
    page.next_id = text_of(root, "NextUploadIdMarker");
  }
  return page;
}

Result<S3PartPage> parse_s3_parts(std::string_view xml) {
  pugi::xml_document doc;
  const bool loaded = load(doc, xml);
  const std::string_view name = local_name(doc.document_element());
  if (!loaded || (name != "ListPartsResult" && name != "ListPartsResponse"))  // the latter: moto
    return corrupt("the response is not a list of parts");
  const auto root = doc.document_element();
  S3PartPage page;
  for (const auto& child : root.children()) {
    if (local_name(child) != "Part") continue;
    const auto number = to_number(text_of(child, "PartNumber")), size = to_number(text_of(child, "Size"));
    if (!number || *number < 1 || *number > 10000 || !size)
      return corrupt("invalid entry in the list of parts");
    page.parts.push_back(
        {int(*number), unquote_etag(text_of(child, "ETag")), text_of(child, "ChecksumCRC32C"), *size});
  }
  if (text_of(root, "IsTruncated") == "true") page.next = text_of(root, "NextPartNumberMarker");
  return page;
}

Status parse_s3_deleted(std::string_view xml) {
  pugi::xml_document doc;
  if (!load(doc, xml) || local_name(doc.document_element()) != "DeleteResult")
    return corrupt("the response is not a list of deleted objects");
  size_t failed = 0;
  bool passing = true;
  std::string first;
  for (const auto& child : doc.document_element().children()) {
    if (local_name(child) != "Error") continue;
    const std::string code = text_of(child, "Code");
    passing &= code == "InternalError" || code == "SlowDown" || code == "ServiceUnavailable";
    if (failed++ == 0)
      first = "\"" + text_of(child, "Key") + "\" was not deleted: " + code + ": " + text_of(child, "Message");
  }
  if (failed == 0) return {};
  if (failed > 1) first += " (and " + std::to_string(failed - 1) + " more)";
  return {passing ? Code::Retry : Code::Auth, first};
}

std::string s3_field(std::string_view xml, std::string_view name) {
  pugi::xml_document doc;
  load(doc, xml);
  return text_of(doc.document_element(), name);
}

bool is_s3_error(std::string_view xml) {
  pugi::xml_document doc;
  load(doc, xml);
  return local_name(doc.document_element()) == "Error";
}

std::string unquote_etag(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"') etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

Status not_a_store(const std::string& what) {
  return Status(Code::Corrupt, what + ": the response reports success but lacks an ETag")
      .with_hint(
          "This is not a response of S3. A proxy may have answered, or AWS_ENDPOINT_URL_S3 names another "
          "server.");
}

namespace {

struct S3Explanation {
  const char* code;
  Code kind;
  const char* hint;
};
constexpr S3Explanation kS3Explanations[] = {
    {"NoSuchBucket", Code::NotFound,
     "The bucket does not exist at this endpoint. Check its name, or create it first."},
    {"NoSuchKey", Code::NotFound, ""},
    {"NoSuchUpload", Code::NotFound, ""},
    {"AccessDenied", Code::Auth, "Allow it in the policies of the user or of the bucket."},
    {"AllAccessDisabled", Code::Auth, ""},
    {"InvalidAccessKeyId", Code::Auth, "The endpoint does not know this access key."},
    {"SignatureDoesNotMatch", Code::Auth, "The secret key is wrong, or a proxy changed the request."},
    {"ExpiredToken", Code::Auth, "Get new keys (for SSO: `aws sso login`)."},
    {"RequestTimeTooSkewed", Code::Auth, "Correct this computer's clock."},
    {"AuthorizationHeaderMalformed", Code::Auth, "Set AWS_REGION to the bucket's region."},
    {"SlowDown", Code::Retry, "The store limits the rate of requests."},
    {"ServiceUnavailable", Code::Retry, ""},
    {"InternalError", Code::Retry, ""},
    {"RequestTimeout", Code::Retry, ""},
    {"OperationAborted", Code::Retry, ""},
    {"PreconditionFailed", Code::Conflict, ""},
    {"BadDigest", Code::Corrupt, "The data changed on its way."},
    {"XAmzContentChecksumMismatch", Code::Corrupt, "The data changed on its way."},
    {"QuotaExceeded", Code::Quota, ""},
    {"EntityTooLarge", Code::Quota, ""},
    {"XMinioStorageFull", Code::Quota, ""},
};

}  // namespace

Status s3_error(const http::Response& r, const std::string& what) {
  Status s = http::status_of(r, what);
  const std::string code = s3_field(r.body, "Code"), message = s3_field(r.body, "Message");
  if (code.empty()) return s;
  const std::string text = what + ": " + code + (message.empty() ? "" : ": " + message);
  for (const auto& known : kS3Explanations) {
    if (code == known.code) return Status(known.kind, text).with_hint(known.hint);
  }
  return {s.code(), text};
}

Result<HdfsEntry> parse_hdfs_status(std::string_view json) { return entry_of(member(json, "FileStatus")); }

Result<std::vector<HdfsEntry>> parse_hdfs_list(std::string_view json) {
  const auto outer = member(json, "FileStatuses");
  if (!outer.is_object() || !outer.contains("FileStatus") || !outer["FileStatus"].is_array())
    return corrupt("WebHDFS: the response is not a list of files");
  std::vector<HdfsEntry> all;
  for (const auto& item : outer["FileStatus"]) {
    auto entry = entry_of(item);
    if (!entry.ok()) return entry.status();
    all.push_back(std::move(*entry));
  }
  return all;
}

bool parse_hdfs_boolean(std::string_view json) {
  const auto value = member(json, "boolean");
  return value.is_boolean() && value.get<bool>();
}

Status hdfs_error(const http::Response& r, const std::string& what) {
  const auto e = member(r.body, "RemoteException");
  if (!e.is_object()) return http::status_of(r, what);
  const std::string kind = text_member(e, "exception"), message = text_member(e, "message");
  return {hdfs_code(kind, r.status), what + ": " + kind + ": " + message.substr(0, message.find('\n'))};
}

ContentRange parse_content_range(std::string_view text) {
  ContentRange range;
  if (!text.starts_with("bytes ")) return range;
  text.remove_prefix(6);
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) range.total = to_number(text.substr(slash + 1));
  text = text.substr(0, slash);
  if (const size_t dash = text.find('-'); dash != std::string_view::npos)
    range.first = to_number(text.substr(0, dash));
  return range;
}

Result<std::string> bytes_of_range(http::Response answer, const Range& range, const std::string& what) {
  const bool part = answer.status == 206;
  const uint64_t first =
      part ? parse_content_range(answer.header("content-range")).first.value_or(range.first) : 0;
  const bool longer = part && range.count > 0 && answer.body.size() > range.count;
  if (first != range.first || longer)
    return Status(Code::Corrupt, what + ": the server returned a different range than requested");
  if (range.count > 0 && answer.body.size() > range.count) answer.body.resize(range.count);
  return std::move(answer.body);
}

}  // namespace radl::transfer
