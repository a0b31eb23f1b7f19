"""The model of the baseline: a GPT of 124 million weights (needs PyTorch). baseline.py trains it."""

import sys
from pathlib import Path

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    sys.exit("PyTorch is missing: the model is trained and run with it (pip install torch)")

VOCABULARY, LENGTH = 50_304, 1024
LAYERS, HEADS, WIDTH = 12, 12, 768
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WEIGHTS = Path(__file__).with_name("weights.pt")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.query_key_value = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.wide = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def attend(self, x):
        parts = self.query_key_value(x).chunk(3, -1)
        heads = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(*heads, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.norms[0](x))
        return x + self.wide(self.norms[1](x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        for weights in self.parameters():
            if weights.dim() > 1:
                nn.init.normal_(weights, std=0.02)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return functional.linear(self.norm(x), self.tokens.weight)


def load():
    model = GPT()
    model.load_state_dict(torch.load(WEIGHTS, map_location="cpu", weights_only=True))
    return model.to(DEVICE).eval()


MODEL = load() if WEIGHTS.exists() else None


def logits(tokens):
    """Takes integers [sequence, place]. Returns numbers [sequence, place, token]: the logits of the
    token after each place, which may depend on the tokens up to that place alone."""
    with torch.no_grad():
        return MODEL(torch.from_numpy(tokens).to(DEVICE))
