"""Documents of Firestore as data: what a store reads and writes, and the one seam to it."""
