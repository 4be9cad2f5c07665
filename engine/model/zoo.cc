// The table of the zoo: maps names to model texts.
#include <fmt/format.h>

#include "common/text.h"
#include "engine/model/graph.h"
#include "engine/model/parse.h"
#include "engine/model/zoo_texts.h"

namespace radl::engine {

namespace {

struct ZooEntry {
  const char* name;
  const char* text;
  const char* parameter = "";  // NAME=VALUE;NAME=VALUE, replacing @NAME in the text
};

constexpr ZooEntry kZoo[] = {
    {"logistic", zoo::kLogistic},
    {"mlp", zoo::kMlp},
    {"lenet", zoo::kLenet},
    {"resnet20", zoo::kResnetCifar, "name=resnet20;last=2"},
    {"resnet32", zoo::kResnetCifar, "name=resnet32;last=4"},
    {"resnet44", zoo::kResnetCifar, "name=resnet44;last=6"},
    {"resnet56", zoo::kResnetCifar, "name=resnet56;last=8"},
    {"resnet110", zoo::kResnetCifar, "name=resnet110;last=17"},
    {"resnet18", zoo::kResnet18Cifar},
    {"resnet18-224", zoo::kResnet18},
    {"resnet50", zoo::kResnet50},
    {"fastcifar", zoo::kFastCifar, "name=fastcifar;a=64;b=256;c=256"},
    {"fastcifar-s", zoo::kFastCifarS},
    {"inception-resnet-v1", zoo::kInceptionResnetV1},
    {"vit-tiny", zoo::kVitTiny},
};

std::string fill(std::string text, std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view one = parameters.substr(0, parameters.find(';'));
    parameters.remove_prefix(std::min(parameters.size(), one.size() + 1));
    const std::string key = "@" + std::string(one.substr(0, one.find('='))) + "@";
    const std::string value(one.substr(one.find('=') + 1));
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at))
      text.replace(at, key.size(), value);
  }
  return text;
}

}  // namespace

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  for (const ZooEntry& entry : kZoo) names.push_back(entry.name);
  return names;
}

Result<std::string> zoo_text(std::string_view name) {
  // "resnet-20" and "resnet20" are the same model.
  const auto plain = [](std::string_view text) {
    std::string out;
    for (char c : text)
      if (c != '-' && c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  };
  for (const ZooEntry& entry : kZoo)
    if (plain(entry.name) == plain(name)) return fill(entry.text, entry.parameter);
  const std::string near = nearest(name, zoo_names());
  return not_found(fmt::format("no model is called \"{}\"", name))
      .with_hint(near.empty() ? fmt::format("known are {}", fmt::join(zoo_names(), ", "))
                              : fmt::format("did you mean {}?", near));
}

}  // namespace radl::engine
