#include "tools/lsp/framing.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace radl::lsp {
namespace {

constexpr std::string_view kLength = "content-length:";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_with_length(std::string_view text) {
  if (text.size() < kLength.size()) return false;
  return std::equal(kLength.begin(), kLength.end(), text.begin(),
                    [](char a, char b) { return a == lower(b); });
}

// Where a header "Content-Length:" begins at or behind `from`; npos if nowhere.
size_t find_length(std::string_view text, size_t from) {
  for (size_t i = from; i + kLength.size() <= text.size(); ++i) {
    if ((text[i] == 'C' || text[i] == 'c') && starts_with_length(text.substr(i))) return i;
  }
  return std::string_view::npos;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<uint64_t> parse_length(std::string_view text) {
  text = trim(text);
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

bool is_header_line(std::string_view line) {
  size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  return std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
    return c == '-' || (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
  });
}

}  // namespace

void FrameDecoder::feed(std::string_view bytes) {
  if (skip_body_ > 0) {  // a message over the limit is dropped as it arrives, never kept
    size_t dropped = static_cast<size_t>(std::min<uint64_t>(skip_body_, bytes.size()));
    skip_body_ -= dropped;
    bytes.remove_prefix(dropped);
  }
  buffer_.append(bytes);
}

FrameDecoder::Event FrameDecoder::next(std::string& out) {
  out.clear();
  Event event = in_body_ ? read_body(out) : read_header(out);
  compact();
  return event;
}

FrameDecoder::Event FrameDecoder::read_body(std::string& out) {
  if (pending() < body_) return Event::NeedMore;
  out.assign(buffer_, at_, static_cast<size_t>(body_));
  at_ += static_cast<size_t>(body_);
  in_body_ = false;
  return Event::Message;
}

FrameDecoder::Event FrameDecoder::read_header(std::string& out) {
  if (skipping_) {
    size_t found = find_length(buffer_, at_);
    if (found == std::string_view::npos) {
      // Keep only what may be the beginning of the word searched for.
      at_ = std::max(at_, buffer_.size() - std::min(buffer_.size(), kLength.size() - 1));
      return Event::NeedMore;
    }
    at_ = found;
    skipping_ = false;
  }
  std::optional<uint64_t> length;
  size_t line_begin = at_;
  while (true) {
    size_t newline = buffer_.find('\n', line_begin);
    if (newline == std::string::npos || newline - at_ > limits_.max_header) {
      if (buffer_.size() - at_ > limits_.max_header)
        return give_up_header(out, "a header longer than the limit");
      return Event::NeedMore;
    }
    std::string_view line(buffer_.data() + line_begin, newline - line_begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) {
      if (!length) return give_up_header(out, "a header without Content-Length");
      at_ = newline + 1;
      break;
    }
    if (!is_header_line(line)) return give_up_header(out, "bytes that are not a message header");
    if (starts_with_length(line)) {
      length = parse_length(line.substr(kLength.size()));
      if (!length) return give_up_header(out, "a Content-Length that is not a number");
    }
    line_begin = newline + 1;
  }
  if (*length > limits_.max_body) {
    uint64_t here = std::min<uint64_t>(*length, pending());
    at_ += static_cast<size_t>(here);
    skip_body_ = *length - here;
    out = "a message of " + std::to_string(*length) + " bytes; the limit is " +
          std::to_string(limits_.max_body);
    return Event::Bad;
  }
  in_body_ = true;
  body_ = *length;
  return read_body(out);
}

// Drops the header at hand: the search for the next one begins a byte behind its start.
FrameDecoder::Event FrameDecoder::give_up_header(std::string& out, std::string_view why) {
  size_t next = find_length(buffer_, at_ + 1);
  skipping_ = true;
  at_ = next == std::string_view::npos ? at_ + 1 : next;
  out = why;
  return Event::Bad;
}

void FrameDecoder::compact() {
  if (at_ == buffer_.size()) {
    buffer_.clear();
    at_ = 0;
  } else if (at_ > (1u << 16) && at_ > buffer_.size() / 2) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
}

std::string encode_frame(std::string_view body) {
  std::string out = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  out += body;
  return out;
}

}  // namespace radl::lsp
