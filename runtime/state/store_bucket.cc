// A bucket or container of any object store.
#include <algorithm>
#include <ctime>

#include "common/http/http.h"
#include "common/transfer/object_store.h"
#include "runtime/state/bucket.h"

namespace radl {

namespace {

class StoreBucket : public Bucket {
 public:
  StoreBucket(std::string address, const Environment& environment)
      : address_(std::move(address)), http_(environment) {}
  Status open() {
    auto opened = transfer::open_object_store(http_, address_);
    if (opened.ok()) store_ = std::move(opened->store);
    return opened.ok() ? Status() : opened.status();
  }

  Result<std::optional<BucketObject>> get(const std::string& key, const Stop& stop) override {
    Result<transfer::Fetched> content = store_->get(key, {}, stop);
    if (!content.ok() && is_missing_key(content.status())) return std::optional<BucketObject>();
    if (!content.ok()) return said(content.status());
    if (content->served == 0 || content->object.modified == 0 || content->object.etag.empty())
      return Status(Code::Unsupported, url(key) + ": the server's answer has no times or no ETag");
    BucketObject object;
    object.body = std::move(content->bytes);
    object.etag = std::move(content->object.etag);
    object.age = std::max(0.0, std::difftime(content->served, content->object.modified));
    return std::optional<BucketObject>(std::move(object));
  }

  Result<std::string> put(const std::string& key, const std::string& body, const WriteIf& condition,
                          const Stop& stop) override {
    Result<transfer::Object> written = store_->put(key, body, {condition.absent, condition.etag}, stop);
    if (written.ok()) return written->etag;
    const Code code = written.status().code();
    // If-Match on what is not there is answered 404, which is as good as another ETag.
    const bool gone = !condition.etag.empty() && is_missing_key(written.status());
    if (code == Code::Exists || gone) return Status(Code::Conflict, written.status().message());
    return written.status();
  }

  Status remove(const std::string& key, const Stop& stop) override { return store_->remove(key, stop); }

  Result<std::vector<std::string>> keys(const std::string& prefix, const Stop& stop) override {
    Result<std::vector<transfer::Object>> objects = store_->list(prefix, stop);
    if (!objects.ok()) return said(objects.status());
    std::vector<std::string> keys;
    for (const transfer::Object& object : *objects) keys.push_back(object.key);
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  std::string url(const std::string& key) const override { return address_ + "/" + key; }

 private:
  // A bucket that is not there is no place without a state.
  static Status said(Status status) {
    if (status.code() != Code::NotFound) return status;
    return Status(Code::Invalid, status.message())
        .with_hint("create the bucket or container first, or look at its name, region and account");
  }
  static bool is_missing_key(const Status& status) {
    return status.code() == Code::NotFound && !transfer::is_missing_container(status);
  }

  std::string address_;
  http::Client http_;
  std::unique_ptr<transfer::ObjectStore> store_;
};

}  // namespace

Result<std::unique_ptr<Bucket>> open_bucket(const std::string& address, const Environment& environment) {
  auto opened = std::make_unique<StoreBucket>(address, environment);
  if (Status ready = opened->open(); !ready.ok()) return ready;
  return std::unique_ptr<Bucket>(std::move(opened));
}

}  // namespace radl
