#include "runtime/steps/program/artifact.h"

#include <string>
#include <utility>
#include <vector>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/steps/manifest.h"
#include "runtime/steps/training/result_record.h"

namespace radl::program {
namespace {

constexpr size_t kLargestRecord = size_t{256} << 20;  // bytes

// Sorted. A user may have put other files into the folder.
Result<std::vector<std::string>> names_of(const std::string& folder, const std::string& step) {
  auto text = read_file(folder + "/" + std::string(kResultsMark), kLargestRecord);
  if (!text) return text.status();
  std::vector<std::string> names;
  const training::ResultRecord record = training::ResultRecord::parse(*text);
  for (const auto& [name, entry] : record.entries) {
    if (entry.owner.step == step && name != "report.json" && !name.starts_with("logs/"))
      names.push_back(name);
  }
  return names;
}

Result<jobs::Tree> tree_of(const std::string& folder, const std::string& step) {
  auto names = names_of(folder, step);
  if (!names) return names.status();
  jobs::Tree tree;
  tree.path = folder;
  tree.only = std::move(*names);
  return tree;
}

}  // namespace

Result<Json> artifact_of(const std::string& folder, const std::string& step) {
  auto tree = tree_of(folder, step);
  if (!tree) return tree.status();
  auto entries = jobs::manifest_of(*tree);
  if (!entries) return entries.status();
  return Json{{"path", folder}, {"step", step}, {"sha256", sha256_hex(manifest_text(*entries))}};
}

Result<jobs::Tree> artifact_tree(const Json& files) {
  const std::string step = files.value("step", "");
  auto tree = tree_of(files.value("path", ""), step);
  if (!tree) return std::move(tree).status().at("the files of " + step);
  tree->digest = files.value("sha256", "");
  return tree;
}

}  // namespace radl::program
