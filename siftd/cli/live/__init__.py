"""`mem top`: looking at a workspace again and again, the lines that show it, and the terminal they are drawn on."""
