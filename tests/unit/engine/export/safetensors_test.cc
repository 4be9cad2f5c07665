// safetensors: what is written is read back; every malformed header is refused with a reason.
#include "engine/export/safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstring>

namespace radl::engine::exporter {
namespace {

std::string with_header(const std::string& header, size_t data) {
  std::string s;
  for (int i = 0; i < 8; ++i) s.push_back(char(uint64_t(header.size()) >> (8 * i)));
  return s + header + std::string(data, '\0');
}

TEST(Safetensors, RoundTrip) {
  std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {-0.0f};
  std::vector<TensorView> in = {{"conv.weight", {2, 3}, a}, {"scalar", {}, b}, {"none", {0, 4}, {}}};
  auto bytes = encode_safetensors(in, {{"format", "pt"}});
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ((bytes->size() - 7 * 4) % 8, 0u);  // data is aligned
  auto file = parse_safetensors(*bytes, "x");
  ASSERT_TRUE(file.ok()) << file.status().text();
  ASSERT_NE(file->find("conv.weight"), nullptr);
  EXPECT_EQ(file->find("conv.weight")->values, a);
  EXPECT_EQ(file->find("conv.weight")->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(std::signbit(file->find("scalar")->values[0]));
  EXPECT_TRUE(file->find("none")->values.empty());
  EXPECT_EQ(file->metadata.at("format"), "pt");
  EXPECT_EQ(file->find("other"), nullptr);
}

TEST(Safetensors, ConvertsReducedPrecision) {
  std::string header =
      R"({"h":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]}})";
  std::string bytes = with_header(header, 12);
  const uint16_t values[] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x3f80, 0xc040};  // 1, -2, 2^-24, inf; 1, -3
  std::memcpy(bytes.data() + 8 + header.size(), values, sizeof values);
  auto file = parse_safetensors(bytes, "x");
  ASSERT_TRUE(file.ok()) << file.status().text();
  EXPECT_EQ(file->find("h")->values[0], 1);
  EXPECT_EQ(file->find("h")->values[1], -2);
  EXPECT_EQ(file->find("h")->values[2], std::ldexp(1.0f, -24));
  EXPECT_TRUE(std::isinf(file->find("h")->values[3]));
  EXPECT_EQ(file->find("b")->values[1], -3);
}

TEST(Safetensors, ReadsIntegers) {
  const std::string header =
      R"({"i":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"b":{"dtype":"U8","shape":[2],"data_offsets":[16,18]}})";
  std::string bytes = with_header(header, 18);
  const int64_t whole[] = {-3, 4'000'000'000};
  std::memcpy(bytes.data() + 8 + header.size(), whole, sizeof whole);
  bytes.back() = char(200);
  auto file = parse_safetensors(bytes, "x");
  ASSERT_TRUE(file.ok()) << file.status().text();
  EXPECT_EQ(file->find("i")->values, (std::vector<float>{-3, 4e9f}));
  EXPECT_EQ(file->find("b")->values, (std::vector<float>{0, 200}));
}

TEST(Safetensors, RefusesWhatIsWrongAndSaysWhy) {
  struct Case {
    std::string bytes, says;
  };
  auto entry = [](const char* name, const char* type, const char* shape, int b, int e) {
    return "\"" + std::string(name) + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
           ",\"data_offsets\":[" + std::to_string(b) + "," + std::to_string(e) + "]}";
  };
  std::vector<Case> cases = {
      {"", "shorter"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10), "claims"},
      {with_header("{", 0), "not JSON"},
      {with_header("[]", 0), "not an object"},
      {with_header("{" + entry("a", "F32", "[1]", 0, 8) + "}", 4), "not within"},
      {with_header("{" + entry("a", "F32", "[2]", 0, 4) + "}", 4), "need 8"},
      {with_header("{" + entry("a", "F8_E4M3", "[1]", 0, 1) + "}", 1), "F8_E4M3"},
      {with_header("{" + entry("a", "F32", "[-1]", 0, 4) + "}", 4), "shape holds a negative number"},
      {with_header("{" + entry("a", "F32", "[4294967296,4294967296]", 0, 4) + "}", 4), "too large"},
      {with_header("{" + entry("a", "F32", "[1]", 0, 4) + "," + entry("b", "F32", "[1]", 0, 4) + "}", 4),
       "overlaps"},
      {with_header("{" + entry("a", "F32", "[1]", 4, 8) + "}", 8), "hole"},
      {with_header("{" + entry("a", "F32", "[1]", 0, 4) + "}", 8), "belong to no tensor"},
      {with_header("{" + entry("a", "F32", "[1]", 0, 4) + "," + entry("a", "F32", "[1]", 4, 8) + "}", 8),
       "more than once"},
      {with_header(R"({"a":{"dtype":"F32"}})", 0), "needs dtype"},
      {with_header(R"({"a":{"dtype":"F32","dtype":"F64","shape":[0],"data_offsets":[0,0]}})", 0),
       "\"dtype\" occurs more"},
      {with_header(R"({"a":{"dtype":1,"shape":[0],"data_offsets":[0,0]}})", 0), "needs dtype"},
      {with_header(R"({"a":{"dtype":"F32","shape":[0.5],"data_offsets":[0,0]}})", 0), "shape holds a number"},
      {with_header(R"({"a":{"dtype":"F32","shape":[[1]],"data_offsets":[0,0]}})", 0), "shape holds an array"},
      {with_header(R"({"a":{"dtype":"F32","shape":{},"data_offsets":[0,0]}})", 0), "needs dtype"},
      {with_header(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0]}})", 0), "two data_offsets"},
      {with_header(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0,0]}})", 0), "two data_offsets"},
      {with_header(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[-1,0]}})", 0),
       "an offset is a negative number"},
      {with_header(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[18446744073709551615,3]}})", 4),
       "not within"},
      {with_header(R"({"a":[]})", 0), "needs dtype"},
      {with_header(R"({"__metadata__":[]})", 0), "__metadata__ is not an object"},
      {with_header(R"({"__metadata__":{"a":{}}})", 0), "__metadata__ holds"},
      {with_header(R"({"__metadata__":{"a":"1","a":"2"}})", 0), "more than once"},
      {with_header(R"({"__metadata__":{},"__metadata__":{}})", 0), "more than once"},
      {with_header("{} {}", 0), "not JSON"},
      {with_header("\"text\"", 0), "not an object"},
  };
  for (const Case& c : cases) {
    auto file = parse_safetensors(c.bytes, "w.safetensors");
    ASSERT_FALSE(file.ok()) << c.says;
    EXPECT_EQ(file.status().code(), Code::Corrupt);
    EXPECT_NE(file.status().message().find(c.says), std::string::npos) << file.status().message();
    EXPECT_EQ(file.status().message().rfind("w.safetensors: ", 0), 0u) << file.status().message();
  }
}

