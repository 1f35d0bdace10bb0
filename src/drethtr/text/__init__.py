"""Characters to ids and back; knows no images and no network."""
