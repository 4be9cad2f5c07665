// OpenStack Swift, and servers that speak its protocol (Ceph), as an object store. Large objects are static
// (SLO), with their segments in CONTAINER_segments, as in Swift's own client.
// Source: OpenStack Object Store API v1; Swift's documentation, "Large Object Support", "TempURL", "Auth
// System" (TempAuth's v1 login).
//
// Swift supports only If-None-Match: *, and each of its replicas decides alone. A conditional write usually
// detects another writer, but not two writes at the same moment. Writes with if_match are Unsupported.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/transfer/rest_store.h"

namespace radl::transfer {

// Provides the URL of the account's containers and a token for them. Thread-safe.
class SwiftAccess {
 public:
  struct Account {
    std::string url;    // ".../v1/AUTH_project"
    std::string token;  // a secret
  };
  virtual ~SwiftAccess() = default;
  // Auth: the credential is invalid; the message says why. NotFound: the cloud has no object store.
  virtual Result<Account> account(const Stop& stop) = 0;
  virtual void refused(const std::string& token) = 0;
};

struct SwiftOptions {
  std::shared_ptr<SwiftAccess> access;
  std::string ca_file;  // "": the system's
  int attempts = 6;
};

// Uses ST_AUTH, ST_USER and ST_KEY (a version 1 login), else OpenStack's variables and clouds.yaml
// (common/openstack/settings.h).
Result<SwiftOptions> swift_options(http::Client& http, const Lookup& environment);

class Swift : public RestStore {
 public:
  Swift(http::Client& http, SwiftOptions options, std::string container);

  std::string address(const std::string& key) const override;
  Result<Object> put(const std::string& key, std::string bytes, const PutCondition& condition = {},
                     const Stop& stop = {}) override;
  Result<Object> put_file(const std::string& key, const std::string& path, const Upload& how = {}) override;
  Result<Object> copy(const std::string& from, const std::string& to, const Stop& stop = {}) override;
  Result<std::vector<Object>> list(const std::string& prefix, const Stop& stop = {}) override;
  Status remove(const std::string& key, const Stop& stop = {}) override;
  // A temporary URL, signed with the container's or the account's key. Auth: neither has one.
  Result<std::string> presign(const std::string& method, const std::string& key, int seconds,
                              const Stop& stop = {}) override;
  Result<int> abort_uploads(const std::string& prefix, std::time_t begun_before,
                            const Stop& stop = {}) override;

 protected:
  Result<std::string> bytes_url(const std::string& key, const Stop& stop) override;
  Result<std::string> object_url(const std::string& key, const Stop& stop) override;
  Result<http::Headers> authorization(const http::Request& request, uint64_t body_bytes,
                                      const Stop& stop) override;
  bool put_right(const http::Response& answer) override;
  Described described(const http::Response& answer) const override;
  void only_if(const std::string& etag, std::string& url, http::Headers& headers) const override;
  Status look_at_parts(const std::string& key, Described& object, const Stop& stop) override;
  Status error(const http::Response& answer, const std::string& key) const override;

 private:
  friend class SwiftUpload;
  struct Segment {
    std::string container, name, md5;  // md5 in hexadecimal
    uint64_t bytes = 0;
    bool nested = false;  // the segment is itself a large object
  };
  std::string segments() const { return container_ + "_segments"; }
  Result<std::string> url(const std::string& container, const std::string& key, const Stop& stop);
  // The segments of a large object; none if it is small or missing.
  Result<std::vector<Segment>> segments_of(const std::string& key, const Stop& stop);
  Result<std::vector<Object>> list_in(const std::string& container, const std::string& prefix,
                                      const Stop& stop);
  Result<Object> put_whole(const std::string& key, const std::string& path, uint64_t size, const Upload& how);
  Result<Object> put_segments(const std::string& key, const std::vector<Segment>& all, const Stop& stop);
  Status make_segment_container(const Stop& stop);
  Status remove_segments(const std::vector<Segment>& all, const Stop& stop);
  Result<std::string> url_key(const Stop& stop);

  const SwiftOptions options_;
  const std::string container_;
  std::mutex mutex_;
  std::string token_;  // used last
};

}  // namespace radl::transfer
