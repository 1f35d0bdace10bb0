"""Pictures and reports: contact sheets, explained lines, search hits, charts, comparisons.

canvas.py                             rectangles, texts and images, as SVG or PNG
explanation.py, hits.py               how a line was read; where words were found
contact_sheet.py, comparison_page.py  many lines with captions; two systems line by line
chart.py                              metrics as curves and ranges
"""
