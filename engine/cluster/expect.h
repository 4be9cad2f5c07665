// Waiting for one kind of message on a session, where the other side may end the job instead.
#pragma once

#include "common/stop.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {

// What a Refuse or Stop from `name` says.
Status ended_by(const Message& message, const std::string& name);

// The next message, which must be of this type; a Stop or Refuse in its place is what it says.
Status expect(Session& session, MessageType type, Message& message, const radl::Stop& stop);

}  // namespace radl::engine::cluster
