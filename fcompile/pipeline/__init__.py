"""From files to what runs, in one place: files are read, overridden, checked and compiled, and what is wanted of that is selected."""
