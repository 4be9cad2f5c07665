// A folder in a bucket of any object store, "gs://BUCKET/PREFIX", to which trainings write.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/store_address.h"
#include "common/transfer/object_store.h"
#include "runtime/steps/training/result_record.h"

namespace radl::training {

struct BucketFolder {
  std::shared_ptr<transfer::ObjectStore> store;
  std::string prefix;  // of its keys; empty or ends with '/'

  std::string key(const std::string& name) const { return prefix + name; }
  std::string address(const std::string& name) const { return store->address(key(name)); }
  Result<transfer::Object> send(const std::string& path, const std::string& name, const Stop& stop) const {
    transfer::Upload how;
    how.stop = stop;
    return store->put_file(key(name), path, how);
  }
};

inline bool is_bucket(const std::string& place) { return is_store_address(place); }

// Uses credentials from environment and vendors' files; sends nothing. `http` must outlive the result.
Result<BucketFolder> open_bucket_folder(http::Client& http, const std::string& place);
// Writes and removes a small object, so that a missing or inaccessible bucket is detected before the
// computation.
Status check_writable(const BucketFolder& folder, const Stop& stop);
// Same for the buckets of a training's or program's (docs/ir.md) results and checkpoints; Ok if it names
// none.
Status check_buckets(const nlohmann::json& job, const Environment& environment, const Stop& stop);
// A job's results in a bucket.
struct ResultsToSend {
  ResultOwner owner;
  std::string last;  // name of the file that is sent after all others
  std::string kept;  // as for ResultFolder::close()
};
// Sends all files below a local folder recursively. Removes what an earlier run of the job sent and this one
// does not: the object `.radl-results` lists it (result_record.h).
Status send_results(const BucketFolder& folder, const std::string& local, const ResultsToSend& results,
                    const Stop& stop);
// True if "gs://BUCKET/KEY" exists now.
Result<bool> is_in_bucket(const std::string& address, const Environment& environment, const Stop& stop);

}  // namespace radl::training
