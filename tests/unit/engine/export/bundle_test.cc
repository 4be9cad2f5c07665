// A trained model's folder: what is written is read back, in PyTorch's order, and what does not fit is
// refused.
#include "engine/export/bundle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "common/files.h"
#include "engine/export/pytorch_order.h"
#include "engine/model/graph.h"

namespace radl::engine::exporter {
namespace {

std::unique_ptr<Network> network_of(const std::string& text, InputShape input, int classes) {
  auto built = Network::build(text, input, classes, {.batch_size = 2, .threads = 1, .kernels = "ref"});
  EXPECT_TRUE(built.ok()) << built.status().text();
  auto network = built.ok() ? std::move(*built) : nullptr;
  if (network) std::iota(network->parameters().begin(), network->parameters().end(), 0.0f);
  return network;
}

const TensorView& view(const Weights& w, const std::string& name) {
  for (const auto& v : w.views) {
    if (v.name == name) return v;
  }
  throw std::runtime_error(name);
}

TEST(Bundle, FlattenedFeaturesAreInPytorchsOrder) {
  auto network = network_of("fc: linear classes\n", {1, 2, 3}, 2);
  const Weights w = pytorch_weights(*network);
  // Ours is (h, w, c); PyTorch's nn.Flatten of [3, 1, 2] takes channel 0 first.
  const auto fc = view(w, "fc.weight").values;
  EXPECT_EQ(std::vector<float>(fc.begin(), fc.end()),
            (std::vector<float>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
}

TEST(Bundle, OrderFollowsFeaturesThroughNormsAndJoins) {
  auto network =
      network_of("f: flatten\nn: batchnorm\nrelu\nsave a\nh: linear 2 from f\nconcat a\nfc: linear classes\n",
                 {1, 2, 2}, 2);
  std::vector<std::string> touched;
  for (const Reorder& r : pytorch_order(network->graph()))
    touched.push_back(
        (r.statistic ? network->statistics_layout() : network->parameter_layout())[size_t(r.index)].name);
  EXPECT_EQ(touched, (std::vector<std::string>{"n.weight", "n.bias", "n.running_mean", "n.running_var",
                                               "h.weight", "fc.weight"}));
  // The last layer reads h (2 features, as they are), then the flattened ones.
  const auto last = pytorch_order(network->graph()).back();
  EXPECT_EQ(last.from, (std::vector<int>{0, 1, 2, 4, 3, 5}));
}

TEST(Bundle, OrderPassesPoolsPositionsAndAttention) {
  auto network = network_of(
      "flatten\nmaxpool kernel=1\nglobalavgpool\np: position\nt: attention\nfc: linear classes from p\n"
      "h: linear classes from t\nadd fc\n",
      {1, 2, 2}, 2);
  std::vector<std::string> touched;
  for (const Reorder& r : pytorch_order(network->graph())) {
    touched.push_back(network->parameter_layout()[size_t(r.index)].name);
    EXPECT_EQ(r.from, (std::vector<int>{0, 2, 1, 3})) << touched.back();
  }
  EXPECT_EQ(touched, (std::vector<std::string>{"p.weight", "t.in_proj_weight", "fc.weight"}));
}

TEST(Bundle, NothingIsReorderedWithoutFlattenedMaps) {
  auto network = network_of("conv 4\nglobalavgpool\nfc: linear classes\n", {4, 4, 3}, 2);
  EXPECT_TRUE(pytorch_order(network->graph()).empty());
}

// No result is made of a model that diverged, and none is loaded.
TEST(Bundle, WeightsThatAreNotFiniteAreRefused) {
  const std::string folder = std::filesystem::temp_directory_path() / "radl-bundle-not-finite";
  std::filesystem::remove_all(folder);
  Bundle b{"", "tiny", "", {3, 2, 3}, 2, {0.5f, 0.5f, 0.5f}, {0.25f, 0.25f, 0.25f}, {"a", "b"}};
  for (const float wrong : {NAN, INFINITY}) {
    for (const bool statistic : {false, true}) {
      auto network = network_of("conv 4\nn: batchnorm\nf: flatten\nfc: linear classes\n", {3, 2, 3}, 2);
      (statistic ? network->statistics() : network->parameters()).back() = wrong;
      const Status written = write_bundle(folder, b, *network);
      EXPECT_EQ(written.code(), Code::Invalid);
      EXPECT_EQ(written.message(), folder + (statistic ? ": n.running_var" : ": fc.bias") +
                                       " holds a number that is not finite");
      EXPECT_NE(written.hint().find("diverged"), std::string::npos);
      EXPECT_FALSE(std::filesystem::exists(folder));
      const auto weights = encode_safetensors(pytorch_weights(*network).views, {});
      ASSERT_TRUE(weights.ok());
      const auto file = parse_safetensors(*weights, "w");
      ASSERT_TRUE(file.ok());
      const Status loaded = assign_weights(*network, *file, "w.safetensors");
      EXPECT_NE(loaded.message().find("not finite"), std::string::npos) << loaded.text();
    }
  }
}

TEST(Bundle, IsReadBack) {
  const std::string folder = std::filesystem::temp_directory_path() / "radl-bundle-test";
  std::filesystem::remove_all(folder);
  auto network = network_of("conv 4\nf: flatten\nn: layernorm\nfc: linear classes\n", {3, 2, 3}, 2);
  const std::vector<float> before(network->parameters().begin(), network->parameters().end());
  Bundle b{"", "tiny", "", {3, 2, 3}, 2, {0.5f, 0.5f, 0.5f}, {0.25f, 0.25f, 0.25f}, {"a", "b"}};
  ASSERT_TRUE(write_bundle(folder, b, *network).ok());
  auto read = read_bundle(folder);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(read->class_names, b.class_names);
  auto again = load_network(*read, {.batch_size = 1, .threads = 1, .training = false, .kernels = "ref"});
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_TRUE(std::equal(before.begin(), before.end(), (*again)->parameters().begin()));

  // Another shape, a missing tensor and one too many are named.
  for (auto [change, says] : {std::pair("fc.weight", "holds no \"fc.weight\""), std::pair("", "\"odd\"")}) {
    auto weights = pytorch_weights(*network);
    std::erase_if(weights.views, [&](const TensorView& v) { return v.name == change; });
    const std::vector<float> one = {1};
    weights.views.push_back({"odd", {1}, one});
    ASSERT_TRUE(write_safetensors(folder + "/model.safetensors", weights.views, {}).ok());
    auto broken = load_network(*read, {.batch_size = 1, .threads = 1, .training = false, .kernels = "ref"});
    ASSERT_FALSE(broken.ok());
    EXPECT_NE(broken.status().text().find(says), std::string::npos) << broken.status().text();
    EXPECT_NE(broken.status().text().find("model.safetensors"), std::string::npos);
  }
  ASSERT_TRUE(write_file_atomic(folder + "/model.json", "{\"model\": 1}").ok());
  EXPECT_EQ(read_bundle(folder).status().code(), Code::Corrupt);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace radl::engine::exporter
