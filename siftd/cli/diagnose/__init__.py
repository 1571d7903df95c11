"""What is wrong with a memory and what to do about it: for `mem doctor`, `mem info` and every command that fails."""
