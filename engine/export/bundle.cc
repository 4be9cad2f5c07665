#include "engine/export/bundle.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/files.h"
#include "common/new_file.h"
#include "engine/export/pytorch_order.h"

namespace radl::engine::exporter {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kLargestText = 16 << 20, kLargestOnnx = size_t{2} << 30;

Status check(const Bundle& b, const std::string& path) {
  const bool sane = b.input.height > 0 && b.input.width > 0 && b.input.channels > 0 && b.classes > 1 &&
                    b.mean.size() == size_t(b.input.channels) && b.deviation.size() == b.mean.size() &&
                    (b.class_names.empty() || b.class_names.size() == size_t(b.classes));
  return sane ? Status()
              : Status(Code::Corrupt, path + ": its shape, classes and normalisation do not fit each other");
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

// A weight that is no number predicts nothing. `values` are the layout's.
Status check_finite(const std::vector<ParameterInfo>& layout, std::span<const float> values,
                    const std::string& what) {
  for (const ParameterInfo& p : layout)
    for (const float v : values.subspan(p.offset, p.size))
      if (!std::isfinite(v)) return invalid(what + ": " + p.name + " holds a number that is not finite");
  return {};
}

Status check_finite(Network& network, const std::string& what) {
  if (Status s = check_finite(network.parameter_layout(), network.parameters(), what); !s.ok()) return s;
  return check_finite(network.statistics_layout(), network.statistics(), what);
}

// Calls copy(PyTorch's position, ours) for every value of the tensor.
template <class Copy>
void reorder(const Reorder& r, Copy copy) {
  const size_t columns = r.from.size();
  for (size_t row = 0; row < r.rows; ++row) {
    for (size_t k = 0; k < columns; ++k) {
      for (size_t i = 0; i < r.inner; ++i)
        copy((row * columns + k) * r.inner + i, (row * columns + size_t(r.from[k])) * r.inner + i);
    }
  }
}

Result<Bundle> read_onnx_bundle(const std::string& path, const OnnxInput& input) {
  auto bytes = read_file(path, kLargestOnnx);
  if (!bytes.ok()) return bytes.status();
  auto file = parse_onnx(*bytes, path);
  if (!file.ok())
    return Status(file.status())
        .with_hint("a trained model is an ONNX file, or a folder with model.json and model.safetensors");
  auto made = import_onnx(*file, input);
  if (!made.ok()) return Status(made.status()).at(path);
  Bundle b{path,
           made->name,
           std::move(made->description),
           made->input,
           made->classes,
           made->mean,
           made->deviation,
           made->class_names,
           std::make_shared<const SafetensorsFile>(std::move(made->weights))};
  if (Status s = check(b, path); !s.ok()) return s;
  return b;
}

}  // namespace

Result<Bundle> read_bundle(const std::string& place, const OnnxInput& input) {
  std::error_code e;
  fs::path folder = place;
  if (fs::is_regular_file(folder, e) && folder.filename() != "model.json")
    return read_onnx_bundle(place, input);
  if (folder.filename() == "model.json") folder = folder.parent_path();
  if (!fs::exists(folder / "model.json", e) && fs::exists(folder / "model" / "model.json", e))
    folder /= "model";
  const std::string path = (folder / "model.json").string();
  auto text = read_file(path, kLargestText);
  if (!text.ok())
    return Status(text.status())
        .with_hint("a trained model is a folder with model.json and model.safetensors");
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object()) return Status(Code::Corrupt, path + ": is not a JSON object");
  Bundle b;
  b.folder = folder.empty() ? "." : folder.string();
  try {
    b.name = json.at("model").get<std::string>();
    const auto& in = json.at("input");
    b.input = {in.at("height").get<int>(), in.at("width").get<int>(), in.at("channels").get<int>()};
    b.classes = json.at("classes").get<int>();
    b.mean = json.at("normalization").at("mean").get<std::vector<float>>();
    b.deviation = json.at("normalization").at("deviation").get<std::vector<float>>();
    if (json.contains("class_names")) b.class_names = json.at("class_names").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    return Status(Code::Corrupt, path + ": " + error.what());
  }
  if (Status s = check(b, path); !s.ok()) return s;
  auto description = read_file((folder / "model.txt").string(), kLargestText);
  if (!description.ok()) return description.status();
  b.description = std::move(*description);
  return b;
}

