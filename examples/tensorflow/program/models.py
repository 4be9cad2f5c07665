"""The two models: ResNet-44 for images of 32x32 points, and Inception-ResNet-V1 for 224x224.

He et al., Deep Residual Learning for Image Recognition (CIFAR-10's networks, n = 7), https://arxiv.org/abs/1512.03385
Szegedy et al., Inception-v4, Inception-ResNet and the Impact of Residual Connections, https://arxiv.org/abs/1602.07261
"""
from tensorflow import keras
from tensorflow.keras import layers


def conv(x, filters, size, strides=1, padding="same", relu=True):
    x = layers.Conv2D(filters, size, strides=strides, padding=padding, use_bias=False, kernel_initializer="he_normal")(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x) if relu else x


def resnet44(classes=10, blocks=7):
    image = keras.Input((32, 32, 3))
    x = conv(image, 16, 3)
    for stage, filters in enumerate((16, 32, 64)):
        for block in range(blocks):
            strides = 2 if stage > 0 and block == 0 else 1
            shortcut = x
            if strides == 2:  # the paper's option A: every second point, new channels are zero
                shortcut = layers.AveragePooling2D(1, 2)(x)
                shortcut = layers.Concatenate()([shortcut, layers.Rescaling(0.0)(shortcut)])
            y = conv(conv(x, filters, 3, strides), filters, 3, relu=False)
            x = layers.ReLU()(layers.Add()([shortcut, y]))
    return keras.Model(image, layers.Dense(classes)(layers.GlobalAveragePooling2D()(x)), name="resnet44")


def residual(x, branches, scale, relu=True):
    """Branches side by side, brought to the width of x by a convolution without batch norm, scaled and added."""
    y = branches[0] if len(branches) == 1 else layers.Concatenate()(branches)
    y = layers.Rescaling(scale)(layers.Conv2D(x.shape[-1], 1)(y))
    x = layers.Add()([x, y])
    return layers.ReLU()(x) if relu else x


def block35(x):
    return residual(x, [conv(x, 32, 1), conv(conv(x, 32, 1), 32, 3), conv(conv(conv(x, 32, 1), 32, 3), 32, 3)], 0.17)


def block17(x):
    return residual(x, [conv(x, 128, 1), conv(conv(conv(x, 128, 1), 128, (1, 7)), 128, (7, 1))], 0.10)


def block8(x, scale=0.20, relu=True):
    return residual(x, [conv(x, 192, 1), conv(conv(conv(x, 192, 1), 192, (1, 3)), 192, (3, 1))], scale, relu)


def inception_resnet_v1(classes=10, side=224):
    image = keras.Input((side, side, 3))
    x = conv(conv(conv(image, 32, 3, 2, "valid"), 32, 3, padding="valid"), 64, 3)
    x = layers.MaxPooling2D(3, 2)(x)
    x = conv(conv(conv(x, 80, 1), 192, 3, padding="valid"), 256, 3, 2, "valid")
    for _ in range(5):
        x = block35(x)
    x = layers.Concatenate()([layers.MaxPooling2D(3, 2)(x), conv(x, 384, 3, 2, "valid"),
                              conv(conv(conv(x, 192, 1), 192, 3), 256, 3, 2, "valid")])
    for _ in range(10):
        x = block17(x)
    x = layers.Concatenate()([layers.MaxPooling2D(3, 2)(x), conv(conv(x, 256, 1), 384, 3, 2, "valid"),
                              conv(conv(x, 256, 1), 256, 3, 2, "valid"),
                              conv(conv(conv(x, 256, 1), 256, 3), 256, 3, 2, "valid")])
    for _ in range(5):
        x = block8(x)
    x = block8(x, 1.0, relu=False)
    x = layers.Dropout(0.2)(layers.GlobalAveragePooling2D()(x))
    return keras.Model(image, layers.Dense(classes)(x), name="inception_resnet_v1")
