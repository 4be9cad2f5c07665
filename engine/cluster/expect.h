// Waits for a specific message on a session (the peer may end the job instead); says last words to a peer.
#pragma once

#include "common/stop.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {

// The reason in a Refuse or Stop from `name`.
Status ended_by(const Message& message, const std::string& name);

// The Refuse that tells a peer this reason.
Message refusal(const Status& why);
// Sends a session's last message, and gives the peer half a second to read it before the link closes.
void send_last(Session& session, const Message& message);

// Receives the next message, which must have this type. A Stop or Refuse becomes an error with its reason.
Status expect(Session& session, MessageType type, Message& message, const radl::Stop& stop);

}  // namespace radl::engine::cluster
