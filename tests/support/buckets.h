// S3 in a test, as a ScriptedServer's answers: objects with conditional writes, and who has signed the
// requests for each bucket.
#pragma once

#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "common/digest.h"
#include "common/environment.h"
#include "common/http/url.h"
#include "common/utc.h"
#include "tests/support/scripted_server.h"

namespace radl::test {

class Buckets {
 public:
  // Of the user whose environment has these settings, and a home.
  static Environment environment(const std::string& home, const std::string& endpoint) {
    return Environment(Environment::Variables{{"HOME", home},
                                              {"PATH", "/usr/bin:/bin"},
                                              {"AWS_ACCESS_KEY_ID", "AKID"},
                                              {"AWS_SECRET_ACCESS_KEY", "secret"},
                                              {"AWS_REGION", "eu-west-1"},
                                              {"AWS_EC2_METADATA_DISABLED", "true"},
                                              {"AWS_ENDPOINT_URL_S3", endpoint}});
  }
  std::string answer(const std::string& request) {
    const std::string method = request.substr(0, request.find(' ')),
                      signature = header_of(request, "Authorization");
    std::string path = request.substr(method.size() + 1);
    path.resize(path.find(' '));
    const size_t question = std::min(path.find('?'), path.size());
    const std::string query = path.substr(std::min(question + 1, path.size()));
    path.resize(question);
    const size_t key = signature.find("Credential=");
    std::lock_guard lock(mutex_);
    signed_by_[path.substr(1, path.find('/', 1) - 1)].insert(
        key == signature.npos ? "" : signature.substr(key + 11, signature.find('/', key) - key - 11));
    if (query.find("list-type=2") != query.npos) return http_answer(200, "", list(path, query));
    auto found = objects_.find(path);
    if (method == "GET" || method == "HEAD") {
      if (found == objects_.end()) return http_answer(404, "", error("NoSuchKey"));
      return http_answer(200, headers(found->second), method == "GET" ? found->second : "");
    }
    if (method == "DELETE") {
      objects_.erase(path);
      return http_answer(204, headers(""), "");
    }
    const std::string match = header_of(request, "If-Match");
    const bool absent = header_of(request, "If-None-Match") == "*";
    if ((absent && found != objects_.end()) ||
        (!match.empty() && (found == objects_.end() || match != etag(found->second))))
      return http_answer(412, "", error("PreconditionFailed"));
    std::string& object = objects_[path];
    object = request.substr(request.find("\r\n\r\n") + 4);
    return http_answer(200, headers(object), "");
  }
  std::map<std::string, std::set<std::string>> signed_by() {
    std::lock_guard lock(mutex_);
    return signed_by_;
  }
  size_t left() {
    std::lock_guard lock(mutex_);
    return objects_.size();
  }
  // By path, "/bucket/key".
  std::map<std::string, std::string> objects() {
    std::lock_guard lock(mutex_);
    return objects_;
  }
  void set_objects(std::map<std::string, std::string> objects) {
    std::lock_guard lock(mutex_);
    objects_ = std::move(objects);
  }

 private:
  static std::string etag(const std::string& object) {
    return "\"" + sha256_hex(object).substr(0, 32) + "\"";
  }
  static std::string headers(const std::string& object) {
    const std::string now = utc_text(std::time(nullptr), "%a, %d %b %Y %H:%M:%S GMT");
    return "ETag: " + etag(object) + "\r\nDate: " + now + "\r\nLast-Modified: " + now + "\r\n";
  }
  std::string list(const std::string& bucket, const std::string& query) const {
    std::string prefix = bucket.ends_with('/') ? bucket : bucket + "/", text = "<ListBucketResult>";
    const size_t root = prefix.size();
    for (const auto& [name, value] : http::parse_query(query))
      if (name == "prefix") prefix += value;
    for (const auto& [path, object] : objects_) {
      if (path.starts_with(prefix))
        text += "<Contents><Key>" + path.substr(root) + "</Key><Size>" + std::to_string(object.size()) +
                "</Size></Contents>";
    }
    return text + "</ListBucketResult>";
  }
  static std::string error(const std::string& code) {
    return "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code></Error>";
  }

  std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  std::map<std::string, std::set<std::string>> signed_by_;
};

}  // namespace radl::test
