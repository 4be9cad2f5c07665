"""Texts that together have every kind of layer and option (docs/models.md); name -> (input H W C, text)."""

LAYERS = {
    "convolutions": ((17, 19, 3), """
c1: conv 12 kernel=3x5 stride=2x1 pad=1x2
relu
c2: conv 18 kernel=3 groups=3 dilation=2 bias=no
silu
c3: conv 18 kernel=3 groups=18 stride=2
c4: conv 16 kernel=2
c5: conv 8 kernel=3 pad=valid dilation=1x2
flatten
fc: linear classes
"""),
    "pooling": ((21, 18, 3), """
conv 8 kernel=3
save a
maxpool kernel=3 stride=2 pad=1
b1: avgpool kernel=3 stride=1 pad=1
maxpool kernel=2x3 stride=1x2
avgpool kernel=2 stride=1
globalmaxpool
save g1
avgpool kernel=3 stride=2 from a
globalavgpool
concat g1
fc: linear classes
"""),
    "activations": ((8, 8, 3), """
conv 8
leakyrelu slope=0.2
conv 8
gelu
conv 8
tanh
conv 8
sigmoid
conv 8
elu slope=0.7
conv 8
hardswish
conv 8
silu
conv 8
identity
relu
globalavgpool
fc: linear classes bias=no
"""),
    "norms": ((10, 7, 3), """
conv 12
n1: batchnorm scale=no
conv 12
n2: batchnorm shift=no eps=1e-3
n3: layernorm
conv 12
n4: layernorm scale=no shift=no
n5: groupnorm groups=4
conv 12
n6: groupnorm groups=1 scale=no
n7: groupnorm groups=12 shift=no
flatten
n8: batchnorm
n9: layernorm
fc: linear classes
"""),
    "joins": ((9, 9, 3), """
a: conv 6
b: conv 6 from a
c: conv 6 from a
add from a b c
save s
d: conv 4 from s
e: conv 5 from s
concat from d e s
relu
scale factor=0.3
dropout rate=0.4
globalavgpool
fc: linear classes
"""),
    "flattened": ((6, 5, 3), """
f: flatten
h1: linear 20 from f
relu
save one
h2: linear 20 from f
tanh
concat one
h3: conv 11 kernel=1
elu
fc: linear classes
"""),
    "names": ((6, 6, 3), """
images: conv 8
images.ones: relu
probabilities: batchnorm scale=no
logits.scale: conv 8
normalise: scale factor=0.5
normalise.scale: globalavgpool
logits: linear classes
"""),
    "sequence": ((1, 24, 1), """
table: linear 16 per_token=yes
pos: position
a1: attention heads=4 causal=yes
n1: layernorm
f1: linear 32 per_token=yes
gelu
f2: linear 16 per_token=yes
a2: attention heads=2
globalavgpool
fc: linear classes
"""),
}
