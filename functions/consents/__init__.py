"""Whether an address takes notices: asked, confirmed, ended."""
