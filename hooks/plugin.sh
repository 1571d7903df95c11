# Runs the hook for the plugin, which cannot know where siftd is installed: by the interpreter of the `siftd` on
# the PATH, which can import it, else by any Python from 3.11 on. Always ends with status 0.
folder=${0%/*}
test -r "$folder/claude_code.py" || exit 0

siftd=$(command -v siftd) && IFS= read -r line <"$siftd" && python=${line#'#!'} && test "$python" != "$line" &&
  test -x "$python" && case ${python##*/} in python*) exec "$python" -I -S "$folder/claude_code.py" ;; esac

for name in python3.14 python3.13 python3.12 python3.11; do
  python=$(command -v "$name") && exec "$python" -I -S "$folder/claude_code.py"
done

python=$(command -v python3) && "$python" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null &&
  exec "$python" -I -S "$folder/claude_code.py"
exit 0
