"""DRetHTR in torch: one path from the image of a line to the logits of its text.

    image                  (1, height, columns)     ink +1, paper −1
      │  backbones/        convolutions; EfficientNetV2-S in SMALL and BASE, PP-OCR in COMPACT
    features               (I, backbone width)      a column of them for every 8 or 16 pixels
      │  network.py        a projection to the width of the decoder
      │  embedding.py      positions: learned, or sinusoids
      │  ctc.py            COMPACT only: a first reading, added to the tokens as a hint
    image tokens           (I, width)
      │  block.py          in each layer: norm, attention, norm, feed-forward
      │  attention.py      image tokens attend to each other, near ones more: the image prior
    keys and values        (H, I, K) in each layer  computed once, whatever the text

    text tokens            (N)                      a whole text in training, one token in a search
      │  embedding.py      a vector for each token, and sinusoids for its position
      │  block.py          the same layers with the same weights
      │  mixer.py          ARMF: attention to the image + retention over the text so far
      │  attention.py      softmax over the image keys of the line, shared by all its beams
      │  retention.py      no softmax: (Q Kᵀ ⊙ D) V, where D fades the past by γ of each head
      │  cache.py          the text so far: a matrix per head, and a buffer of the latest tokens
      │  ancestry.py       the same in a search on a GPU: every token once, and the ancestry of each row
    logits                 (N, vocabulary)

Two facts make this one code path. Image tokens never attend to text, so the image passes through all layers first. And
retention has three forms with one result (`retention.py`): parallel for a whole text, recurrent for the next token,
chunkwise for texts of thousands; so what training computes at once, a search computes token by token, with a state of
fixed size. `tests/network` holds these laws: the three forms agree with their gradients, one token at a time equals all
at once, padding and the other lines of a batch change nothing, the released code computes the same (`test_parity.py`),
and so does onnxruntime (`tests/recognition/onnx`).

What differs between the three networks, from `recognition/model/architecture.py`:

                       SMALL              BASE               COMPACT, the shipped model
    layers x width     4 x 1024           12 x 768           6 x 256
    heads              8                  12                 4
    backbone           EfficientNetV2-S   EfficientNetV2-S   PP-OCR
    image positions    learned            learned            sinusoids
    image prior        γ^|i-j| times the softmax weights     |i-j| log γ added before the softmax
    γ                  rises from layer to layer (paper, eq. 10), for text and image alike
    norm before logits –                  –                  yes
    CTC head           –                  –                  yes

Read `retention.py`, `mixer.py`, `block.py` and `network.py` for the idea; `cache.py`, `tree.py` and `padded.py` for
what makes it fast without changing a number, and on a GPU `resident.py`, with the steps in `capture.py` and the kernels
in `fused.py`. The rest runs it: `backend.py` behind the protocol of the recognizer, with `devices.py` and
`precision.py`; `weights.py`, `pretrained.py` and `lora.py` for weights; the rescorer in `rescorer.py` is the decoder
without its image. `detector.py` is another network, which finds lines on pages. `variants.py` says how a config finds
its class; through it the networks that the paper compares with plug in from `drethtr.paper.network`.
"""

from drethtr.base.processors import let_threads_wait

let_threads_wait()
