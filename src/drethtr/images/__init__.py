"""Images of handwritten lines and pages: loading, preprocessing, cropping.

decode.py               what image files there are, which way up they are, and what is refused
page.py, page_file.py   the pages of image files and PDFs; their decoding, in a process with limits
line.py                 a line as all other packages have it: gray, dark ink on light paper
straighten.py           cut out of a page, straightened, without its neighbors
geometry.py             lengths and areas of baselines and outlines
deslant.py, prepare.py  strokes made vertical; the height and the scale of the network
fields.py               displacement of pixels, for straightening and for synthetic lines
"""
