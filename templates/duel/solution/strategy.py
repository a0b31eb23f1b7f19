def guess(history):
    return 1
