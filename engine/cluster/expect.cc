#include "engine/cluster/expect.h"

#include <fmt/format.h>

namespace radl::engine::cluster {

Status ended_by(const Message& message, const std::string& name) {
  uint8_t code = 0;
  std::string text;
  if (message.type == MessageType::Refuse) {
    Refuse refuse;
    if (Status bad = decode(message, refuse); !bad.ok()) return bad;
    code = refuse.code;
    text = name + " refuses this member: " + refuse.text;
  } else {
    Stop stop;
    if (Status bad = decode(message, stop); !bad.ok()) return bad;
    code = stop.code;
    text = stop.code == 0 ? "the job is finished" : "the job was ended: " + stop.text;
  }
  if (code == 0 || code > static_cast<uint8_t>(Code::Internal)) code = static_cast<uint8_t>(Code::Cancelled);
  return {static_cast<Code>(code), text};
}

Message refusal(const Status& why) { return encode(Refuse{static_cast<uint8_t>(why.code()), why.message()}); }

void send_last(Session& session, const Message& message) {
  (void)session.send(message);
  Message rest;
  (void)session.receive(rest, Milliseconds(500));
}

// The next message, which must be of this type; a Stop or Refuse in its place is what it says.
Status expect(Session& session, MessageType type, Message& message, const radl::Stop& stop) {
  if (Status got = session.receive(message, stop); !got.ok()) return got;
  if (message.type == type) return {};
  if (message.type == MessageType::Refuse || message.type == MessageType::Stop)
    return ended_by(message, session.name());
  return {Code::Corrupt, fmt::format("{}: sent {} where {} was expected", session.name(),
                                     type_name(message.type), type_name(type))};
}

}  // namespace radl::engine::cluster
