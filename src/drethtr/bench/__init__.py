"""`drethtr bench`: how fast the product is, how much memory it takes, and how good its parts are."""
