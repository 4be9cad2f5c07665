#include "common/http_server/events.h"

#include <microhttpd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace radl::httpd {
namespace {

void append_line(std::string& out, std::string_view field, std::string_view value) {
  out += field;
  std::ranges::copy_if(value, std::back_inserter(out),
                       [](char c) { return c != '\r' && c != '\n' && c != '\0'; });
  out += '\n';
}

}  // namespace

std::string server_sent_event(std::string_view id, std::string_view type, std::string_view data) {
  std::string out;
  if (!id.empty()) append_line(out, "id: ", id);
  if (!type.empty()) append_line(out, "event: ", type);
  for (size_t at = 0; at <= data.size();) {
    const size_t end = std::min(data.find('\n', at), data.size());
    append_line(out, "data: ", data.substr(at, end - at));
    at = end + 1;
  }
  return out += '\n';
}

Streams::Stream::Stream(MHD_Connection* connection, std::unique_ptr<StreamSource> source, bool events)
    : connection_(connection), source_(std::move(source)), events_(events) {}

ssize_t Streams::Stream::read(char* to, size_t most, const std::function<void()>& waits) {
  std::unique_lock lock(mutex_);
  while (sent_ == left_.size()) {
    if (over_) return MHD_CONTENT_READER_END_OF_STREAM;
    pending_ = false;
    lock.unlock();
    auto next = source_->next();  // may call more()
    lock.lock();
    sent_ = 0;
    if (!next) over_ = true;
    std::string text = std::move(next).value_or(std::string());
    left_.swap(text);  // an assignment would keep the memory of what was sent
    if (!left_.empty() || over_ || pending_) continue;
    if (std::exchange(beat_, false)) {
      left_ = ": \n\n";
      continue;
    }
    suspended_ = true;
    waits();
    MHD_suspend_connection(connection_);
    return 0;
  }
  const size_t count = std::min(most, left_.size() - sent_);
  std::memcpy(to, left_.data() + sent_, count);
  sent_ += count;
  return ssize_t(count);
}

void Streams::Stream::resume() {
  if (connection_ && std::exchange(suspended_, false)) MHD_resume_connection(connection_);
}

void Streams::Stream::more() {
  std::lock_guard lock(mutex_);
  pending_ = true;
  resume();
}

void Streams::Stream::beat() {
  std::lock_guard lock(mutex_);
  if (!events_ || !suspended_) return;
  beat_ = true;
  resume();
}

void Streams::Stream::end() {
  std::lock_guard lock(mutex_);
  over_ = pending_ = true;
  resume();
}

void Streams::Stream::closed() {
  std::lock_guard lock(mutex_);
  connection_ = nullptr;
}

std::shared_ptr<Streams::Stream> Streams::open(MHD_Connection* connection,
                                               std::unique_ptr<StreamSource> source, bool events) {
  StreamSource& its = *source;
  auto stream = std::make_shared<Stream>(connection, std::move(source), events);
  its.on_more([weak = std::weak_ptr(stream)] {
    if (const auto held = weak.lock()) held->more();
  });
  std::lock_guard lock(mutex_);
  open_.remove_if([](const auto& weak) { return weak.expired(); });
  open_.push_back(stream);
  if (stopping_) stream->end();
  return stream;
}

void Streams::beat() {
  std::lock_guard lock(mutex_);
  for (const auto& weak : open_)
    if (const auto stream = weak.lock()) stream->beat();
}

void Streams::stop() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  for (const auto& weak : open_)
    if (const auto stream = weak.lock()) stream->end();
}

}  // namespace radl::httpd
