#include "compiler/eval/datasets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/dataset_digest.h"
#include "common/dataset_files.h"
#include "common/digest.h"

namespace radl::passes {
namespace {

constexpr std::string_view kBrought = "cifar10";
// What a job file may name (docs/job.md) where the data lie on the nodes already.
constexpr std::array<std::string_view, 8> kFormats = {"cifar10", "cifar100", "idx",    "mnist",
                                                      "folder",  "csv",      "packed", "auto"};

}  // namespace

std::string dataset_location(const std::string& place, const std::string& folder) {
  if (is_remote_place(place)) return place;
  std::string path = path_of_place(place);
  if (path.starts_with("~/"))
    if (const char* home = std::getenv("HOME"); home && *home) path = home + path.substr(1);
  return absolute_path(folder, path);
}

Status set_dataset_location(LocalFiles& files, const std::string& place, const std::string& folder,
                            const std::string& key, ir::Json& into) {
  const std::string location = dataset_location(place, folder);
  if (!is_remote_place(location)) {
    auto digest = files.dataset_digest(location);
    if (!digest.ok()) return digest.status();
    into[key + "_sha256"] = *digest;
  }
  into[key] = location;
  return {};
}

std::string dataset_directory(const std::string& dataset) {
  if (!names_a_place(dataset)) return "data/" + dataset;
  return "data/" + place_stem(dataset) + "-" + sha256_hex(dataset).substr(0, 6);
}

Status check_dataset_name(const std::string& name, bool has_directory, const std::string& folder) {
  if (names_a_place(name) || name == kBrought) return {};
  if (has_directory && std::find(kFormats.begin(), kFormats.end(), name) != kFormats.end()) return {};
  std::error_code error;
  Status wrong = invalid(fmt::format("there is no dataset of the name '{}'", name));
  if (std::filesystem::exists(std::filesystem::path(folder) / name, error))
    return std::move(wrong).with_hint(fmt::format("write './{}' for the one beside this file", name));
  return std::move(wrong).with_hint(
      "'cifar10' is known by its name; a folder, archive or CSV of your own is named by its path, such as "
      "'./images'");
}

}  // namespace radl::passes
