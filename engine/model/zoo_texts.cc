// The models themselves, in the text form of docs/models.md. @NAME@ is filled in from the table in zoo.cc.
#include "engine/model/zoo_texts.h"

namespace radl::engine::zoo {

const char kLogistic[] = R"(model logistic
fc: linear classes
)";

const char kMlp[] = R"(model mlp
fc1: linear 256 init=he
relu
fc2: linear 128 init=he
relu
fc3: linear classes
)";

// LeCun et al. 1998, with rectifiers and maximum pooling.
const char kLenet[] = R"(model lenet
conv1: conv 6 kernel=5 pad=2
relu
maxpool kernel=2
conv2: conv 16 kernel=5 pad=valid
relu
maxpool kernel=2
fc1: linear 120 init=he
relu
fc2: linear 84 init=he
relu
fc3: linear classes
)";

// He et al. 2015: a stage of basic blocks whose first halves the resolution, with a 1x1 projection.
#define RADL_BASIC_STAGE(L, OUT, LAST)   \
  "save skip\n"                          \
  "layer" L ".0.downsample.0: conv " OUT \
  " kernel=1 stride=2 bias=no\n"         \
  "layer" L                              \
  ".0.downsample.1: batchnorm\n"         \
  "save short\n"                         \
  "layer" L ".0.conv1: conv " OUT        \
  " stride=2 pad=1 bias=no from skip\n"  \
  "layer" L                              \
  ".0.bn1: batchnorm\n"                  \
  "relu\n"                               \
  "layer" L ".0.conv2: conv " OUT        \
  " bias=no\n"                           \
  "layer" L                              \
  ".0.bn2: batchnorm\n"                  \
  "add short\n"                          \
  "relu\n" RADL_BASIC_BLOCKS(L, OUT, "1", LAST)

#define RADL_BASIC_BLOCKS(L, OUT, FIRST, LAST) \
  "repeat b " FIRST ".." LAST                  \
  "\n"                                         \
  "  save skip\n"                              \
  "  layer" L ".$b.conv1: conv " OUT           \
  " bias=no\n"                                 \
  "  layer" L                                  \
  ".$b.bn1: batchnorm\n"                       \
  "  relu\n"                                   \
  "  layer" L ".$b.conv2: conv " OUT           \
  " bias=no\n"                                 \
  "  layer" L                                  \
  ".$b.bn2: batchnorm\n"                       \
  "  add skip\n"                               \
  "  relu\n"                                   \
  "end\n"

// Section 4.2 (CIFAR): three stages, 16, 32 and 64 channels.
const char kResnetCifar[] =
    "model @name@\n"
    "conv1: conv 16 kernel=3 bias=no\n"
    "bn1: batchnorm\n"
    "relu\n" RADL_BASIC_BLOCKS("1", "16", "0", "@last@") RADL_BASIC_STAGE("2", "32", "@last@")
        RADL_BASIC_STAGE("3", "64", "@last@") "globalavgpool\n"
                                              "fc: linear classes\n";

#define RADL_RESNET18_BODY \
  RADL_BASIC_BLOCKS("1", "64", "0", "1") RADL_BASIC_STAGE("2", "128", "1") RADL_BASIC_STAGE("3", "256", "1") \
  RADL_BASIC_STAGE("4", "512", "1") "globalavgpool\n" "fc: linear classes\n"

// ResNet-18 with a 3x3 stem, as is usual for 32x32 images.
const char kResnet18Cifar[] =
    "model resnet18\n"
    "conv1: conv 64 kernel=3 bias=no\n"
    "bn1: batchnorm\n"
    "relu\n" RADL_RESNET18_BODY;

const char kResnet18[] =
    "model resnet18-224\n"
    "conv1: conv 64 kernel=7 stride=2 pad=3 bias=no\n"
    "bn1: batchnorm\n"
    "relu\n"
    "maxpool kernel=3 stride=2 pad=1\n" RADL_RESNET18_BODY;

