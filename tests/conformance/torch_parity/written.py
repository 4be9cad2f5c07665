"""Models of the zoo as one writes them in PyTorch, with the usual names: nothing here knows our model texts."""
import torch
from torch import nn
from torch.nn import functional as F


class Logistic(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.fc = nn.Linear(3 * 32 * 32, classes)

    def forward(self, x):
        return self.fc(x.flatten(1))


class Mlp(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(3 * 32 * 32, 256), nn.Linear(256, 128), nn.Linear(128, classes)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class Lenet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(16 * 6 * 6, 120), nn.Linear(120, 84), nn.Linear(84, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Basic(nn.Module):
    expansion = 1

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = shortcut(inputs, width, stride)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample = shortcut(inputs, 4 * width, stride)

    def forward(self, x):
        y = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(self.bn3(self.conv3(y)) + (x if self.downsample is None else self.downsample(x)))


def shortcut(inputs, outputs, stride):
    if inputs == outputs and stride == 1:
        return None
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))


class Resnet(nn.Module):
    def __init__(self, block, widths, depths, big, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, widths[0], *((7, 2, 3) if big else (3, 1, 1)), bias=False)
        self.bn1 = nn.BatchNorm2d(widths[0])
        self.big = big
        inputs = widths[0]
        for number, (width, depth) in enumerate(zip(widths, depths), 1):
            blocks = []
            for k in range(depth):
                blocks.append(block(inputs, width, 2 if k == 0 and number > 1 else 1))
                inputs = width * block.expansion
            self.add_module(f"layer{number}", nn.Sequential(*blocks))
        self.stages = len(widths)
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        if self.big:
            x = F.max_pool2d(x, 3, 2, 1)
        for number in range(1, self.stages + 1):
            x = getattr(self, f"layer{number}")(x)
        return self.fc(x.mean((2, 3)))


def resnet_cifar(blocks):
    return lambda: Resnet(Basic, (16, 32, 64), (blocks,) * 3, False)


WRITTEN = {
    "logistic": Logistic,
    "mlp": Mlp,
    "lenet": Lenet,
    "resnet20": resnet_cifar(3),
    "resnet32": resnet_cifar(5),
    "resnet44": resnet_cifar(7),
    "resnet56": resnet_cifar(9),
    "resnet110": resnet_cifar(18),
    "resnet18": lambda: Resnet(Basic, (64, 128, 256, 512), (2,) * 4, False),
    "resnet18-224": lambda: Resnet(Basic, (64, 128, 256, 512), (2,) * 4, True),
    "resnet50": lambda: Resnet(Bottleneck, (64, 128, 256, 512), (3, 4, 6, 3), True),
}
