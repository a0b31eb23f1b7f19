def guess(history):
    return 0
