"""Prints the ranges of characters that Python's repr() escapes, as initializers of a C array."""

# Count one number beyond the last character, so that a range that reaches it is ended too.
first = None
for c in range(0x110001):
    printable = c == 0x110000 or chr(c).isprintable()
    if not printable and first is None:
        first = c
    elif printable and first is not None:
        print(f"{{ {first:#x}, {c - 1:#x} }},")
        first = None
