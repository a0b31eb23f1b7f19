"""A known good answer: the baseline's GPT, trained on ten times as many batches."""

from baseline import main

if __name__ == "__main__":
    main(steps=5000, rate=1e-3)
