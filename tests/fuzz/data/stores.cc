// Any bytes as what Google Cloud Storage, Azure Blob and Swift answer, in a row. The first byte chooses the
// store, the second what is asked.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "common/transfer/azure_blob.h"
#include "common/transfer/gcs.h"
#include "common/transfer/swift.h"
#include "tests/fuzz/scripted_http.h"
#include "tests/support/temporary_folder.h"

using namespace radl;
using namespace radl::transfer;

namespace {

class OneToken : public TokenSource {
 public:
  Result<std::string> token(const Stop&) override { return std::string(fuzz::kSecret); }
  void refused(const std::string&) override {}
};

class OneAccount : public SwiftAccess {
 public:
  Result<Account> account(const Stop&) override {
    return Account{"https://swift.example/v1/AUTH_p", std::string(fuzz::kSecret)};
  }
  void refused(const std::string&) override {}
};

std::unique_ptr<ObjectStore> store(http::Client& http, uint8_t which) {
  if (which % 3 == 0) {
    GcsOptions options;
    options.tokens = std::make_shared<OneToken>();
    options.attempts = 2;
    return std::make_unique<Gcs>(http, std::move(options), "bucket");
  }
  if (which % 3 == 1) {
    AzureBlobOptions options;
    options.endpoint = "https://account.blob.core.windows.net";
    options.account = "account";
    if (which % 2 == 0)
      options.key = fuzz::kSecret;
    else
      options.sas = "sv=2024-05-04&sig=" + std::string(fuzz::kSecret);
    options.attempts = 2;
    return std::make_unique<AzureBlob>(http, std::move(options), "container");
  }
  SwiftOptions options;
  options.access = std::make_shared<OneAccount>();
  options.attempts = 2;
  return std::make_unique<Swift>(http, std::move(options), "container");
}

void ask(ObjectStore& store, uint8_t what, const std::string& folder) {
  const Stop stop = fuzz::no_waiting();
  const std::string key = "data/a b\xC3\xA9#?%.csv";
  switch (what % 9) {
    case 0: {
      auto all = store.list("data/", stop);
      if (!all.ok()) return fuzz::look_at(all.status());
      for (const Object& object : *all)
        if (!object.key.starts_with("data/")) std::abort();
      return;
    }
    case 1:
      return fuzz::look_at(store.head(key, stop).status());
    case 2:
      return fuzz::look_at(store.get(key, {}, stop).status());
    case 3: {
      auto part = store.get(key, {3, 5}, stop);
      if (part.ok() && part->bytes.size() > 5) std::abort();
      return fuzz::look_at(part.status());
    }
    case 4:
      return fuzz::look_at(store.put(key, "bytes", {what >= 128, what >= 64 ? "etag" : ""}, stop).status());
    case 5:
      return fuzz::look_at(store.copy(key, "data/other", stop).status());
    case 6:
      return fuzz::look_at(store.remove_many({key, "data/other"}, stop));
    case 7:
      return fuzz::look_at(store.abort_uploads("data/", 1'000'000'000, stop).status());
    default: {
      Upload how;
      how.stop = stop;
      how.parallel = 1;
      return fuzz::look_at(store.put_file(key, folder + "/small", how).status());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const test::TemporaryFolder folder;
  static const bool written = bool(std::ofstream(folder.path("small")) << "twelve bytes");
  if (!written || size < 2) return 0;
  http::Client http{environment_of_process()};
  fuzz::script(data + 2, size - 2);
  ask(*store(http, data[0]), data[1], folder.path());
  return 0;
}
