// Addresses of objects in stores, as users write them. Pure: contacts no server.
//
//   s3://BUCKET/KEY       Amazon S3, and servers that speak its protocol
//   gs://BUCKET/KEY       Google Cloud Storage
//   az://CONTAINER/KEY    Azure Blob Storage, in the account that the environment names
//   https://ACCOUNT.blob.core.windows.net/CONTAINER/KEY   the same, with the account (and those of Azure's
//   other
//                         clouds); with a query it is a URL like any other
//   swift://CONTAINER/KEY OpenStack Swift, in the project of the OS_* variables
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// For messages.
inline constexpr const char* kStoreAddresses =
    "s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX, swift://CONTAINER/PREFIX";

enum class StoreKind { S3, Google, Azure, Swift };

struct StoreAddress {
  StoreKind kind = StoreKind::S3;
  std::string account_url;  // for an Azure address with an account: "https://ACCOUNT.blob.core.windows.net"
  std::string container;    // bucket or container
  std::string key;          // the text after the container's '/'; may be empty or end in '/'

  // Without the key: "gs://BUCKET".
  std::string root() const;
  // "gs://BUCKET/KEY".
  std::string text() const;
  // A unique folder for each bucket: "gs/BUCKET", "az/ACCOUNT.blob.core.windows.net/CONTAINER".
  std::string folder() const;
};

// True for one of the addresses above.
bool is_store_address(std::string_view text);
// Invalid: not such an address, or the name of the bucket or container is not allowed.
Result<StoreAddress> parse_store_address(std::string_view text);
// Same for a folder. Strips trailing slashes. Invalid: parts that some servers interpret (empty, "." and
// ".."), control characters, '?', '#' and '\\'.
Result<StoreAddress> parse_store_folder(std::string_view text);
// True if the store supports conditional writes, which a state needs to detect concurrent writers. False for
// Swift, whose replicas may each accept another writer's object.
bool writes_on_condition(const StoreAddress& address);

}  // namespace radl
