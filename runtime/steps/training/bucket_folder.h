// A folder in a bucket of any object store, "gs://BUCKET/PREFIX", as trainings write to it.
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
  std::string prefix;  // of its keys; empty or with '/' at the end

  std::string key(const std::string& name) const { return prefix + name; }
  std::string address(const std::string& name) const { return store->address(key(name)); }
  Result<transfer::Object> send(const std::string& path, const std::string& name, const Stop& stop) const {
    transfer::Upload how;
    how.stop = stop;
    return store->put_file(key(name), path, how);
  }
};

inline bool is_bucket(const std::string& place) { return is_store_address(place); }

// By what environment and the vendors' files say of credentials; nothing is asked yet. `http` outlives it.
Result<BucketFolder> open_bucket_folder(http::Client& http, const std::string& place);
// Writes a small object and removes it again, so that a bucket that is missing or closed is known before
// anything is computed for it.
Status check_writable(const BucketFolder& folder, const Stop& stop);
// The same for the buckets that a training or program (docs/ir.md) names for its results and checkpoints; ok
// where it names none.
Status check_buckets(const nlohmann::json& job, const Environment& environment, const Stop& stop);
// What a job's results are in a bucket.
struct ResultsToSend {
  ResultOwner owner;
  std::string last;  // the name of the file that is sent after all others
  std::string kept;  // as ResultFolder::close() takes it
};
// All files below a local folder, several levels deep. What an earlier run of the job has sent and this one
// does not is removed: the object `.radl-results` names it (result_record.h).
Status send_results(const BucketFolder& folder, const std::string& local, const ResultsToSend& results,
                    const Stop& stop);
// Whether "gs://BUCKET/KEY" is there now.
Result<bool> is_in_bucket(const std::string& address, const Environment& environment, const Stop& stop);

}  // namespace radl::training
