"""Check texts from elsewhere against the ink: align them with the lines of scans, and check them word by word.

inputs.py               scans or lines, and the texts given for them
text.py                 a text and its pages: aligned, then checked
alignment.py, moved.py  which part of a running text belongs to which line
evidence.py, given.py   what the network says for and against each word of a line
fit.py                  from evidence to probabilities
check.py, rules.py      the verdict on each word; what counts as an error
proof.py                the same for whole lines and pages, with places; lists the values that pass from stage to stage
report.py               the least likely words first, with their images
"""
