// Price lists of vendors, merged into catalogues. Pure.
#pragma once

#include <map>
#include <string>

#include "runtime/catalog/catalog.h"

namespace radl::catalog {

struct PriceList {
  std::string cloud, source;                  // "ec2", "the AWS price list, ..."
  std::string region, as_of;                  // "eu-west-1", "2025-11-03"
  std::string currency;                       // "USD"
  std::map<std::string, InstanceType> types;  // as far as the list says what they are
};

// `file` (a catalogue of the list's cloud, or empty) with the list's prices of the region in place of its
// own. The shapes of types that `known` does not have are taken from the list as well.
Result<std::string> with_prices(const std::string& file, const PriceList& list, const Catalog& known);

// `kept` (a catalogue, or empty) with what `newer` has: of each region's market the prices of the later day,
// the newer file's where both are of one; of each type the newer file's shape. Invalid: of another cloud or
// currency, or with prices of a day after `today` ("2026-11-20").
Result<std::string> merged(const std::string& kept, const std::string& newer, const std::string& name,
                           const std::string& today);

}  // namespace radl::catalog
