"""The deliveries to one URL, shown to the bearer of a link."""
