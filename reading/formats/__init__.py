"""The formats in which the world publishes data, one file each. What a file is, its content tells, not its name."""
