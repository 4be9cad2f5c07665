// Parses one file of the catalogue (format: docs/catalog.md). Internal to runtime/catalog.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/catalog/catalog.h"

namespace radl::catalog {

struct Section {
  bool types = false;  // otherwise prices of one market in one region
  Market market = Market::OnDemand;
  std::string_view region, as_of;
  std::string_view body;  // the lines after its header
};

// Views into the source text.
struct Document {
  std::string name;  // for messages
  std::string_view text;
  std::string cloud, currency;
  std::vector<std::string> sources;
  std::vector<Section> sections;
};

// Parses the header and the section headers, but not their lines.
Result<Document> read_document(std::string_view text, const std::string& name);

// Calls `take` for each type until it returns false. `wanted` selects types by name; lines of other types are
// skipped unparsed.
Status read_types(const Document& document, const Section& section,
                  const std::function<bool(std::string_view name)>& wanted,
                  const std::function<void(InstanceType&&)>& take);
// micros per hour; -1: available at an unknown price.
Status read_prices(const Document& document, const Section& section,
                   const std::function<void(std::string&& name, int64_t micros)>& take);

// True for a valid date such as "2025-11-03".
bool is_date(std::string_view text);

}  // namespace radl::catalog
