"""The kinds that can be converted, one a file: what the operator of the kind does with such a job, done here."""
