// Streaming answers: server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html) and other
// bytes produced while the client reads.
//
// A stream costs no thread: while it has no data, its connection is suspended.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

struct MHD_Connection;

namespace radl::httpd {

// Source of a stream's bytes. The server owns it, and destroys it when the client has disconnected.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  // Returns the next bytes; "" if there are none yet, and `more` will be called; nullopt at the end. Called
  // on the server's thread, one call at a time; must not block.
  virtual std::optional<std::string> next() = 0;
  // Called once, before next(). `more` may be called at any time, from any thread, even after the source is
  // destroyed.
  virtual void on_more(std::function<void()> more) = 0;
};

// One event: an "id:" line unless `id` is empty, an "event:" line unless `type` is empty, and a "data:" line
// for each line of `data`. Line breaks in `id` and `type` are dropped.
std::string server_sent_event(std::string_view id, std::string_view type, std::string_view data);

// The streams of one server.
class Streams {
 public:
  class Stream;
  // For a connection about to be answered with the stream.
  std::shared_ptr<Stream> open(MHD_Connection* connection, std::unique_ptr<StreamSource> source, bool events);
  // Sends ": \n\n" on each idle event stream, to detect clients that have disconnected.
  void beat();
  // Ends all streams. No connection is suspended afterwards.
  void stop();

 private:
  std::mutex mutex_;
  bool stopping_ = false;
  std::list<std::weak_ptr<Stream>> open_;
};

class Streams::Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(MHD_Connection* connection, std::unique_ptr<StreamSource> source, bool events);
  // For libmicrohttpd's reader. Returns the bytes written, 0 after it suspended the connection, or -1 at the
  // end. Calls `waits` before it suspends the connection.
  ssize_t read(char* to, size_t most, const std::function<void()>& waits);
  void more();
  void beat();
  void end();
  // The connection no longer exists.
  void closed();

 private:
  void resume();  // under the mutex

  std::mutex mutex_;
  MHD_Connection* connection_;
  std::unique_ptr<StreamSource> source_;
  const bool events_;
  std::string left_;  // rest of the last next()
  size_t sent_ = 0;   // of left_
  bool suspended_ = false, pending_ = true, beat_ = false, over_ = false;
};

}  // namespace radl::httpd
