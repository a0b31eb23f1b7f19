"""The baseline: women survive, men don't. Reads data/test.csv, writes submission.csv."""

import csv

with open("data/test.csv", newline="") as file:
    passengers = list(csv.DictReader(file))

with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["PassengerId", "Survived"])
    for passenger in passengers:
        writer.writerow([passenger["PassengerId"], int(passenger["Sex"] == "female")])
