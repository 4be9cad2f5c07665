"""Two kinds of pictures in folders, as torchvision's ImageFolder reads them: pictures.py FOLDER TRAIN VAL, so many of each part."""
import pathlib
import sys

import torch
import torchvision

for part, count in (("train", int(sys.argv[2])), ("val", int(sys.argv[3]))):
    for kind in (0, 1):
        folder = pathlib.Path(sys.argv[1]) / part / str(kind)
        folder.mkdir(parents=True)
        for n in range(count // 2):
            noise = torch.randint(0, 100, (3, 64, 64), generator=torch.Generator().manual_seed(n), dtype=torch.uint8)
            torchvision.io.write_png(noise + kind * 100, str(folder / f"{n}.png"))
