// A node downloads dataset files from the object store itself if that is faster than sending them from this
// computer: most cluster nodes are near their buckets, most people's computers are not.
//
// The node gets no credentials: each file has a URL signed here and valid for an hour. The URLs are passed on
// curl's standard input and appear in no file, command line or log.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/http/http.h"
#include "common/transfer/object_store.h"
#include "runtime/steps/dataset_spread.h"

namespace radl {

class DatasetStore {
 public:
  // nullopt: the address is not in an object store, the store has no object with this file's name and size
  // (files may be inside an archive), or no URL can be signed.
  static std::optional<DatasetStore> open(const Environment& environment, const std::string& address,
                                          const std::string& name, uintmax_t bytes, const Stop& stop);
  // Verifies each file's digest. Unsupported: the node has no curl.
  Status fetch(const NodeHandle& node, const Fetched& what, const Stop& stop);
  const std::string& address() const { return address_; }

 private:
  DatasetStore() = default;
  std::unique_ptr<http::Client> http_;
  std::unique_ptr<transfer::ObjectStore> store_;
  std::string address_, prefix_;
};

}  // namespace radl
