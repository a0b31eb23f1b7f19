"""The baseline: a convolutional network sees, and a recurrent one says words (needs PyTorch).

Both are trained from nothing. Reads the photographs and captions of data/, writes submission.csv.
"""

import collections
import csv
import sys

import numpy as np

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit("PyTorch is missing: the baseline trains with it (pip install torch)")

EPOCHS = 4
BATCH = 64
RATE = 1e-3
RARE = 5  # occurrences below which a word is unknown
LENGTH = 20  # most words of a caption
CHANNELS, UNITS = (32, 64, 128, 256), 256
END, UNKNOWN = 0, 1  # END stands before a caption, too
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def read_captions():
    """The captions of each training photograph, each a list of words."""
    captions = collections.defaultdict(list)
    with open("data/train_captions.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            captions[int(row["image"])].append(row["caption"].split()[:LENGTH])
    return [captions[i] for i in range(len(captions))]


def vocabulary(captions):
    counts = collections.Counter(word for said in captions for words in said for word in words)
    return ["", "?", *(word for word, n in counts.most_common() if n >= RARE)]


def load_pixels(images, rows):
    """Photographs as [photograph, rgb, y, x], at half the size, from -1 to 1."""
    pixels = torch.from_numpy(images[rows]).to(DEVICE).permute(0, 3, 1, 2).float()
    return nn.functional.avg_pool2d(pixels / 127.5 - 1, 2)


class Captioner(nn.Module):
    def __init__(self, n_words, channels, units):
        super().__init__()
        layers, before = [], 3
        for after in channels:
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
            layers += [nn.MaxPool2d(2)]
            before = after
        self.see = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.begin = nn.Linear(16 * before, units)
        self.embed = nn.Embedding(n_words, units)
        self.listen = nn.GRU(units, units, batch_first=True)
        self.speak = nn.Linear(units, n_words)

    def forward(self, pixels, words):
        """The logits of the word after each, [caption, place, word]."""
        state = torch.tanh(self.begin(self.see(pixels)))
        return self.speak(self.listen(self.embed(words), state[None])[0])

    @torch.no_grad()
    def say(self, pixels):
        """The likeliest word after each, until END: [photograph, place]."""
        state = torch.tanh(self.begin(self.see(pixels)))[None]
        word = torch.full((len(pixels), 1), END, device=DEVICE)
        said = []
        for _ in range(LENGTH):
            heard, state = self.listen(self.embed(word), state)
            word = self.speak(heard).argmax(2)
            said.append(word)
        return torch.cat(said, 1)


def encode(captions, numbers):
    """Numbers of words, [caption, place], filled up with END."""
    rows = np.full((len(captions), LENGTH + 2), END)
    for row, words in zip(rows, captions, strict=True):
        row[1 : len(words) + 1] = [numbers.get(word, UNKNOWN) for word in words]
    return torch.from_numpy(rows).to(DEVICE)


def loss_of(model, pixels, words):
    logits = model(pixels, words[:, :-1])
    counts = (words[:, :-1] != END).float()
    counts[:, 0] = 1  # the first word counts, and the END after the last
    losses = nn.functional.cross_entropy(logits.transpose(1, 2), words[:, 1:], reduction="none")
    return (losses * counts).sum() / counts.sum()


def train(model, images, captions, numbers):
    random = np.random.default_rng(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    n = EPOCHS * -(-len(images) // BATCH)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=n)
    for epoch in range(EPOCHS):
        model.train()
        total = 0.0
        for at in np.array_split(random.permutation(len(images)), n // EPOCHS):
            rows = np.sort(at)
            chosen = [captions[i][random.integers(len(captions[i]))] for i in rows]
            loss = loss_of(model, load_pixels(images, rows), encode(chosen, numbers))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            rate.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {total / len(images):.3f}", flush=True)


def predict(model, images, words):
    """A caption of each photograph."""
    model.eval()
    captions = []
    for at in range(0, len(images), BATCH):
        rows = np.arange(at, min(at + BATCH, len(images)))
        for said in model.say(load_pixels(images, rows)).tolist():
            end = said.index(END) if END in said else len(said)
            captions.append(" ".join(words[i] for i in said[:end]))
    return captions


def main():
    torch.manual_seed(0)
    captions = read_captions()
    words = vocabulary(captions)
    model = Captioner(len(words), CHANNELS, UNITS).to(DEVICE)
    known = np.load("data/train_images.npy", mmap_mode="r")
    train(model, known, captions, {word: i for i, word in enumerate(words)})
    found = predict(model, np.load("data/test_images.npy", mmap_mode="r"), words)
    with open("submission.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["caption"], *([text] for text in found)])


if __name__ == "__main__":
    main()
