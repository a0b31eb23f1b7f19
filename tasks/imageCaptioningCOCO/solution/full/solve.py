"""A known good answer: the baseline with larger networks, trained longer (needs PyTorch)."""

import baseline


def main():
    baseline.EPOCHS = 24
    baseline.CHANNELS, baseline.UNITS = (64, 128, 256, 512), 512
    baseline.main()


if __name__ == "__main__":
    main()
