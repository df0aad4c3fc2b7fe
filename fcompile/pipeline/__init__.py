"""From files to what runs, in one place: files are read, overridden, checked and compiled; then objects are selected for output."""
