"""The baseline: BERT, trained for one epoch at a very small rate (needs PyTorch and transformers).

Reads data/train.csv, data/test.csv and data/bert-base-uncased, writes submission.csv. The rate and the
batches are those of MLGym's baseline.
"""

import csv
import sys

try:
    import torch
    from transformers import BertForSequenceClassification, BertTokenizer
except ImportError as error:
    missing = {"torch": "PyTorch"}.get(error.name, error.name)
    sys.exit(f"{missing} is missing: BERT is trained with it (pip install torch transformers)")

MODEL = "data/bert-base-uncased"
TOKENS = 128  # most tokens of a pair of sentences
BATCH = 32
RATE = 1e-7
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def encode(tokenizer, rows):
    """What BERT takes for a batch of pairs."""
    premises, hypotheses = ([row[name] for row in rows] for name in ("premise", "hypothesis"))
    return tokenizer(
        premises,
        hypotheses,
        max_length=TOKENS,
        padding=True,
        truncation=True,
        return_tensors="pt",
    ).to(DEVICE)


def train(model, tokenizer, rows, schedule):
    """One epoch. `schedule` gives the rate of a step as a share of the largest."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0)
    steps = -(-len(rows) // BATCH)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: schedule(step / steps))
    scaler = torch.amp.GradScaler(DEVICE, enabled=DEVICE == "cuda")
    for step, chosen in enumerate(torch.randperm(len(rows)).split(BATCH)):
        batch = [rows[i] for i in chosen.tolist()]
        labels = torch.tensor([int(row["label"]) for row in batch], device=DEVICE)
        with torch.autocast(DEVICE, enabled=DEVICE == "cuda"):
            loss = model(**encode(tokenizer, batch), labels=labels).loss
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        rate.step()
        if step % 500 == 0:
            print(f"step {step} of {steps}: loss {loss.item():.4f}", flush=True)


def predict(model, tokenizer, rows):
    model.eval()
    with torch.no_grad():
        parts = [
            model(**encode(tokenizer, rows[at : at + BATCH])).logits.argmax(1)
            for at in range(0, len(rows), BATCH)
        ]
    return torch.cat(parts).tolist()


def main(schedule=lambda _: 1):
    torch.manual_seed(0)
    tokenizer = BertTokenizer.from_pretrained(MODEL)
    model = BertForSequenceClassification.from_pretrained(MODEL, num_labels=3).to(DEVICE)
    train(model, tokenizer, read("data/train.csv"), schedule)
    with open("submission.csv", "w") as file:
        print("label", *predict(model, tokenizer, read("data/test.csv")), sep="\n", file=file)


if __name__ == "__main__":
    main()
