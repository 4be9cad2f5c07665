// One folder elsewhere, by its URI: what source.h lists, fetches from and sends to. Internal to
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
  // All files below, in the order of their names. Unsupported if the source has no listing.
  virtual Result<std::vector<SourceFile>> list(const Stop& stop) = 0;
  // The file of this name below; "": the URI itself. Nothing if it does not exist.
  virtual Result<std::optional<SourceFile>> describe(const std::string& name, const Stop& stop) = 0;
  virtual Status fetch(const std::string& name, Download what) = 0;
  virtual Status send(const std::string& path, const std::string& name, const Stop& stop) = 0;
  virtual bool listed() const { return true; }
};

// Invalid: a scheme that is not known.
Result<std::unique_ptr<SourcePlace>> open_place(http::Client& http, const std::string& uri);

}  // namespace radl::transfer
