// Where objects lie, as users write it. Pure: nothing is asked.
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
  std::string account_url;  // of an Azure address with its account: "https://ACCOUNT.blob.core.windows.net"
  std::string container;    // bucket or container
  std::string key;          // the text after the container's '/'; may be empty or end in '/'

  // Without the key: "gs://BUCKET".
  std::string root() const;
  // "gs://BUCKET/KEY".
  std::string text() const;
  // "gs/BUCKET", "az/ACCOUNT.blob.core.windows.net/CONTAINER": a folder of its own for each.
  std::string folder() const;
};

// Whether this is one of the addresses above.
bool is_store_address(std::string_view text);
// Invalid: it is none, or no bucket or container can have such a name.
Result<StoreAddress> parse_store_address(std::string_view text);
// As above, of a folder: without slashes at its end, and without parts that some servers take for others
// (empty, "." and ".."), control characters, '?', '#' and '\\'.
Result<StoreAddress> parse_store_folder(std::string_view text);
// Whether two who write at the same time can be distinguished there, as a state needs it: not in Swift, whose
// replicas may each take another one's object.
bool writes_on_condition(const StoreAddress& address);

}  // namespace radl
