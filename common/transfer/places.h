// A remote folder by its URI: the interface behind source.h for listing, fetching and sending. Internal to
// common/transfer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/transfer/source.h"

namespace radl::transfer {

class SourcePlace {
 public:
  virtual ~SourcePlace() = default;
  // All files below, sorted by name. Unsupported if the source has no listing.
  virtual Result<std::vector<SourceFile>> list(const Stop& stop) = 0;
  // The file of this name below; "" means the URI itself. nullopt if it does not exist.
  virtual Result<std::optional<SourceFile>> describe(const std::string& name, const Stop& stop) = 0;
  virtual Status fetch(const std::string& name, Download what) = 0;
  virtual Status send(const std::string& path, const std::string& name, const Stop& stop) = 0;
  virtual bool listed() const { return true; }
};

// Invalid: unknown scheme.
Result<std::unique_ptr<SourcePlace>> open_place(http::Client& http, const std::string& uri);

}  // namespace radl::transfer
