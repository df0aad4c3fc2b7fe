"""What will run differently: two compiled Frameworks compared, and each change classed by what it does to the one that runs."""