// He et al. 2015, bottlenecks; the stride is on the 3x3 (v1.5, as in torchvision).
#define RADL_BOTTLENECK_STAGE(L, MID, OUT, STRIDE, LAST)            \
  "save skip\n"                                                     \
  "layer" L ".0.downsample.0: conv " OUT " kernel=1 stride=" STRIDE \
  " bias=no\n"                                                      \
  "layer" L                                                         \
  ".0.downsample.1: batchnorm\n"                                    \
  "save short\n"                                                    \
  "layer" L ".0.conv1: conv " MID                                   \
  " kernel=1 bias=no from skip\n"                                   \
  "layer" L                                                         \
  ".0.bn1: batchnorm\n"                                             \
  "relu\n"                                                          \
  "layer" L ".0.conv2: conv " MID " kernel=3 pad=1 stride=" STRIDE  \
  " bias=no\n"                                                      \
  "layer" L                                                         \
  ".0.bn2: batchnorm\n"                                             \
  "relu\n"                                                          \
  "layer" L ".0.conv3: conv " OUT                                   \
  " kernel=1 bias=no\n"                                             \
  "layer" L                                                         \
  ".0.bn3: batchnorm\n"                                             \
  "add short\n"                                                     \
  "relu\n"                                                          \
  "repeat b 1.." LAST                                               \
  "\n"                                                              \
  "save skip\n"                                                     \
  "layer" L ".$b.conv1: conv " MID                                  \
  " kernel=1 bias=no\n"                                             \
  "layer" L                                                         \
  ".$b.bn1: batchnorm\n"                                            \
  "relu\n"                                                          \
  "layer" L ".$b.conv2: conv " MID                                  \
  " kernel=3 bias=no\n"                                             \
  "layer" L                                                         \
  ".$b.bn2: batchnorm\n"                                            \
  "relu\n"                                                          \
  "layer" L ".$b.conv3: conv " OUT                                  \
  " kernel=1 bias=no\n"                                             \
  "layer" L                                                         \
  ".$b.bn3: batchnorm\n"                                            \
  "add skip\n"                                                      \
  "relu\n"                                                          \
  "end\n"

const char kResnet50[] =
    "model resnet50\n"
    "conv1: conv 64 kernel=7 stride=2 pad=3 bias=no\n"
    "bn1: batchnorm\n"
    "relu\n"
    "maxpool kernel=3 stride=2 pad=1\n" RADL_BOTTLENECK_STAGE("1", "64", "256", "1", "2")
        RADL_BOTTLENECK_STAGE("2", "128", "512", "2", "3") RADL_BOTTLENECK_STAGE("3", "256", "1024", "2", "5")
            RADL_BOTTLENECK_STAGE("4", "512", "2048", "2", "2") "globalavgpool\n"
                                                                "fc: linear classes\n";

// Our network for CIFAR-10 in minutes, after the public speed-run literature (Jordan 2024, Page 2018): a
// whitening first convolution, three groups of two 3x3 convolutions with pooling right after the first, GELU,
// scaled logits.
const char kFastCifar[] = R"(model @name@
whiten: conv 24 kernel=2 pad=valid whiten=yes bias=yes
gelu
group1.conv1: conv @a@ bias=no init=dirac
maxpool kernel=2
group1.norm1: batchnorm momentum=0.4 eps=1e-12 scale=no
gelu
group1.conv2: conv @a@ bias=no init=dirac
group1.norm2: batchnorm momentum=0.4 eps=1e-12 scale=no
gelu
group2.conv1: conv @b@ bias=no init=dirac
maxpool kernel=2
group2.norm1: batchnorm momentum=0.4 eps=1e-12 scale=no
gelu
group2.conv2: conv @b@ bias=no init=dirac
group2.norm2: batchnorm momentum=0.4 eps=1e-12 scale=no
gelu
group3.conv1: conv @c@ bias=no init=dirac
maxpool kernel=2
group3.norm1: batchnorm momentum=0.4 eps=1e-12 scale=no
gelu
group3.conv2: conv @c@ bias=no init=dirac
group3.norm2: batchnorm momentum=0.4 eps=1e-12 scale=no
gelu
globalmaxpool
head: linear classes bias=no
scale factor=0.1111111
)";

// The demo's network: 32 MFLOP forward, for two single-threaded workers and a few minutes.
const char kFastCifarS[] = R"(model fastcifar-s
stem: conv 32 kernel=3 stride=2 bias=no
stem.norm: batchnorm
relu
save skip
block1.conv1: conv 32 bias=no
block1.norm1: batchnorm
relu
block1.conv2: conv 32 bias=no
block1.norm2: batchnorm
add skip
relu
conv2: conv 64 bias=no
maxpool kernel=2
norm2: batchnorm
relu
save skip
block2.conv1: conv 64 bias=no
block2.norm1: batchnorm
relu
block2.conv2: conv 64 bias=no
block2.norm2: batchnorm
add skip
relu
conv3: conv 128 bias=no
maxpool kernel=2
norm3: batchnorm
relu
save skip
block3.conv1: conv 128 bias=no
block3.norm1: batchnorm
relu
block3.conv2: conv 128 bias=no
block3.norm2: batchnorm
add skip
relu
globalmaxpool
head: linear classes
scale factor=0.125
)";

// Szegedy et al. 2016 (Inception-ResNet-v1), with batch norm after each convolution and scaled residuals.
#define RADL_CONV(NAME, ARGS) NAME ": conv " ARGS " bias=no\n" NAME ".bn: batchnorm eps=1e-3\nrelu\n"
#define RADL_CONV_FROM(NAME, ARGS, FROM) \
  NAME ": conv " ARGS " bias=no from " FROM "\n" NAME ".bn: batchnorm eps=1e-3\nrelu\n"

