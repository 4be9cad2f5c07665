#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

#include "engine/model/graph.h"
#include "engine/model/memory_need.h"

namespace radl::engine {
namespace {

Status error_of(const std::string& text, Shape input = {32, 32, 3}) {
  return parse_model(text, input, 10).status();
}

TEST(ModelText, EveryZooModelParsesAndPrintsBack) {
  for (const std::string& name : zoo_names()) {
    const bool large = name == "resnet50" || name == "inception-resnet-v1" || name == "resnet18-224";
    const Result<Graph> graph = parse_model(name, large ? Shape{224, 224, 3} : Shape{32, 32, 3}, 10);
    ASSERT_TRUE(graph.ok()) << name << ": " << graph.status().text();
    const std::string text = to_text(*graph);
    const Result<Graph> again = parse_model(text, graph->input, 10);
    ASSERT_TRUE(again.ok()) << name << ": " << again.status().text();
    EXPECT_EQ(to_text(*again), text);
    EXPECT_EQ(again->parameter_count, graph->parameter_count);
  }
}

// The published sizes (He et al. 2015; torchvision for ResNet-18 and -50 with 1000 classes).
TEST(ModelText, KnownModelsHaveTheirParameters) {
  EXPECT_EQ(parse_model("resnet18-224", {224, 224, 3}, 1000)->parameter_count, 11689512u);
  EXPECT_EQ(parse_model("resnet50", {224, 224, 3}, 1000)->parameter_count, 25557032u);
  EXPECT_NEAR(parse_model("resnet50", {224, 224, 3}, 1000)->forward_flop() / 2e9, 4.09, 0.02);
  EXPECT_EQ(parse_model("lenet", {28, 28, 1}, 10)->parameter_count, 61706u);
}

TEST(ModelText, NamesAreForgiving) {
  EXPECT_TRUE(zoo_text("ResNet-20").ok());
  const Status unknown = zoo_text("resnett44").status();
  EXPECT_EQ(unknown.code(), Code::NotFound);
  EXPECT_EQ(unknown.hint(), "did you mean resnet44?");
}

TEST(ModelText, RepeatsAndSavedNames) {
  const Result<Graph> graph = parse_model(
      "repeat i 0..1\nrepeat j 1..2\nc$i.$j: conv 8\nend\nend\nsave s\nrelu\nadd s\nlinear classes\n",
      {8, 8, 3}, 10);
  ASSERT_TRUE(graph.ok()) << graph.status().text();
  EXPECT_EQ(graph->layers[4].name, "c1.2");
  EXPECT_EQ(graph->layers[6].inputs, (std::vector<int>{5, 4}));
}

struct Bad {
  const char *text, *says, *hint;
};

TEST(ModelText, ErrorsNameLineAndReason) {
  const Bad kBad[] = {
      {"relu\nconvv 3\n", "line 2: unknown layer \"convv\"", "did you mean conv?"},
      {"x: conv 16 kernal=3\n", "line 1: conv has no option \"kernal\"", "did you mean kernel?"},
      {"conv\n", "line 1: conv needs the number of filters: \"conv 64\"", ""},
      {"conv 0\n", "line 1: filters is an integer from 1 to 16777216, not \"0\"", ""},
      {"conv 16 kernel=3 kernel=5\n", "line 1: kernel is given more than once", ""},
      {"conv 16 kernel=99 pad=valid\n", "line 1: a window of 99x99 does not fit into 32x32 with padding 0x0",
       ""},
      {"conv 16 groups=2\n", "line 1: 2 groups divide neither evenly 3 inputs and 16 filters", ""},
      {"repeat i 0..2\nconv 3\n", "line 1: repeat without end", ""},
      {"conv 3\nend\n", "line 2: end without repeat", ""},
      {"repeat i 0-2\nend\n", "line 1: repeat is written: repeat VARIABLE FIRST..LAST", ""},
      {"repeat i 0..99999999\nrepeat j 0..99999999\nrelu\nend\nend\n",
       "line 2: more than 20000 lines after repeats", ""},
      {"a: conv 8\na: conv 8\n", "line 2: two layers are called \"a\"", ""},
      {"stem: conv 8\nadd stm\n", "line 2: no layer before this one is called \"stm\"", "did you mean stem?"},
      {"conv 8\nsave a\nmaxpool\nadd a\n", "line 4: add needs equal shapes, not 16x16x8 and 32x32x8", ""},
      {"conv 8\nsave a\nmaxpool\nconcat a\n",
       "line 4: concat needs equal heights and widths, not 16x16x8 and 32x32x8", ""},
      {"conv 8\n",
       "line 1: the last layer gives 32x32x8, but there are 10 classes: end with \"linear classes\"", ""},
      {"a: conv 8\nb: conv 8 from input\nlinear classes\n", "line 1: nothing uses the output of a", ""},
      {"input 28 28 1\nlinear classes\n", "line 1: the model's input is 28x28x1, the data's 32x32x3", ""},
      {"conv 8\nattention heads=3\nlinear classes\n", "line 2: 3 heads do not divide 8 features", ""},
      {"dropout rate=1.5\n", "line 1: rate is a number from 0 to 0.999, not \"1.5\"", ""},
      {"dropout rate=nan\n", "line 1: rate is a number from 0 to 0.999, not \"nan\"", ""},
      {"relu 5\n", "line 1: relu takes no \"5\"; options are written KEY=VALUE", ""},
      {"flatten\nlinear 16777216\nlinear 16777216\n", "line 2: the model has more than 8 billion parameters",
       ""},
      // 2^80 weights.
      {"conv 16777216 kernel=1 stride=32\nconv 16777216 kernel=65536 stride=65536\n",
       "line 2: the model has more than 8 billion parameters", ""},
      {"conv 8 kernel=65536 dilation=65536\n", "line 1: a window has at most 65536 positions each way", ""},
      {"maxpool kernel=2 pad=65536\n", "line 1: padding must be smaller than the window", ""},
      {"conv 7 kernel=65536 whiten=yes\n",
       "line 1: a whitening convolution of this size has 25769803776 filters", ""},
      {"conv 0x10\n", "line 1: filters is an integer from 1 to 16777216, not \"0x10\"", ""},
      {"conv 8 stride=-1\n", "line 1: stride is an integer from 1 to 65536, not \"-1\"", ""},
      {"conv 99999999999999999999\n",
       "line 1: filters is an integer from 1 to 16777216, not \"99999999999999999999\"", ""},
      {"repeat i 1..2147483647\nrepeat j 2..1\nend\nend\n", "line 1: the repeats take too many steps", ""},
  };
  for (const Bad& bad : kBad) {
    const Status status = error_of(bad.text);
    EXPECT_EQ(status.code(), Code::Invalid) << bad.text;
    EXPECT_EQ(status.message(), bad.says);
    EXPECT_EQ(status.hint(), bad.hint) << bad.text;
  }
}

std::string times(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

// Bytes: the most that this process has had in memory.
size_t largest_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) << 10;
}

// From a stranger's file: refused with a reason, in memory of the text's order.
TEST(ModelText, HostileTextsTakeLittle) {
  const size_t before = largest_memory();
  const auto refused = [](const std::string& text, const std::string& says) {
    const Status status = error_of(text);
    EXPECT_EQ(status.code(), Code::Invalid);
    EXPECT_NE(status.message().find(says), std::string::npos) << status.message().substr(0, 200);
  };
  refused(times("repeat i 1..2\n", 5000) + "relu\n" + times("end\n", 5000),
          "line 33: repeats lie in each other");
  refused(times("repeat i 1..2\n", 32) + times("end\n", 32), "too many steps");
  refused(times("repeat i 1..2\n", 5000), "line 33: repeats lie in each other");
  refused("repeat i 1..2000000000\nend\n", "too many steps");
  refused("repeat i 1..20000\n" + times("$i", 2000) + ": relu\nend\n", "at most 256");
  refused(times("$i", 1 << 20) + "\n", "a word of more than 4096 characters");
  refused(std::string(size_t{17} << 20, 'x'), "bytes, at most");
  refused("a: conv 8\nconcat" + times(" a", 1 << 20) + "\n", "line 2: concat takes at most 1024 inputs");
  refused("add" + times(" nobody", 1 << 19) + "\n", "no layer before this one");
  refused("repeat i 1..30000\nrelu\nend\n", "more than 20000 lines");
  refused(times("repeat i 1..28\n", 2) + "save s\nconcat" + times(" s", 900) + "\nend\nend\n", "at most");
  EXPECT_LT(largest_memory() - before, size_t{400} << 20);
  for (const Shape& shape : {Shape{0, 1, 1}, Shape{-1, 4, 4}, Shape{1 << 30, 1 << 30, 1 << 30}})
    EXPECT_EQ(error_of("linear classes\n", shape).code(), Code::Invalid);
}

// The deepest that is taken builds in time that a user waits for.
TEST(ModelText, DeepModelsBuild) {
  const auto network = Network::build("repeat i 1..6000\nsave s\nrelu\nadd s\nend\nlinear classes\n",
                                      {1, 1, 4}, 10, {.batch_size = 1, .threads = 1});
  ASSERT_TRUE(network.ok()) << network.status().text();
}

TEST(Build, RefusesWhatCannotRun) {
  const auto refuse = [](const char* model, BuildOptions options) {
    return Network::build(model, {32, 32, 3}, 10, options).status();
  };
  EXPECT_EQ(refuse("resnet20", {.batch_size = 0}).code(), Code::Invalid);
  EXPECT_EQ(refuse("resnet20", {.kernels = "fast"}).code(), Code::Invalid);
  EXPECT_EQ(refuse("resnet20", {.label_smoothing = 1}).code(), Code::Invalid);
  const Status memory = refuse("resnet20", {.batch_size = 1 << 20});
  EXPECT_EQ(memory.code(), Code::Quota);
  EXPECT_NE(memory.message().find("MiB"), std::string::npos) << memory.message();
}

// What is more than 2^64 bytes, or more rows than an int counts, is reported too.
TEST(Build, SizesDoNotOverflow) {
  const auto refused = [](const std::string& text, InputShape input, int batch) {
    return Network::build(text, input, 10, {.batch_size = batch}).status().code();
  };
  // 19000 * 2^48 values of 4 bytes.
  const std::string deep = "repeat i 1..19000\nconv 1 kernel=1\nend\nglobalavgpool\nlinear classes\n";
  EXPECT_EQ(refused(deep, {1 << 14, 1 << 14, 1}, 1 << 20), Code::Quota);
  EXPECT_EQ(
      refused("linear 1 per_token=yes\nglobalavgpool\nlinear classes\n", {1 << 14, 1 << 14, 1}, 1 << 20),
      Code::Quota);
}

TEST(Build, TellsTooLittleMemoryBeforeItTakesAny) {
  const auto build = [](const char* model, int side, BuildOptions options) {
    const auto begin = std::chrono::steady_clock::now();
    const Status status = Network::build(model, {side, side, 3}, 10, options).status();
    EXPECT_EQ(status.code(), Code::Quota) << status.text();
    EXPECT_NE(status.message().find(" needs at least "), std::string::npos) << status.message();
    // Far less than it takes to touch so much memory.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << model;
  };
  for (const char* kernels : {"auto", "ref"})
    for (const char* model : {"resnet44", "fastcifar"})
      build(model, 32, {.batch_size = 1 << 20, .kernels = kernels});
  build("resnet50", 224, {.batch_size = 1 << 20, .precision = Precision::Bf16});
  // Its activations are 5 GB; what its attentions keep of each pair of positions is 161.
  build("vit-tiny", 224, {.batch_size = 256});
  build("inception-resnet-v1", 224, {.batch_size = 1 << 20, .training = false});
}

// The bound holds: no model needs less than it says.
TEST(Build, NeedsAtLeastItsLowerBound) {
  for (const char* model : {"lenet", "resnet20", "fastcifar", "fastcifar-s", "mlp", "vit-tiny"}) {
    const int side = 32;
    for (const bool training : {true, false}) {
      const BuildOptions options{.batch_size = 2, .threads = 1, .training = training};
      const auto network = Network::build(model, {side, side, 3}, 10, options);
      ASSERT_TRUE(network.ok()) << model << ": " << network.status().text();
      EXPECT_GE((*network)->memory_bytes(), least_memory((*network)->graph(), options)) << model;
    }
  }
}

}  // namespace
}  // namespace radl::engine
