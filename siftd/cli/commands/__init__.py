"""The commands of `mem`: a module each, with `add_arguments(parser)` and `run(context, options) -> exit status`."""
