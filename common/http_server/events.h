// Answers that go on: server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html) and other
// bytes that come to be while the client reads.
//
// A stream costs no thread: while it has nothing to say, its connection is suspended.
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

// Where the bytes come from; the server owns it and ends it when the client has gone.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  // The next bytes; "": there are none yet, and `more` will be called; nothing: the stream is over. Called
  // from the server's own thread, by one at a time: it must not wait.
  virtual std::optional<std::string> next() = 0;
  // Called once, before next(). `more` may be called at any time and from any thread, also after the source
  // has gone.
  virtual void on_more(std::function<void()> more) = 0;
};

// One event: an "id:" line unless `id` is empty, an "event:" line unless `type` is empty, and a "data:" line
// for each line of `data`. Line breaks in `id` and `type` are dropped.
std::string server_sent_event(std::string_view id, std::string_view type, std::string_view data);

// The streams of one server.
class Streams {
 public:
  class Stream;
  // For a connection that is about to answer with it.
  std::shared_ptr<Stream> open(MHD_Connection* connection, std::unique_ptr<StreamSource> source, bool events);
  // Sends ": \n\n" on each event stream that waits, so that a client that has gone is noticed.
  void beat();
  // Ends all. No connection is suspended afterwards, and none will be.
  void stop();

 private:
  std::mutex mutex_;
  bool stopping_ = false;
  std::list<std::weak_ptr<Stream>> open_;
};

class Streams::Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(MHD_Connection* connection, std::unique_ptr<StreamSource> source, bool events);
  // For libmicrohttpd's reader: bytes written, 0 after it suspended the connection, -1 at the end.
  // `waits` is called before the connection is suspended.
  ssize_t read(char* to, size_t most, const std::function<void()>& waits);
  void more();
  void beat();
  void end();
  // The connection is no more.
  void closed();

 private:
  void resume();  // under the mutex

  std::mutex mutex_;
  MHD_Connection* connection_;
  std::unique_ptr<StreamSource> source_;
  const bool events_;
  std::string left_;  // of what next() gave
  size_t sent_ = 0;   // of left_
  bool suspended_ = false, pending_ = true, beat_ = false, over_ = false;
};

}  // namespace radl::httpd