const char kInceptionResnetV1[] =
    "model inception-resnet-v1\n" RADL_CONV("conv2d_1a", "32 kernel=3 stride=2 pad=valid")
        RADL_CONV("conv2d_2a", "32 kernel=3 pad=valid") RADL_CONV("conv2d_2b", "64 kernel=3")
            "maxpool kernel=3 stride=2\n" RADL_CONV("conv2d_3b", "80 kernel=1")
                RADL_CONV("conv2d_4a", "192 kernel=3 pad=valid")
                    RADL_CONV("conv2d_4b", "256 kernel=3 stride=2 pad=valid")
    // 5 x block 35
    "repeat b 0..4\nsave skip\n" RADL_CONV("repeat_1.$b.branch0", "32 kernel=1")
    "save b0\n" RADL_CONV_FROM("repeat_1.$b.branch1.0", "32 kernel=1", "skip") RADL_CONV("repeat_1.$b.branch1.1",
                                                                                       "32 kernel=3")
    "save b1\n" RADL_CONV_FROM("repeat_1.$b.branch2.0", "32 kernel=1", "skip")
        RADL_CONV("repeat_1.$b.branch2.1", "32 kernel=3") RADL_CONV("repeat_1.$b.branch2.2", "32 kernel=3")
    "save b2\nconcat from b0 b1 b2\n"
    "repeat_1.$b.conv2d: conv 256 kernel=1\nscale factor=0.17\nadd skip\nrelu\nend\n"
    // reduction A
    "save skip\n" RADL_CONV("mixed_6a.branch0", "384 kernel=3 stride=2 pad=valid")
    "save b0\n" RADL_CONV_FROM("mixed_6a.branch1.0", "192 kernel=1", "skip")
        RADL_CONV("mixed_6a.branch1.1", "192 kernel=3") RADL_CONV("mixed_6a.branch1.2",
                                                                  "256 kernel=3 stride=2 pad=valid")
    "save b1\nmaxpool kernel=3 stride=2 from skip\nsave b2\nconcat from b0 b1 b2\n"
    // 10 x block 17
    "repeat b 0..9\nsave skip\n" RADL_CONV("repeat_2.$b.branch0", "128 kernel=1")
    "save b0\n" RADL_CONV_FROM("repeat_2.$b.branch1.0", "128 kernel=1", "skip")
        RADL_CONV("repeat_2.$b.branch1.1", "128 kernel=1x7") RADL_CONV("repeat_2.$b.branch1.2", "128 kernel=7x1")
    "save b1\nconcat from b0 b1\n"
    "repeat_2.$b.conv2d: conv 896 kernel=1\nscale factor=0.1\nadd skip\nrelu\nend\n"
    // reduction B
    "save skip\n" RADL_CONV("mixed_7a.branch0.0", "256 kernel=1")
        RADL_CONV("mixed_7a.branch0.1", "384 kernel=3 stride=2 pad=valid")
    "save b0\n" RADL_CONV_FROM("mixed_7a.branch1.0", "256 kernel=1", "skip")
        RADL_CONV("mixed_7a.branch1.1", "256 kernel=3 stride=2 pad=valid")
    "save b1\n" RADL_CONV_FROM("mixed_7a.branch2.0", "256 kernel=1", "skip")
        RADL_CONV("mixed_7a.branch2.1", "256 kernel=3") RADL_CONV("mixed_7a.branch2.2",
                                                                  "256 kernel=3 stride=2 pad=valid")
    "save b2\nmaxpool kernel=3 stride=2 from skip\nsave b3\nconcat from b0 b1 b2 b3\n"
    // 5 x block 8
    "repeat b 0..4\nsave skip\n" RADL_CONV("repeat_3.$b.branch0", "192 kernel=1")
    "save b0\n" RADL_CONV_FROM("repeat_3.$b.branch1.0", "192 kernel=1", "skip")
        RADL_CONV("repeat_3.$b.branch1.1", "192 kernel=1x3") RADL_CONV("repeat_3.$b.branch1.2", "192 kernel=3x1")
    "save b1\nconcat from b0 b1\n"
    "repeat_3.$b.conv2d: conv 1792 kernel=1\nscale factor=0.2\nadd skip\nrelu\nend\n"
    "globalavgpool\ndropout rate=0.2\nlogits: linear classes\n";

// Dosovitskiy et al. 2020, small enough for 32x32 images: 4x4 patches, pre-norm blocks, mean over tokens.
const char kVitTiny[] = R"(model vit-tiny
patch: conv 128 kernel=4 stride=4 pad=valid init=torch
pos: position
repeat b 0..3
  save skip
  block$b.norm1: layernorm
  block$b.attention: attention heads=4
  add skip
  save skip
  block$b.norm2: layernorm
  block$b.fc1: linear 256 per_token=yes
  gelu
  block$b.fc2: linear 128 per_token=yes
  add skip
end
norm: layernorm
globalavgpool
head: linear classes
)";

}  // namespace radl::engine::zoo
