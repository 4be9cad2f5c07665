// The base protocol: frames in any slicing, garbage between them, limits.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tools/lsp/connection.h"
#include "tools/lsp/framing.h"
#include "tools/lsp/uri.h"

namespace radl::lsp {
namespace {

struct Decoded {
  std::vector<std::string> messages;
  int bad = 0;
};

Decoded decode(FrameDecoder& decoder) {
  Decoded out;
  std::string text;
  for (auto event = decoder.next(text); event != FrameDecoder::Event::NeedMore; event = decoder.next(text)) {
    if (event == FrameDecoder::Event::Message)
      out.messages.push_back(text);
    else
      ++out.bad;
  }
  return out;
}

TEST(Framing, EverySlicingGivesTheSameMessages) {
  std::string stream =
      encode_frame("{\"a\":1}") + "content-length:2\nX-Other: y\n\n[]" + encode_frame("") +
      "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 4\r\n\r\nnull";
  for (size_t slice = 1; slice <= stream.size(); ++slice) {
    FrameDecoder decoder;
    std::vector<std::string> messages;
    for (size_t at = 0; at < stream.size(); at += slice) {
      decoder.feed(std::string_view(stream).substr(at, slice));
      Decoded got = decode(decoder);
      EXPECT_EQ(got.bad, 0);
      messages.insert(messages.end(), got.messages.begin(), got.messages.end());
    }
    ASSERT_EQ(messages, (std::vector<std::string>{"{\"a\":1}", "[]", "", "null"})) << "slices of " << slice;
  }
}

TEST(Framing, GarbageIsSkippedToTheNextFrame) {
  for (std::string garbage :
       {"hello\n\n", "\n\n\n", "Content-Length: x\r\n\r\n", "Content-Length: -5\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n", "Content-Type: a\r\n\r\n", ": 3\n"}) {
    FrameDecoder decoder;
    decoder.feed(garbage + encode_frame("ok"));
    Decoded got = decode(decoder);
    EXPECT_EQ(got.messages, std::vector<std::string>{"ok"}) << garbage;
    EXPECT_GE(got.bad, 1) << garbage;
  }
}

TEST(Framing, AMessageOverTheLimitIsDroppedWithoutBeingKept) {
  FrameDecoder decoder({1024, 100});
  decoder.feed("Content-Length: 1000000\r\n\r\n");
  std::string text;
  EXPECT_EQ(decoder.next(text), FrameDecoder::Event::Bad);
  for (int i = 0; i < 1000; ++i) {
    decoder.feed(std::string(1000, 'x'));
    EXPECT_LT(decoder.pending(), 2000u);
    EXPECT_EQ(decoder.next(text), FrameDecoder::Event::NeedMore);
  }
  decoder.feed(encode_frame("behind"));
  EXPECT_EQ(decode(decoder).messages, std::vector<std::string>{"behind"});
}

TEST(Framing, AnEndlessHeaderIsGivenUp) {
  FrameDecoder decoder({1024, 100});
  int bad = 0;
  for (int i = 0; i < 100; ++i) {
    decoder.feed("Header-" + std::string(100, 'a'));
    bad += decode(decoder).bad;
    EXPECT_LT(decoder.pending(), 3000u);
  }
  EXPECT_GE(bad, 1);
  decoder.feed("\n" + encode_frame("behind"));
  EXPECT_EQ(decode(decoder).messages, std::vector<std::string>{"behind"});
}

TEST(Framing, RandomBytesNeverHideAFrameForEver) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    FrameDecoder decoder({256, 1000});
    std::string noise;
    for (int i = 0; i < 300; ++i) noise += "Content-Length: 3\r\n\n{}abc"[random() % 24];
    decoder.feed(noise);
    decode(decoder);
    // A frame may be eaten as the body that the noise announced; 1000 bytes later one must come through.
    bool seen = false;
    for (int i = 0; i < 60 && !seen; ++i) {
      decoder.feed(encode_frame("{\"round\":1}"));
      for (const std::string& message : decode(decoder).messages) seen = seen || message == "{\"round\":1}";
    }
    EXPECT_TRUE(seen) << noise;
  }
}

TEST(JsonRpc, TellsKindsApart) {
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":1,"method":"a"})").kind, Incoming::Kind::Request);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":"x","method":"a","params":[]})").kind,
            Incoming::Kind::Request);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","method":"a"})").kind, Incoming::Kind::Notification);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":1,"result":null})").kind, Incoming::Kind::Response);
}

TEST(JsonRpc, RefusesWhatIsNoMessage) {
  EXPECT_EQ(parse_message("{").error_code, kParseError);
  EXPECT_EQ(parse_message("").error_code, kParseError);
  EXPECT_EQ(parse_message("[]").error_code, kInvalidRequest);
  EXPECT_EQ(parse_message(R"({"id":1,"method":"a"})").error_code, kInvalidRequest);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":{},"method":"a"})").error_code, kInvalidRequest);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":1,"method":5})").error_code, kInvalidRequest);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":1,"method":"a","params":"text"})").id, Json(1));
  EXPECT_EQ(parse_message(std::string(100000, '[')).error_code, kParseError);
  EXPECT_EQ(parse_message("{\"jsonrpc\":\"2.0\",\"method\":\"[[[" + std::string(500, '[') + "\"}").kind,
            Incoming::Kind::Notification);
}

TEST(Uri, PathsThereAndBack) {
  for (std::string path : {"/a/b.radl", "/with blank/ä#?%.radl", "/"}) {
    EXPECT_EQ(path_of_uri(uri_of_path(path)), path);
  }
  EXPECT_EQ(uri_of_path("/a b"), "file:///a%20b");
  EXPECT_EQ(path_of_uri("file://localhost/x"), "/x");
  EXPECT_EQ(path_of_uri("file:///c%3A/x"), "/c:/x");
  EXPECT_EQ(path_of_uri("untitled:Untitled-1"), std::nullopt);
  EXPECT_EQ(path_of_uri("file://server/share"), std::nullopt);
  EXPECT_EQ(path_of_uri("file:///a%00b"), std::nullopt);
}

}  // namespace
}  // namespace radl::lsp
