"""Banks: committed collections of values and of wording, from which everything is drawn where no model is at hand."""
