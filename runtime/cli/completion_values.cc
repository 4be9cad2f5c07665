#include "runtime/cli/completion_values.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/own_folders.h"
#include "compiler/source/source.h"
#include "compiler/syntax/parser.h"
#include "runtime/cli/project.h"
#include "runtime/driver/machinery.h"
#include "runtime/driver/nodes.h"
#include "runtime/foresight/shipped_profiles.h"
#include "tools/doc/doc.h"

namespace radl::cli {
namespace {

namespace fs = std::filesystem;

// The value that `option` was given among the words; empty: none.
std::string given(const std::vector<std::string>& words, const std::string& option) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
  }
  return "";
}

std::vector<std::string> files_of(const std::vector<std::string>& words) {
  ProjectOptions options;
  for (const std::string& word : words) {
    if (word.ends_with(".radl")) options.files.push_back(word);
  }
  auto files = source_files(options);
  return files.ok() ? *files : std::vector<std::string>();
}

std::vector<std::string> models() {
  std::set<std::string> names;
  for (const foresight::MeasuredProfile& profile : foresight::shipped_profiles())
    names.insert(profile.family.substr(0, profile.family.find(' ')));
  return {names.begin(), names.end()};
}

// "['a', 'b']" -> a, b. Other values than texts are left out.
std::vector<std::string> texts_in(const std::string& list) {
  std::vector<std::string> texts;
  for (size_t open = list.find('\''); open != std::string::npos; open = list.find('\'', open)) {
    const size_t close = list.find('\'', open + 1);
    if (close == std::string::npos) break;
    texts.push_back(list.substr(open + 1, close - open - 1));
    open = close + 1;
  }
  return texts;
}

std::vector<std::string> values_of(const DeclaredInput& input) {
  if (!input.values.empty()) return texts_in(input.values);
  if (input.type == "boolean") return {"yes", "no"};
  return input.name == "model" ? models() : std::vector<std::string>();
}

// "NAME=" for each input; after it, the values that this input may have.
std::vector<std::string> inputs(const std::vector<std::string>& files, const std::string& current) {
  std::vector<std::string> found;
  for (const std::string& file : files) {
    SourceMap sources;
    Diagnostics diagnostics;
    auto source = sources.load(file);
    if (!source.ok()) continue;
    const auto tree = parse(**source, diagnostics);
    for (const DeclaredInput& input : declared_inputs(*tree)) {
      const std::string word = input.name + "=";
      if (!current.starts_with(word)) found.push_back(word);
      if (current.starts_with(word)) {
        for (const std::string& value : values_of(input)) found.push_back(word + value);
      }
    }
  }
  return found;
}

// A state in a bucket is not opened.
std::string local_state(const Host& host, const std::vector<std::string>& words, const std::string& file) {
  std::string place = given(words, "--state");
  if (place.empty()) place = host.variable("RADL_STATE");
  if (place.find("://") != std::string::npos) return "";
  return place.empty() ? (fs::path(file).parent_path() / kStateFolder).string() : place;
}

std::vector<std::string> nodes(const Host& host, const std::vector<std::string>& words,
                               const std::vector<std::string>& files) {
  ProjectOptions options;
  options.files = files;
  options.state = local_state(host, words, files.empty() ? "" : files.front());
  options.name = given(words, "--name");
  auto loaded = options.state.empty() ? Result<Nodes>(not_found("")) : load_nodes(host, options);
  std::vector<std::string> found;
  if (!loaded.ok()) return found;
  for (const auto& [address, resource] : loaded->state.resources) {
    if (resource.is_node()) found.push_back(address);
  }
  return found;
}

std::vector<std::string> regions(const Host& host, const std::string& cloud) {
  const Catalog catalog = current_catalog(host);
  std::vector<std::string> found;
  for (const std::string& each : catalog.clouds()) {
    if (!cloud.empty() && each != cloud) continue;
    if (auto names = catalog.regions(each); names.ok())
      found.insert(found.end(), names->begin(), names->end());
  }
  return found;
}

}  // namespace

std::vector<std::string> completion_values(const Host& host, const std::string& kind,
                                           const std::vector<std::string>& words,
                                           const std::string& current) {
  if (kind == "input") return inputs(files_of(words), current);
  if (kind == "node") return nodes(host, words, files_of(words));
  if (kind == "region") return regions(host, given(words, "--cloud"));
  return {};
}

}  // namespace radl::cli
