// The texts of the zoo's models.
#pragma once

namespace radl::engine::zoo {

extern const char kLogistic[], kMlp[], kLenet[], kResnetCifar[], kResnet18Cifar[], kResnet18[], kResnet50[];
extern const char kFastCifar[], kFastCifarS[], kInceptionResnetV1[], kVitTiny[];

}  // namespace radl::engine::zoo
