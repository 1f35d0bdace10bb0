"""Writers of all formats, one in each file; `drethtr.documents.formats` has the table."""
