// Waits for a specific message on a session. The peer may end the job instead.
#pragma once

#include "common/stop.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {

// The reason in a Refuse or Stop from `name`.
Status ended_by(const Message& message, const std::string& name);

// Receives the next message, which must have this type. A Stop or Refuse becomes an error with its reason.
Status expect(Session& session, MessageType type, Message& message, const radl::Stop& stop);

}  // namespace radl::engine::cluster
