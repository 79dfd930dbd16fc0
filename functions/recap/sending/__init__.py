"""One call, from the plan of the recipients to the answer."""
