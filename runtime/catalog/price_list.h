// The AWS price list, as its bulk API gives it: one JSON file of offers for each service and region.
// https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html
//
// Taken are on-demand prices of machines with Linux, nothing installed, shared tenancy. Pure but for reading.
#pragma once

#include <cstdio>
#include <map>
#include <string>

#include "runtime/catalog/catalog.h"

namespace radl::catalog {

struct PriceList {
  std::string region, as_of;                  // "eu-west-1", "2025-11-03"
  std::string currency;                       // "USD"
  std::map<std::string, InstanceType> types;  // as far as the list says what they are
};

// Read piece by piece: the list of a large region has hundreds of megabytes. Invalid: not such a list, or one
// without a machine of the kind that is looked for.
Result<PriceList> read_price_list(std::FILE* json, const std::string& name);

// `file` (a catalogue of EC2, or empty) with the list's prices of the region in place of its own. The shapes
// of types that `known` does not have are taken from the list as well.
Result<std::string> with_prices(const std::string& file, const PriceList& list, const Catalog& known);

// `kept` (a catalogue, or empty) with what `newer` has: of each region's market the prices of the later day,
// the newer file's where both are of one; of each type the newer file's shape. Invalid: of another cloud or
// currency, or with prices of a day after `today` ("2026-11-20").
Result<std::string> merged(const std::string& kept, const std::string& newer, const std::string& name,
                           const std::string& today);

}  // namespace radl::catalog
