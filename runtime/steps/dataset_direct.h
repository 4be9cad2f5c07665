// A node brings files of a dataset from the object store by itself, where that is faster than this computer
// sends them: most nodes of a cloud are near its buckets, and most people's computers are not.
//
// The node gets no credentials: each file has a URL that is signed here and good for an hour. The URLs go to
// curl's standard input and are in no file, command line or log.
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
  // None: the address is of no object store, nothing there has the name and the size of this file (of an
  // archive the files are inside), or no URL can be signed.
  static std::optional<DatasetStore> open(const Environment& environment, const std::string& address,
                                          const std::string& name, uintmax_t bytes, const Stop& stop);
  // Every file is compared with its digest. Unsupported: the node has no curl.
  Status fetch(const NodeHandle& node, const Fetched& what, const Stop& stop);
  const std::string& address() const { return address_; }

 private:
  DatasetStore() = default;
  std::unique_ptr<http::Client> http_;
  std::unique_ptr<transfer::ObjectStore> store_;
  std::string address_, prefix_;
};

}  // namespace radl
