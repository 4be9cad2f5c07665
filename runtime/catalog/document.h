// One file of the catalogue, as docs/catalog.md describes its format. Internal to runtime/catalog.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/catalog/catalog.h"

namespace radl::catalog {

struct Section {
  bool types = false;  // else prices of one market in one region
  Market market = Market::OnDemand;
  std::string_view region, as_of;
  std::string_view body;  // the lines below its head
};

// Views into the text that it was read from.
struct Document {
  std::string name;  // for messages
  std::string_view text;
  std::string cloud, currency;
  std::vector<std::string> sources;
  std::vector<Section> sections;
};

// Head and the heads of sections, not their lines.
Result<Document> read_document(std::string_view text, const std::string& name);

// Calls `take` with each type, until it says false. `wanted` tells by name whether a type is of interest; the
// lines of others are not looked at.
Status read_types(const Document& document, const Section& section,
                  const std::function<bool(std::string_view name)>& wanted,
                  const std::function<void(InstanceType&&)>& take);
// micros per hour; -1: it can be had, the price is not known.
Status read_prices(const Document& document, const Section& section,
                   const std::function<void(std::string&& name, int64_t micros)>& take);

// "2025-11-03", a day that exists.
bool is_date(std::string_view text);

}  // namespace radl::catalog
