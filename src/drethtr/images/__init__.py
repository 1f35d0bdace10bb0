"""Images of handwritten lines and pages: loading, preprocessing, cropping.

decode.py               supported image files, their orientation, and what is refused
page.py, page_file.py   the pages of image files and PDFs; their decoding, in a process with limits
line.py                 a line in the form that all other packages use: gray, dark ink on light paper
straighten.py           cut out of a page, straightened, without its neighbors
geometry.py             lengths and areas of baselines and outlines
deslant.py, prepare.py  strokes made vertical; lines scaled for the network
fields.py               displacement of pixels, for straightening and for synthetic lines
"""
