"""Where each value of a Pod comes from: a line of the source, a default, a placeholder, an override, or the controller."""
