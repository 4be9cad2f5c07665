// How a chief introduces itself to servers and asks for their votes.
#pragma once

#include <memory>
#include <vector>

#include "engine/cluster/election.h"
#include "engine/cluster/link.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {

inline constexpr Milliseconds kDialLost{1000};  // for a server that may be gone

// A server's answer, and the link to it if it knows a map.
struct Answered {
  Ballot ballot;
  std::unique_ptr<Session> session;
};

// `link`: to the server, or why there is none.
Answered say_hello(Result<std::unique_ptr<Link>> link, const Hello& hello, Milliseconds peer_timeout);
// Says Hello to so many servers at once.
std::vector<Answered> poll(size_t servers, const Dial& dial, const Hello& hello, Milliseconds peer_timeout);
Ballots ballots_of(const std::vector<Answered>& answers);

}  // namespace radl::engine::cluster
