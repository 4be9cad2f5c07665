// Which store an address is of.
#include "common/aws/settings.h"
#include "common/store_address.h"
#include "common/transfer/azure_blob.h"
#include "common/transfer/gcs.h"
#include "common/transfer/object_store.h"
#include "common/transfer/s3.h"
#include "common/transfer/swift.h"

namespace radl::transfer {
namespace {

using Opened = Result<std::unique_ptr<ObjectStore>>;

Opened open_s3(http::Client& http, const StoreAddress& address) {
  auto configuration = aws::Configuration::load(http.environment());
  if (!configuration.ok()) return configuration.status();
  auto options = s3_options(http, *configuration);
  if (!options.ok()) return options.status();
  return Opened(std::make_unique<S3>(http, std::move(*options), address.container));
}

Opened open_google(http::Client& http, const StoreAddress& address) {
  auto options = gcs_options(http, http.environment());
  if (!options.ok()) return options.status();
  return Opened(std::make_unique<Gcs>(http, std::move(*options), address.container));
}

Opened open_azure(http::Client& http, const StoreAddress& address) {
  auto options = azure_blob_options(address.account_url, http.environment());
  if (!options.ok()) return options.status();
  if (options->key.empty() && options->sas.empty()) {
    auto tokens = azure_tokens(http, http.environment());
    if (!tokens.ok()) return tokens.status();
    options->tokens = std::move(*tokens);
  }
  return Opened(std::make_unique<AzureBlob>(http, std::move(*options), address.container));
}

Opened open_swift(http::Client& http, const StoreAddress& address) {
  auto options = swift_options(http, http.environment());
  if (!options.ok()) return options.status();
  return Opened(std::make_unique<Swift>(http, std::move(*options), address.container));
}

Opened open_by_kind(http::Client& http, const StoreAddress& address) {
  switch (address.kind) {
    case StoreKind::S3:
      return open_s3(http, address);
    case StoreKind::Google:
      return open_google(http, address);
    case StoreKind::Azure:
      return open_azure(http, address);
    case StoreKind::Swift:
      return open_swift(http, address);
  }
  return internal_error(address.root() + ": no store opens it");
}

}  // namespace

Result<OpenedStore> open_object_store(http::Client& http, const std::string& uri) {
  auto address = parse_store_address(uri);
  if (!address.ok()) return address.status();
  auto store = open_by_kind(http, *address);
  if (!store.ok()) return store.status();
  return OpenedStore{std::move(*store), std::move(address->key)};
}

}  // namespace radl::transfer
