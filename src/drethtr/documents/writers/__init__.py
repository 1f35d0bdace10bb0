"""Writers of all formats, one per file; `drethtr.documents.formats` lists them."""
