// The AWS price list, as its bulk API gives it: one JSON file of offers for each service and region.
// https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html
//
// Taken are on-demand prices of machines with Linux, nothing installed, shared tenancy.
#pragma once

#include <cstdio>
#include <string>

#include "runtime/catalog/price_list.h"

namespace radl::http {
class Client;
}

namespace radl::ec2 {

// Reads piece by piece: the list of a large region has hundreds of megabytes. Invalid: not such a list, or
// one without a matching machine.
Result<catalog::PriceList> read_price_list(std::FILE* json, const std::string& name);

// Downloads the list of a region into a temporary file, and reads it. Quota: no room for the file.
Result<catalog::PriceList> fetch_price_list(http::Client& client, const std::string& region);

}  // namespace radl::ec2