// Keys that it does not know are skipped, whatever they hold.
TEST(Safetensors, SkipsWhatItDoesNotKnow) {
  const std::string header =
      R"({"a":{"x":{"dtype":[{}]},"dtype":"F32","y":[[],{"shape":1}],"shape":[1],"z":null,"data_offsets":[0,4]}})";
  const auto file = parse_safetensors(with_header(header, 4), "x");
  ASSERT_TRUE(file.ok()) << file.status().text();
  EXPECT_EQ(file->find("a")->shape, std::vector<int64_t>{1});
}

// A header of 1.5 million keys, 100 MB of nested brackets, and one of metadata: refused in a few times the
// file's size.
TEST(Safetensors, HostileHeadersTakeLittle) {
  const auto memory = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<size_t>(usage.ru_maxrss) << 10;
  };
  const auto refused = [&](std::string header, const char* says) {
    const std::string bytes = with_header(header, 0);
    std::string().swap(header);
    const size_t before = memory();
    const auto file = parse_safetensors(bytes, "x");
    ASSERT_FALSE(file.ok());
    EXPECT_NE(file.status().message().find(says), std::string::npos)
        << file.status().message().substr(0, 200);
    EXPECT_LT(memory() - before, 3 * bytes.size()) << says;
  };
  std::string keys = "{";
  for (int i = 0; i < 1'500'000; ++i)
    keys += (i ? ",\"" : "\"") + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  refused(std::move(keys) + "}", "more than 262144 tensors");
  refused(R"({"a":{"x":)" + std::string(90'000'000, '['), "not JSON");
  std::string metadata = R"({"__metadata__":{)";
  for (int i = 0; i < 4'000'000; ++i) metadata += "\"" + std::to_string(i) + "\":\"\",";
  refused(std::move(metadata), "__metadata__ has too many");
}

TEST(Safetensors, DoesNotWriteTwoTensorsOfOneName) {
  std::vector<float> a = {1};
  std::vector<TensorView> in = {{"a", {1}, a}, {"a", {1}, a}};
  EXPECT_FALSE(encode_safetensors(in, {}).ok());
  std::vector<TensorView> wrong = {{"a", {2}, a}};
  EXPECT_FALSE(encode_safetensors(wrong, {}).ok());
}

}  // namespace
}  // namespace radl::engine::exporter
