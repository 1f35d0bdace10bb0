"""Writers, one format per module; `drethtr.documents.formats` lists them."""