Weights pytorch_weights(Network& network) {
  Weights out;
  auto add = [&](const std::vector<ParameterInfo>& layout, std::span<const float> values) {
    for (const auto& p : layout) {
      out.views.push_back(
          {p.name, std::vector<int64_t>(p.shape.begin(), p.shape.end()), values.subspan(p.offset, p.size)});
    }
  };
  add(network.parameter_layout(), network.parameters());
  add(network.statistics_layout(), network.statistics());
  for (const Reorder& r : pytorch_order(network.graph())) {
    TensorView& view = out.views[size_t(r.index) + (r.statistic ? network.parameter_layout().size() : 0)];
    std::vector<float> turned(view.values.size());
    reorder(r, [&](size_t theirs, size_t ours) { turned[theirs] = view.values[ours]; });
    out.storage.push_back(std::move(turned));
    view.values = out.storage.back();
  }
  return out;
}

Status write_bundle(const std::string& folder, const Bundle& b, Network& network) {
  if (Status s = check(b, folder); !s.ok()) return s;
  if (Status s = check_finite(network, folder); !s.ok())
    return std::move(s).with_hint(
        "the training diverged, so no model is written: lower the learning rate, schedule.peak");
  if (Status s = make_directories(folder); !s.ok()) return s;
  const std::string weights = folder + "/model.safetensors";
  if (Status s = write_safetensors(weights, pytorch_weights(network).views, {{"format", "pt"}}); !s.ok())
    return s;
  if (Status s = write_user_file(folder + "/model.txt", network.description()); !s.ok()) return s;
  const Json json = {
      {"model", b.name},
      {"description", "model.txt"},
      {"weights", "model.safetensors"},
      {"input", {{"height", b.input.height}, {"width", b.input.width}, {"channels", b.input.channels}}},
      {"normalization", {{"mean", b.mean}, {"deviation", b.deviation}}},
      {"classes", b.classes},
      {"class_names", b.class_names}};
  return write_user_file(folder + "/model.json",
                         json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<std::unique_ptr<Network>> load_network(const Bundle& bundle, const BuildOptions& options) {
  auto network = Network::build(bundle.description, bundle.input, bundle.classes, options);
  if (!network.ok())
    return Status(network.status()).at(bundle.weights ? bundle.folder : bundle.folder + "/model.txt");
  if (bundle.weights) {
    Status assigned = assign_weights(**network, *bundle.weights, bundle.folder);
    return assigned.ok() ? std::move(network) : Result<std::unique_ptr<Network>>(std::move(assigned));
  }
  const std::string path = bundle.folder + "/model.safetensors";
  auto file = read_safetensors(path);
  if (!file.ok()) return file.status();
  if (Status s = assign_weights(**network, *file, path); !s.ok()) return s;
  return network;
}

Status assign_weights(Network& network, const SafetensorsFile& file, const std::string& name) {
  const bool wrapped = !file.tensors.empty() &&
                       std::all_of(file.tensors.begin(), file.tensors.end(),
                                   [](const StoredTensor& t) { return t.name.starts_with("module."); });
  const std::string prefix = wrapped ? "module." : "";
  std::map<std::string_view, const StoredTensor*> stored;
  for (const StoredTensor& t : file.tensors) stored.emplace(t.name, &t);
  std::set<std::string> used;
  auto assign = [&](const std::vector<ParameterInfo>& layout, std::span<float> to) -> Status {
    for (const auto& p : layout) {
      const auto found = stored.find(prefix + p.name);
      const StoredTensor* t = found == stored.end() ? nullptr : found->second;
      if (!t) return {Code::Invalid, name + ": holds no \"" + p.name + "\", which the model needs"};
      const std::vector<int64_t> shape(p.shape.begin(), p.shape.end());
      if (t->shape != shape) {
        return {Code::Invalid, name + ": \"" + p.name + "\" is " + shape_text(t->shape) +
                                   ", the model needs " + shape_text(shape)};
      }
      std::copy(t->values.begin(), t->values.end(), to.begin() + long(p.offset));
      used.insert(t->name);
    }
    return {};
  };
  if (Status s = assign(network.parameter_layout(), network.parameters()); !s.ok()) return s;
  if (Status s = assign(network.statistics_layout(), network.statistics()); !s.ok()) return s;
  for (const auto& t : file.tensors) {
    if (!used.contains(t.name) && !t.name.ends_with("num_batches_tracked")) {
      return {Code::Invalid, name + ": holds \"" + t.name + "\", which the model does not have"};
    }
  }
  for (const Reorder& r : pytorch_order(network.graph())) {
    const ParameterInfo& p =
        (r.statistic ? network.statistics_layout() : network.parameter_layout())[size_t(r.index)];
    auto values = (r.statistic ? network.statistics() : network.parameters()).subspan(p.offset, p.size);
    const std::vector<float> theirs(values.begin(), values.end());
    reorder(r, [&](size_t from, size_t to) { values[to] = theirs[from]; });
  }
  network.parameters_changed();
  return check_finite(network, name);
}

std::string class_label(const Bundle& b, int index) {
  return b.class_names.empty() ? "class " + std::to_string(index) : b.class_names[size_t(index)];
}

}  // namespace radl::engine::exporter
