// The base protocol of LSP: messages framed by "Content-Length: N\r\n\r\n" in a byte stream.
//
// Pure: converts bytes to messages without file descriptors. For any input it terminates, keeps at most
// `max_body + max_header` bytes, and finds the next well-formed frame after garbage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace radl::lsp {

struct FrameLimits {
  size_t max_header = 8u << 10;  // all header lines of one message
  size_t max_body = 64u << 20;   // one message
};

class FrameDecoder {
 public:
  enum class Event {
    NeedMore,  // feed more bytes
    Message,   // `out` is a body
    Bad,       // input was skipped; `out` describes it in one line. Decoding continues after it.
  };

  explicit FrameDecoder(FrameLimits limits = {}) : limits_(limits) {}

  void feed(std::string_view bytes);
  Event next(std::string& out);
  // Buffered bytes not yet reported as an event.
  size_t pending() const { return buffer_.size() - at_; }

 private:
  Event read_header(std::string& out);
  Event read_body(std::string& out);
  Event give_up_header(std::string& out, std::string_view why);
  void compact();

  FrameLimits limits_;
  std::string buffer_;
  size_t at_ = 0;          // first byte not consumed
  bool in_body_ = false;   // the header has been read; `body_` bytes follow
  bool skipping_ = false;  // searches for the next "Content-Length:" after garbage
  uint64_t body_ = 0;
  uint64_t skip_body_ = 0;  // remaining bytes to drop of a message over the limit
};

// "Content-Length: N\r\n\r\n" + body.
std::string encode_frame(std::string_view body);

}  // namespace radl::lsp
