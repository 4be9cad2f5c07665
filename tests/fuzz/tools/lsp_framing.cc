// Frames in whatever slices: decoding terminates, keeps little, and tells the same whatever the slices are.
#include <cstdlib>
#include <string>
#include <vector>

#include "tools/lsp/connection.h"
#include "tools/lsp/framing.h"

using namespace radl::lsp;

namespace {

std::vector<std::string> messages(std::string_view bytes, size_t slice) {
  FrameLimits limits{256, 4096};
  FrameDecoder decoder(limits);
  std::vector<std::string> found;
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += slice) {
    decoder.feed(bytes.substr(at, slice));
    for (auto event = decoder.next(text); event != FrameDecoder::Event::NeedMore;
         event = decoder.next(text)) {
      if (event == FrameDecoder::Event::Message) found.push_back(text);
    }
    if (decoder.pending() > limits.max_header + limits.max_body + slice) std::abort();
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 20000) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto found = messages(bytes, size == 0 ? 1 : size);
  if (size < 2000 && messages(bytes, 7) != found) std::abort();
  for (const std::string& body : found) {
    Incoming message = parse_message(body);
    if (message.kind == Incoming::Kind::Idle || message.kind == Incoming::Kind::End) std::abort();
  }
  parse_message(bytes);
  return 0;
}
