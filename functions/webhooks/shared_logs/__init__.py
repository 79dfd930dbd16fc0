"""The deliveries to one URL, shown to whoever has a link to them."""
