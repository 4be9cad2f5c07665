#include "engine/cluster/poll.h"

#include <future>

namespace radl::engine::cluster {

Answered say_hello(Result<std::unique_ptr<Link>> link, const Hello& hello, Milliseconds peer_timeout) {
  Answered out;
  if (!link) {
    if (link.status().code() == Code::NotFound) out.ballot.kind = Ballot::Kind::Ended;
    return out;
  }
  auto session = std::make_unique<Session>(std::move(*link), peer_timeout);
  session->set_limit(size_t{1} << 24);  // for a map of many servers
  Message answer;
  if (!session->send(encode(hello)).ok() || !session->receive(answer, kDialLost).ok()) return out;
  if (answer.type == MessageType::Refuse) out.ballot.kind = Ballot::Kind::Refuses;
  if (answer.type != MessageType::Map || !decode(answer, out.ballot.map).ok()) return out;
  // One that was started again has no shards: the chief takes it in later.
  const bool knows = out.ballot.map.epoch > 0;
  out.ballot.kind = knows ? Ballot::Kind::Agrees : Ballot::Kind::Ended;
  if (knows) out.session = std::move(session);
  return out;
}

std::vector<Answered> poll(size_t servers, const Dial& dial, const Hello& hello, Milliseconds peer_timeout) {
  std::vector<std::future<Answered>> asked;
  for (uint32_t i = 0; i < servers; ++i)
    asked.push_back(std::async(std::launch::async,
                               [&, i] { return say_hello(dial(i, kDialLost), hello, peer_timeout); }));
  std::vector<Answered> out;
  for (auto& one : asked) out.push_back(one.get());
  return out;
}

Ballots ballots_of(const std::vector<Answered>& answers) {
  Ballots out;
  for (uint32_t i = 0; i < answers.size(); ++i) out[i] = answers[i].ballot;
  return out;
}

}  // namespace radl::engine::cluster
