# Runs the hook for the plugin, or with `mcp` its server. The plugin cannot know where siftd is installed: it asks the
# `siftd` on the PATH, then the usual places (a client started from a desktop has no shell's PATH), for its interpreter,
# which can import it. A hook may do with any Python from 3.11 on, and always ends with status 0.
folder=${0%/*}
test "$1" = mcp || test -r "$folder/claude_code.py" || exit 0

for siftd in "$(command -v siftd)" "$HOME/.local/bin/siftd" "$HOME/.siftd-env/bin/siftd" \
  /opt/homebrew/bin/siftd /usr/local/bin/siftd; do
  test -n "$siftd" && test -r "$siftd" && IFS= read -r line <"$siftd" || continue
  python=${line#'#!'}
  test "$python" != "$line" && test -x "$python" || continue
  case ${python##*/} in python*) ;; *) continue ;; esac
  test "$1" = mcp && exec "$python" -I -m siftd mcp
  exec "$python" -I -S "$folder/claude_code.py"
done

if test "$1" = mcp; then
  echo "siftd is not installed where the plugin looks: \`uv tool install siftd\`, or put it on the PATH" >&2
  exit 1
fi

for name in python3.14 python3.13 python3.12 python3.11; do
  python=$(command -v "$name") && exec "$python" -I -S "$folder/claude_code.py"
done

python=$(command -v python3) && "$python" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null &&
  exec "$python" -I -S "$folder/claude_code.py"
exit 0
